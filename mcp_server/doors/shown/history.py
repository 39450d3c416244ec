"""Earlier versions of a memory, and what was taken back, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.actions.changes.history import ByOthers
from mcp_server.core.memory_parts import id_in, timestamp
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.rows import MOST_ROWS, not_shown

if TYPE_CHECKING:
    from mcp_server.actions.changes.history import Earlier, History
    from mcp_server.actions.changes.undo import LastChange
    from mcp_server.actions.files.runs import Undone

MASKED = "what looked like a secret was removed"
NOTHING = "There is nothing to undo."

SINCE_ACCEPTED = "since it was accepted, not by Daybook but by a pull, another branch or a person"
OTHERS = {
    ByOthers.BY_HAND: "with what was edited by hand afterwards",
    ByOthers.SINCE_ACCEPTED: SINCE_ACCEPTED,
    ByOthers.REMOVED: SINCE_ACCEPTED,
}


def changes(history: History) -> Shown:
    """Return the changes of a memory, the latest first."""
    if not history.versions:
        head = f"Nothing that '{history.id}' said before is kept: it never changed, or only by hand."
        return Shown(head, json={"id": history.id, "path": str(history.path), "versions": []})
    return Shown(
        f"'{history.id}' was changed {counted(len(history.versions), 'time')};"
        " each version is what it said before a change.",
        ("version", "changed (UTC)", "by", "verb"),
        tuple(
            (
                f"{version.number}",
                f"{version.at:%Y-%m-%d %H:%M}",
                version.by,
                version.verb.replace("_", " "),
            )
            for version in history.versions
        ),
        tuple(
            f"{differs(version) or 'only dates'}{f'; {MASKED}' if version.masked else ''}"
            for version in history.versions
        ),
        json={
            "id": history.id,
            "path": str(history.path),
            "versions": [_json(version) for version in history.versions],
        },
    )


def differs(version: Earlier) -> str:
    """Return what the change after *version* did, with what others did to the file; '' for only dates."""
    if version.others is ByOthers.NONE:
        return version.differs
    changed = "its file is gone" if version.others is ByOthers.REMOVED else version.differs or "nothing"
    return f"{changed} ({OTHERS[version.others]})"


def deleted(memory_id: str, *, by_us: bool) -> Shown:
    """Return that a memory was deleted, *by_us* or outside Daybook, and no version of it is kept."""
    how = "the memory was deleted for good" if by_us else "its file is gone, and Daybook did not remove it"
    head = f"Nothing that '{memory_id}' said is kept: {how}."
    return Shown(head, json={"id": memory_id, "path": "", "versions": []})


def version(earlier: Earlier, text: str) -> Shown:
    """Return one version whole."""
    masked = f"Masked: {MASKED}." if earlier.masked else ""
    verb = earlier.verb.replace("_", " ")
    head = f"Version {earlier.number}, until it was {verb} {earlier.at:%Y-%m-%d %H:%M} UTC."
    return Shown(
        head,
        rows=(("file", earlier.path),),
        body=text,
        notes=[masked],
        json={**_json(earlier), "bytes": text},
    )


def undone(outcome: Undone, change: LastChange | None = None) -> Shown:
    """Return what was taken back of a run, or of *change*, of which it tells what it did and when."""
    json = {
        "change": outcome.run,
        "restored": outcome.restored,
        "left": [list(pair) for pair in outcome.skipped],
        "masked": outcome.masked,
    }
    if not outcome.run:
        return Shown(NOTHING, json=json)
    new = {id_in(ref) for ref, was_place, *_ in change.effects if not was_place} if change else ()
    but_masked = dict.fromkeys(outcome.masked, f"as before, but {MASKED}")
    restored = dict.fromkeys(outcome.restored)
    rows = [(memory_id, f"left alone: {why}") for memory_id, why in outcome.skipped]
    rows += [
        (memory_id, "in the trash" if memory_id in new else but_masked.get(memory_id, "as before"))
        for memory_id in sorted(restored, key=lambda memory_id: memory_id not in but_masked)
    ]
    again = f"daybook forget-session {outcome.session}" if outcome.session else "daybook undo"
    return Shown(
        f"Taken back: {counted(len(restored), 'memory')}.{_what(change)}",
        ("id", "result"),
        tuple(rows[:MOST_ROWS]),
        notes=[not_shown(len(rows)), f"'{again}' reverses this too." if outcome.restored else ""],
        json=json,
    )


def _what(change: LastChange | None) -> str:
    """Return what *change* was, as a sentence after another; '' without one."""
    if change is None:
        return ""
    return f" The change was: {done(change)}."


def done(change: LastChange) -> str:
    """Return what *change* did to memories, on which machine if it was another one, and when."""
    machine = f" on your machine {change.machine}" if change.machine else ""
    return f"{change.verb.replace('_', ' ')}{machine}, {moment(change.at)} UTC"


def _json(version: Earlier) -> dict[str, object]:
    memory = version.memory
    return {
        "version": version.number,
        "at": timestamp(version.at),
        "by": version.by,
        "verb": version.verb,
        "differs": differs(version),
        "masked": version.masked,
        "title": memory.title if memory else "",
        "text": memory.text if memory else "",
        "path": str(version.path),
    }
