"""What was done to keep the memory up, or would be: tidying, cleaning, the index."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.render import bytes_of, counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.draft_outcome import summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_server.actions.upkeep.backfill import Backfilled
    from mcp_server.actions.upkeep.maintain import Cleaned, MaintenanceStep
    from mcp_server.actions.upkeep.tidy import Tidied
    from mcp_server.actions.upkeep.work import Work

MB = 1024 * 1024
PLAN = "Nothing was changed; the plan:"
TIDY = "Nothing needs tidying."


def tidied(done: Tidied) -> Shown:
    """Return a row for each entry, then what was left undone, then the counts."""
    price = f"at most ${done.price:.4f}" if done.price else "whose price is 0 or not known"
    asking = f"The model was not asked: {counted(done.unasked, 'call')}, {price}, with --with-model."
    left = f"left for the next run, or for your word in 'daybook review': {done.left} more aged"
    numbers = done.counts | {
        "repaired": done.repaired,
        "emptied from the trash": done.emptied,
        "pruned from the history": done.pruned,
        "model calls": done.calls,
    }
    notes = [asking] if done.unasked else []
    if done.is_empty and not (done.waits or done.clock or done.calls):
        return Shown(TIDY, notes=tuple(notes), json=asdict(done))
    rows = [
        *(entry.line for entry in done.entries),
        *(f"left to you: {line}" for line in done.proposals),
        *(f"not done: {line}" for line in (*done.refused, *done.failed)),
        *([f"the model waits: {done.waits}"] if done.waits else []),
        *([done.clock] if done.clock else []),
        *([left] if done.left else []),
    ]
    spent = f" (${done.spent:.4f})" if done.calls else ""
    return Shown(
        PLAN if done.dry_run else "Done; 'daybook tidy --undo' puts it back:",
        rows=[(row,) for row in rows],
        notes=(*notes, f"{_counted(numbers, dry_run=done.dry_run)}{spent}"),
        json=asdict(done),
    )


def cleaned(done: Cleaned) -> Shown:
    """Return a row for each memory and file, then counts."""
    rows = [
        *(entry.line for entry in done.tidied.entries),
        *(f"delete for good: [{trashed.id}], {trashed.size:,} bytes" for trashed in done.trash),
        *(f"not done: {line}" for line in done.tidied.failed),
        *(f"kept: {path} holds what somebody saved while Daybook changed it" for path in done.kept),
        *([done.tidied.clock] if done.tidied.clock else []),
    ]
    takes_back = "what was archived or thrown away, not what was deleted for good"
    return Shown(
        PLAN if done.dry_run else f"Done; 'daybook tidy --undo' takes back {takes_back}:",
        rows=[(row,) for row in rows],
        notes=(cleaned_counts(done),),
        json={**asdict(done), "lines": [*rows, cleaned_counts(done)]},
    )


def cleaned_counts(done: Cleaned) -> str:
    """Return how much cleaning up did, or would do, in one line."""
    numbers = {
        "aged, expired or thrown away": len(done.tidied.entries),
        f"deleted from the trash for good ({done.freed:,} bytes)": len(done.trash),
        "files of killed processes, old logs": len(done.litter),
    }
    return _counted(numbers, dry_run=done.dry_run)


def worked(done: Work | None) -> Shown:
    """Return what a worker did, None when another one is at it."""
    if done is None:
        return Shown("Another worker is at it.")
    waits = (f"The rest waits: {done.waits}",) if done.waits else ()
    return Shown(
        f"{counted(done.kept, 'turn')} kept; memories: {summary(done.outcomes)}",
        rows=_failed(done.failed),
        notes=waits,
        json=asdict(done),
    )


def to_take_in(transcripts: int, size: int) -> Shown:
    """Return how many transcripts from before there are, and their *size* in bytes."""
    head = f"{counted(transcripts, 'transcript')} to take in, {bytes_of(size)}."
    return Shown(head, json={"transcripts": transcripts, "bytes": size})


def backfilled(done: Backfilled) -> Shown:
    """Return how many transcripts from before were taken in, and which could not be."""
    head = f"{counted(done.transcripts, 'transcript')} taken in, {counted(done.utterances, 'turn')}."
    return Shown(head, rows=_failed(done.failed), json=asdict(done))


def _failed(reasons: Mapping[str, str]) -> list[tuple[str]]:
    return [(f"failed: {path}: {reason}",) for path, reason in reasons.items()]


def steps(done: Sequence[MaintenanceStep]) -> Shown:
    """Return what was done to the index, with its sizes and how long it took."""
    return Shown(
        rows=[
            (
                step.action,
                f"{step.said}; {step.before / MB:.1f} MB before, {step.after / MB:.1f} MB after,"
                f" {step.seconds:.1f} s",
            )
            for step in done
        ],
        json=[asdict(step) for step in done],
    )


def _counted(numbers: dict[str, int], *, dry_run: bool) -> str:
    counts = ", ".join(f"{name} {number}" for name, number in numbers.items() if number)
    return f"{'would do' if dry_run else 'done'}: {counts or 'nothing'}"
