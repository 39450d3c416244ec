"""What was done to memories, in words."""

from collections.abc import Sequence

from mcp_server.actions.sessions.audit import Done
from mcp_server.adapters.index.events.audit import Deed
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment

NOTHING = "Nothing was done yet. Store something with: daybook remember"
DONE = {
    "remembered": "remembered",
    "revised": "revised",
    "restored": "restored",
    "undone": "its last change was taken back",
    "archived": "archived",
    "edited": "changed by hand",
    "approved": "kept by the person's word",
    "confirmed": "confirmed by another session",
    "accepted": "accepted, may be shown unasked",
    "emptied": "deleted from the trash for good",
    "merged": "took over the uses of what it absorbed",
    "unmerged": "gave back the uses of what it had absorbed",
    "consented": "the person's word on calls of the model was noted",
    "marked": "said with #remember in a prompt, stored at once",
    "session_titled": "what the session is about was noted",
}
TIDIED = {
    "began": "a run of tidying began",
    "ended": "a run of tidying ended",
    "undoes": "a run was undone",
    "voids": "the last step of a run that was killed was dropped",
}


def history(found: Sequence[Done]) -> Shown:
    """Return what was done, the latest first."""
    deeds = counted(len(found), "deed")
    return Shown(
        f"{deeds}, the latest first; texts of what was forgotten are in the trash" if found else NOTHING,
        ("when (UTC)", "id", "what", "session:", "title"),
        [
            (moment(each.deed.at), each.deed.id or "-", words(each.deed), each.deed.session[:8], each.title)
            for each in found
        ],
        json=[
            {
                "at": each.deed.at,
                "did": words(each.deed),
                "id": each.deed.id,
                "title": each.title,
                "session": each.deed.session,
            }
            for each in found
        ],
    )


def words(deed: Deed) -> str:
    """Return what was done, in words."""
    detail = deed.detail
    match deed.event:
        case "trusted":
            return f"trust moved: {str(detail.get('reason', '')).replace('_', ' ')}"
        case "forgotten":
            return "forgotten for good" if detail.get("forever") else "forgotten, it is in the trash"
        case "tidied" if reason := detail.get("reason"):
            return f"tidied: {reason}"
        case "tidied":
            return next((said for key, said in TIDIED.items() if detail.get(key)), "tidied")
        case "judged":
            names = ", ".join(detail.get("candidates") or ())
            return f"candidates {detail.get('verdict', 'judged')}: {names}"
        case "session_forgotten":
            return "the session was brought back" if detail.get("undone") else "the session was forgotten"
        case event:
            return DONE.get(event, event.replace("_", " "))
