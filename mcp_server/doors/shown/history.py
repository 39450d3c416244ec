"""Earlier versions of a memory, and what was taken back, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.core.memory import timestamp
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from mcp_server.actions.changes.history import Earlier, History
    from mcp_server.actions.files.runs import Undone

MASKED = "what looked like a secret was taken out"
NOTHING = "There is nothing to undo."
AGAIN = "'daybook undo' takes this back, too."


def told(found: History) -> Shown:
    """Return the changes of a memory, the latest first."""
    if not found.versions:
        head = f"Nothing that '{found.id}' said before is kept: it was not changed since, or only by hand."
        return Shown(head, json={"id": found.id, "path": str(found.path), "versions": []})
    return Shown(
        f"'{found.id}' was changed {counted(len(found.versions), 'time')}; a version is what it said before.",
        ("version", "changed (UTC)", "by", "verb"),
        tuple(
            (
                f"{version.number}",
                f"{version.at:%Y-%m-%d %H:%M}",
                version.by,
                version.verb.replace("_", " "),
            )
            for version in found.versions
        ),
        tuple(
            f"{version.differs or 'nothing but dates'}{f'; {MASKED}' if version.masked else ''}"
            for version in found.versions
        ),
        json={
            "id": found.id,
            "path": str(found.path),
            "versions": [_json(version) for version in found.versions],
        },
    )


def deleted(memory_id: str) -> Shown:
    """Return that a memory was deleted for good, and no version of it is kept."""
    head = f"Nothing that '{memory_id}' said is kept: it was deleted for good."
    return Shown(head, json={"id": memory_id, "path": "", "versions": []})


def version(each: Earlier, text: str) -> Shown:
    """Return one version whole."""
    masked = (f"Masked: {MASKED}.",) if each.masked else ()
    head = f"Version {each.number}, until it was {each.verb.replace('_', ' ')} {each.at:%Y-%m-%d %H:%M} UTC."
    return Shown(
        head, rows=(("file", each.path),), body=text, notes=masked, json={**_json(each), "bytes": text}
    )


def undone(done: Undone) -> Shown:
    """Return what was taken back, of a change or of a run of tidying."""
    json = {"change": done.run, "restored": done.restored, "left": [list(each) for each in done.skipped]}
    if not done.run:
        return Shown(NOTHING, json=json)
    rows = [(memory_id, "as before") for memory_id in dict.fromkeys(done.restored)]
    rows += [(memory_id, f"left alone: {why}") for memory_id, why in done.skipped]
    return Shown(
        f"Taken back: {counted(len(dict.fromkeys(done.restored)), 'memory')}.",
        ("id", "what became of it"),
        tuple(rows),
        notes=(AGAIN,) if done.restored else (),
        json=json,
    )


def _json(version: Earlier) -> dict[str, object]:
    memory = version.memory
    return {
        "version": version.number,
        "at": timestamp(version.at),
        "by": version.by,
        "verb": version.verb,
        "differs": version.differs,
        "masked": version.masked,
        "title": memory.title if memory else "",
        "text": memory.text if memory else "",
        "path": str(version.path),
    }
