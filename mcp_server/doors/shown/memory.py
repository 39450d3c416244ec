"""A memory whole, lists of memories, and what became of one that was remembered or forgotten."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mcp_server.actions.memory.revise import version
from mcp_server.core.memory import LISTS, WORDS
from mcp_server.core.memory_parts import Level, as_one_text, timestamp, type_or_kind
from mcp_server.core.render import counted, files_of_before, state_of
from mcp_server.core.sessions.snapshot import tasks_of, variables_of
from mcp_server.doors.shown import Shown, trouble
from mcp_server.doors.shown.draft_outcome import beside, near_note, note
from mcp_server.doors.shown.trust import standing as standing_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_server.actions.files.load import MemoryFile
    from mcp_server.actions.judge.change_memory import Changed
    from mcp_server.actions.judge.draft_outcome import DraftOutcome
    from mcp_server.actions.memory.archive import Archived
    from mcp_server.actions.memory.change_level import LevelChange
    from mcp_server.actions.memory.forget import Forgotten
    from mcp_server.actions.memory.remember import Remembered
    from mcp_server.actions.memory.session import Since
    from mcp_server.actions.memory.trust import Standing
    from mcp_server.actions.recall.nearby import Near
    from mcp_server.core.memory import Memory
    from mcp_server.core.sessions.conversation import Turn

ALREADY = "It had already replaced them."
STAYS = "The level of neither was changed."
MOST = 20  # ids or files of one sentence
OF_OUTCOME = (
    "action", "superseded", "shadowed", "later", "unmoved", "several", "elsewhere", "kept", "near", "waiting"
)  # fmt: skip


def remembered(
    outcome: DraftOutcome,
    file: MemoryFile,
    *,
    waits: str = "",
    settling: Callable[[str, Sequence[Near]], str] = near_note,
) -> Shown:
    """
    Return what became of a memory to be remembered, and of others.

    *waits* says why it is not shown unasked, *settling* how the person or Claude settles what is near it.
    """
    remark = note(outcome, settling=settling)
    kind = type_or_kind(file.memory.kind, file.memory.type)
    label = f"remembered as {kind} ({file.vault.level.value} level)"
    added = "" if remark or not outcome.known else "Only tags, links and the like that it lacked were added."
    return Shown(
        f"{outcome.id}: {'known already' if outcome.known else label}.",
        rows=((file.path,),),
        notes=[added, remark, waits],
        json={
            "id": outcome.id,
            "path": file.path,
            "level": file.vault.level.value,
            "known": outcome.known,
            **{name: value for name, value in asdict(outcome).items() if name in OF_OUTCOME},
        },
    )


def revised(file: MemoryFile, *, became: str = "", notes: Sequence[str] = ()) -> Shown:
    """Return that a memory was revised, or what *became* of it and others instead."""
    memory = file.memory
    rows = (
        ("level", file.vault.level.value),
        ("status", state_of(memory.status, by=memory.superseded_by)),
        ("version", version(file)),
        ("file", file.path),
    )
    outcome = {"became": became, "notes": list(notes)}
    return Shown(
        f"{memory.id}: {became or 'revised.'}",
        rows=rows,
        notes=notes,
        json={"id": memory.id, **dict(rows), "status": memory.status.value, **outcome},
    )


def changed(
    memory_id: str, change: Changed, *, settling: Callable[[str, Sequence[Near]], str] = near_note
) -> Shown:
    """
    Return what became of the memory *memory_id* and of others.

    *settling* says how the person or Claude settles what is near it.
    """
    if change.beside:
        stored = remembered(change.beside, change.file, waits=change.waits, settling=settling)
        head = f"{memory_id}: not changed, because the person said it. Stored instead: {stored.head}"
        return replace(stored, head=head, notes=[*stored.notes, STAYS if change.unmoved else ""])
    near = settling(change.file.memory.id, change.near) if change.near else ""
    became, notes = [], [change.waits, near]
    if change.moved:
        where, more = moved(change.moved)
        became.append(where)
        notes += more
    if change.apart:
        became.append(beside(change.apart))
    if change.replaced:
        became.append(note(change.replaced, settling=settling) or ALREADY)
    if change.same and not became:
        became.append("not changed; it says all of that already.")
    return revised(change.file, became=" ".join(became), notes=[*filter(None, notes)])


def moved(change: LevelChange) -> tuple[str, list[str]]:
    """Return where a memory stands after its move to another level, and notes on what came of that."""
    level = change.file.vault.level
    if change.old_vault is None:
        return f"at {level.value} level already.", []
    where = "in every project" if level is Level.USER else "in this project only"
    notes = []
    if change.superseded:
        notes.append(f"It replaces {', '.join(change.superseded)}, which is kept as superseded.")
    if change.shared and change.file.vault.in_repository:
        notes.append(
            f"Git sees its file, {change.file.path}: once committed, everyone with the repository "
            "can read it."
        )
    elif change.shared:
        notes.append("Git shows its file as deleted from the repository.")
    notes.append(still(change.still_superseded))
    return f"moved to {level.value} level: it applies {where}.", [*filter(None, notes)]


def forgotten(outcome: Forgotten) -> Shown:
    """Return the outcome for a forgotten memory, and for those that it was related to."""
    heirs = ", ".join(outcome.heirs[:MOST])
    merged = f"It was merged into {heirs}, which may still say it: read and revise that memory."
    back = f"forgotten; 'daybook restore {outcome.id}' brings it back"
    return Shown(
        f"{outcome.id}: {back if outcome.path else 'deleted for good'}.",
        rows=[(outcome.path,)],
        notes=[
            merged if heirs else "",
            _again(outcome.uncovered),
            still(outcome.superseded),
            _elsewhere(outcome) if outcome.remote else "",
        ],
    )


def _elsewhere(outcome: Forgotten) -> str:
    return (
        "Your other machines may have it in their trash:"
        f" run 'daybook forget {outcome.id} --forever' on each. {outcome.remote} has it in its "
        "history: 'daybook remote rewrite' removes it."
    )


def archived(outcomes: Sequence[Archived]) -> Shown:
    """Return what was put out of sight, and what became of the memories that it was related to."""
    number = sum(not outcome.before for outcome in outcomes)
    head = f"Archived: {counted(number, 'memory')}" if number else "Nothing new to archive"
    return Shown(
        f"{head}; 'daybook restore ID' brings it back.",
        ("id", "file"),
        [
            (outcome.file.memory.id, f"{outcome.file.path}{' (was there already)' if outcome.before else ''}")
            for outcome in outcomes
        ],
        notes=[
            note for outcome in outcomes for note in (_again(outcome.uncovered), still(outcome.superseded))
        ],
    )


def restored(file: MemoryFile, beside: Sequence[str]) -> Shown:
    """Return that a memory came back, and which active ones took its place or lost theirs to it."""
    sentence = "{0} is active too, although one replaced the other: 'daybook review' asks which is right."
    return Shown(
        f"{file.memory.id}: restored.", rows=((file.path,),), notes=tuple(map(sentence.format, beside))
    )


def saved(stored: Remembered, kind: str, *, waits: str = "") -> Shown:
    """Return that a session or a conversation was saved, as *kind* says; *waits* is as for `remembered`."""
    return Shown(f"{stored.memory.id}: {kind} saved.", rows=[(stored.path,)], notes=[waits])


def _again(uncovered: Sequence[str]) -> str:
    """Return the sentence on the person's memories that hold again in this project, '' for none."""
    return f"No longer shadowed in this project: {', '.join(uncovered[:MOST])}." if uncovered else ""


def still(superseded: Sequence[str]) -> str:
    """Return the sentence on the memories that one superseded which was put away, '' for none."""
    if not superseded:
        return ""
    again = f"make one active again with: daybook restore {superseded[0]}"
    return f"Still superseded by it: {', '.join(superseded[:MOST])}; {again}"


def kept_with(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return what a memory has besides its title and text, as names and values; '' for what it lacks."""
    return (
        ("aliases", ", ".join(memory.aliases)),
        *((key.label, key.as_text(getattr(memory, key.name))) for key in LISTS),
        *((name, getattr(memory, name)) for name in WORDS),
        ("touches", as_one_text(memory.touches)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in memory.links)),
        ("supersedes", ", ".join(memory.supersedes)),
        ("notes", ", ".join(memory.notes)),
        ("superseded by", memory.superseded_by),
    )


def whole(file: MemoryFile, now: Standing | None = None) -> Shown:
    """Return a memory whole, and with *now* its trust."""
    memory = file.memory
    rows = [
        ("title", memory.title),
        ("file", file.path),
        ("updated", f"{memory.updated:%Y-%m-%d}, created: {memory.created:%Y-%m-%d}"),
        ("source", memory.source),
        (standing_line(now) if now else "",),
        *kept_with(memory),
    ]
    first = {"id": memory.id, "title": memory.title, "text": memory.text}
    about = {"level": file.vault.level.value, "path": file.path, "version": version(file)}
    json = first | asdict(memory) | about
    if now:
        stale = {
            "believed": round(now.trust, 4),
            "stale": files_of_before(now.stale),
            "shadowed_by": now.shadowed_by,
        }
        json |= stale
    kind = type_or_kind(memory.kind, memory.type)
    return Shown(
        f"{memory.id} · {kind} · {memory.status.value} · version {version(file)}",
        rows=rows,
        body=memory.text,
        offset=0,
        json={key: timestamp(value) if hasattr(value, "tzinfo") else value for key, value in json.items()},
    )


def read_on(whole: Shown, offset: int) -> Shown:
    """Return a memory that is shown *whole* from the character *offset* of its text on, without the rest."""
    if not offset:
        return whole
    if offset >= len(whole.body):
        return Shown(f"The text has {len(whole.body)} characters; use a smaller offset.")
    return Shown(f"{whole.head} · from character {offset} on", body=whole.body, offset=offset)


def changes_since(since: Since, *, most_commits: int | None = None) -> list[str]:
    """Return what changed since a session was saved, an entry each; *most_commits* are named, or all."""
    more = len(since.commits) - len(since.commits[:most_commits])
    changes = (
        f"the branch is now {since.branch}" if since.branch else "",
        *(f"commit {commit}" for commit in since.commits[:most_commits]),
        counted(more, "more commit") if more else "",
        f"changed files: {', '.join(since.files[:MOST])}" if since.files else "",
        trouble.git(since.problem) if since.problem else "",
    )
    return [*filter(None, changes)]


def saved_session(file: MemoryFile, since: Since) -> Shown:
    """Return a saved session, and what changed since."""
    memory = file.memory
    problem = trouble.git(since.problem) if since.problem else ""
    changes = changes_since(since)
    return Shown(
        f"{memory.id} · session saved {memory.created:%Y-%m-%d %H:%M} UTC",
        rows=[("title", memory.title), ("file", file.path), *((note,) for note in memory.notes)],
        body=memory.text,
        offset=0,
        below=(Shown("Since then:", rows=[(change,) for change in changes]),) if changes else (),
        notes=["" if changes else "No change since then is known."],
        json={
            "id": memory.id,
            "title": memory.title,
            "text": memory.text,
            "files": memory.touches,
            "variables": variables_of(memory.text),
            "tasks": tasks_of(memory.text),
            "notes": memory.notes,
            "path": file.path,
            "since": {**asdict(since), "problem": problem},
        },
    )


def conversation(file: MemoryFile, turns: Sequence[Turn], offset: int, limit: int | None = None) -> Shown:
    """Return the turns of a conversation after the first *offset*, at most *limit*."""
    memory, count = file.memory, counted(len(turns), "turn")
    if offset and offset >= len(turns):
        return Shown(f"{memory.id} has {count}; use a smaller offset.")
    page = turns[offset:][:limit]
    messages = [{"role": turn.speaker, "content": turn.words, "timestamp": turn.time} for turn in page]
    return Shown(
        f"{memory.id} · conversation · {count}{f', from {offset + 1} on' if offset else ''} · {memory.title}",
        ("speaker", "time"),
        [(turn.speaker, turn.time) for turn in page],
        tuple(turn.words for turn in page),
        json={"id": memory.id, "title": memory.title, "turns": len(turns), "messages": messages},
        offset=offset,
        total=len(turns),
    )
