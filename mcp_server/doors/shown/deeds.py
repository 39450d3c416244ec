"""What was done to memories, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.adapters.index import events
from mcp_server.core.render import counted
from mcp_server.core.runs import entry_of
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.runs import because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.changes.deeds import TitledDeed
    from mcp_server.adapters.index.events.deeds import Deed

NOTHING = "Nothing was done yet. To store a memory: daybook remember"
TIDIED = {
    "began": "a run of tidying began",
    "ended": "a run of tidying ended",
    "undoes": "a run was undone",
    "voids": "the unfinished last step of a killed run was dropped",
}


def history(entries: Sequence[TitledDeed]) -> Shown:
    """Return what was done, the latest first."""
    deeds = counted(len(entries), "deed")
    return Shown(
        f"{deeds}, newest first" if entries else NOTHING,
        ("when (UTC)", "id", "what", "session:", "title"),
        [
            (
                moment(entry.deed.at),
                entry.deed.id or str(entry.deed.detail.get("run") or "-"),
                words(entry.deed),
                entry.deed.session[:8],
                entry.title,
            )
            for entry in entries
        ],
        json=[
            {
                "at": entry.deed.at,
                "did": words(entry.deed),
                "id": entry.deed.id,
                "run": entry.deed.detail.get("run", ""),
                "title": entry.title,
                "session": entry.deed.session,
            }
            for entry in entries
        ],
    )


def words(deed: Deed) -> str:
    """Return what was done, in words, and on which machine if it was another one."""
    return f"{_words(deed)}, on {deed.machine}" if deed.machine else _words(deed)


def _words(deed: Deed) -> str:
    detail = deed.detail
    match deed.event:
        case "trusted":
            return f"trust moved: {str(detail.get('reason', '')).replace('_', ' ')}"
        case "imported":
            taken = events.a_list(detail.get("taken"))
            return f"imported from {detail.get('place')}: {counted(len(taken), 'memory')}"
        case "forgotten":
            return "forgotten for good" if detail.get("forever") else "moved to the trash"
        case "moved" if level := detail.get("level"):
            return f"moved to {level} level"
        case "tidied" if detail.get("reason"):
            return f"tidied: {because(entry_of(detail))}"
        case "tidied":
            return next((sentence for key, sentence in TIDIED.items() if detail.get(key)), "tidied")
        case "judged":
            names = ", ".join(detail.get("candidates") or ())
            return f"candidates {detail.get('verdict', 'judged')}: {names}"
        case "session_forgotten":
            return "the session was brought back" if detail.get("undone") else "the session was forgotten"
        case event:
            return event_words(event)


def event_words(event: str) -> str:
    """Return what an event of the ledger says was done, in words."""
    row = events.table().get(event)
    return (row.text if row else None) or event.replace("_", " ")
