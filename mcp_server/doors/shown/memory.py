"""A memory whole, lists of memories, and what became of one that was remembered or forgotten."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.memory.revise import version
from mcp_server.core.memory import WORDS, timestamp, type_or_kind
from mcp_server.core.render import counted
from mcp_server.core.sessions.snapshot import tasks_of, variables_of
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.trust import standing as standing_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.files.read import Found
    from mcp_server.actions.judge.settled import Settled
    from mcp_server.actions.memory.forget import Forgotten
    from mcp_server.actions.memory.session import Since
    from mcp_server.actions.memory.trust import Standing
    from mcp_server.core.sessions.conversation import Turn

MOST = 20  # ids of one sentence


def remembered(done: Settled, found: Found, *, known: bool) -> list[str]:
    """Return where the memory is kept; *known*: it existed before."""
    if known:
        return [f"{done.id} says that already."]
    return [f"Remembered {done.id} ({found.vault.level.value} level)", str(found.path)]


def forgotten(gone: Forgotten) -> list[str]:
    """Return the outcome for a forgotten memory and for those that it had superseded."""
    lines = [f"Deleted {gone.id} for good."] if gone.path is None else [f"Forgot {gone.id}", str(gone.path)]
    return [*lines, *aftermath(gone)]


def aftermath(gone: Forgotten) -> list[str]:
    """Return one sentence on each group of memories that a forgotten one was related to."""
    heirs, uncovered = (", ".join(ids[:MOST]) for ids in (gone.heirs, gone.uncovered))
    return [
        *([f"It had been merged into {heirs}: read and revise that, it may say it still."] if heirs else []),
        *([f"In this project holds again what it had stood in for: {uncovered}."] if uncovered else []),
        *still(gone.superseded),
    ]


def still(superseded: Sequence[str]) -> list[str]:
    """Return the sentence on the memories that one superseded which was put away."""
    if not superseded:
        return []
    again = f"make one active again with: daybook restore {superseded[0]}"
    return [f"Still superseded by it: {', '.join(superseded[:MOST])}; {again}"]


def whole(found: Found, now: Standing | None = None) -> Shown:
    """Return a memory whole, and with *now* its trust."""
    memory = found.memory
    rows = [
        ("title", memory.title),
        ("file", found.path),
        ("updated", f"{memory.updated:%Y-%m-%d}, created: {memory.created:%Y-%m-%d}"),
        ("source", memory.source),
        *([(standing_line(now),)] if now else []),
        ("aliases", ", ".join(memory.aliases)),
        ("tags", ", ".join(memory.tags)),
        *((name, getattr(memory, name)) for name in WORDS),
        ("touches", ", ".join(memory.touches)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in memory.links)),
        ("supersedes", ", ".join(memory.supersedes)),
        ("notes", ", ".join(memory.notes)),
        ("superseded by", memory.superseded_by),
    ]
    first = {"id": memory.id, "title": memory.title, "text": memory.text}
    json = first | asdict(memory) | {"path": found.path, "version": version(found)}
    if now:
        stale = {"believed": round(now.trust, 4), "stale": now.stale.label, "shadowed_by": now.shadowed_by}
        json |= stale
    kind = type_or_kind(memory.kind, memory.type)
    return Shown(
        f"{memory.id} · {kind} · {memory.status.value} · version {version(found)}",
        rows=[row for row in rows if row[-1]],
        body=memory.text,
        json={key: timestamp(value) if hasattr(value, "tzinfo") else value for key, value in json.items()},
    )


def saved_session(found: Found, since: Since) -> Shown:
    """Return a saved session, and what changed since."""
    memory = found.memory
    changes = [
        *([f"branch is {since.branch} now"] if since.branch else []),
        *(f"commit {commit}" for commit in since.commits),
        *([f"changed files: {', '.join(since.files[:20])}"] if since.files else []),
        *([since.problem] if since.problem else []),
    ]
    return Shown(
        f"{memory.id} · session saved {memory.created:%Y-%m-%d %H:%M} UTC",
        rows=[("title", memory.title), ("file", found.path), *((note,) for note in memory.notes)],
        body=memory.text,
        below=(Shown("Since then:", rows=[(change,) for change in changes]),) if changes else (),
        notes=() if changes else ("Nothing is known to have changed since then.",),
        json={
            "id": memory.id,
            "title": memory.title,
            "text": memory.text,
            "files": memory.touches,
            "variables": variables_of(memory.text),
            "tasks": tasks_of(memory.text),
            "notes": memory.notes,
            "path": found.path,
            "since": asdict(since),
        },
    )


def conversation(found: Found, turns: Sequence[Turn], offset: int, limit: int | None = None) -> Shown:
    """Return the turns of a conversation after the first *offset*, at most *limit*."""
    memory, count = found.memory, counted(len(turns), "turn")
    if offset and offset >= len(turns):
        return Shown(f"{memory.id} has {count}; give a smaller offset.")
    told = turns[offset:][:limit]
    messages = [{"role": turn.speaker, "content": turn.words, "timestamp": turn.time} for turn in told]
    return Shown(
        f"{memory.id} · conversation · {count}{f', from {offset + 1} on' if offset else ''} · {memory.title}",
        ("speaker", "time"),
        [(turn.speaker, turn.time) for turn in told],
        tuple(turn.words for turn in told),
        json={"id": memory.id, "title": memory.title, "turns": len(turns), "messages": messages},
        offset=offset,
        total=len(turns),
    )
