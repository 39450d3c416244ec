"""What was done to keep the memory up, or would be: tidying, cleaning, the index."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mcp_server.actions.upkeep.maintain import Checked, Rebuilt
from mcp_server.core.render import MEGABYTE, bytes_of, counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.draft_outcome import summary
from mcp_server.doors.shown.needs import clock
from mcp_server.doors.shown.review import proposal
from mcp_server.doors.shown.runs import entry_json, line, not_made

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_server.actions.upkeep.backfill import Backfilled
    from mcp_server.actions.upkeep.maintain import Cleaned, MaintenanceStep
    from mcp_server.actions.upkeep.tidy import Tidied
    from mcp_server.actions.upkeep.work import Work

PLAN = "Nothing was changed. The plan:"
DAMAGED = "the index is damaged; rebuild makes a new one, files are safe"
TIDY = "Nothing needs tidying."


def tidied(run: Tidied) -> Shown:
    """Return a row for each entry, then what was left undone, then the counts."""
    unasked = paid = ""
    if run.unasked:
        price = f"at most ${run.price:.4f}" if run.price else "whose price is 0 or not known"
        unasked = f"The model was not asked: {counted(run.unasked, 'call')}, {price}, with --with-model."
    if run.calls and run.dry_run:
        paid = f"The model was asked for this plan: {counted(run.calls, 'call')}, ${run.spent:.4f}."
    left_line = f"left for the next run, or for you in 'daybook review': {run.left} more aged"
    numbers = run.counts | {
        "repaired": run.repaired,
        "emptied from the trash": run.emptied,
        "pruned from the history": run.pruned,
        "model calls": 0 if run.dry_run else run.calls,
    }
    doubted = clock(run.clock)
    if run.is_empty and not (run.waits or doubted or run.calls):
        return Shown(TIDY, notes=[unasked], json=_json(run))
    rows = [
        *(line(entry) for entry in run.entries),
        *(f"left to you: {proposal(question)}" for question in run.proposals),
        *(f"not done: {sentence}" for sentence in (*run.refused, *map(not_made, run.failed))),
        *([f"model calls wait: {run.waits}"] if run.waits else []),
        *([doubted] if doubted else []),
        *([left_line] if run.left else []),
    ]
    spent = f" (${run.spent:.4f})" if run.calls and not run.dry_run else ""
    return Shown(
        PLAN if run.dry_run else _done(run, "brings it back"),
        rows=[(row,) for row in rows],
        notes=(unasked, paid, f"{_counted(numbers, dry_run=run.dry_run)}{spent}"),
        json=_json(run),
    )


def _done(run: Tidied, reverses: str) -> str:
    """Return the line above what *run* did, with the command that *reverses* it if it changed a memory."""
    return f"Done; 'daybook undo {run.run}' {reverses}:" if run.entries else "Done:"


def _json(run: Tidied) -> dict[str, object]:
    return {
        **asdict(replace(run, entries=[], proposals=[], failed=[])),
        "clock": clock(run.clock),
        "entries": [entry_json(entry) for entry in run.entries],
        "proposals": [proposal(question) for question in run.proposals],
        "failed": [not_made(failure) for failure in run.failed],
    }


def cleaned(run: Cleaned) -> Shown:
    """Return a row for each memory and file, then counts."""
    rows = [
        *(line(entry) for entry in run.tidied.entries),
        *(f"delete for good: [{trashed.id}], {trashed.size:,} bytes" for trashed in run.trash),
        *(f"not done: {not_made(failure)}" for failure in run.tidied.failed),
        *(f"kept: {path} contains what somebody saved while Daybook changed the file" for path in run.kept),
        *filter(None, [clock(run.tidied.clock)]),
    ]
    takes_back = "what was archived or moved to the trash, not what was deleted for good"
    return Shown(
        PLAN if run.dry_run else _done(run.tidied, f"reverses {takes_back}"),
        rows=[(row,) for row in rows],
        notes=(cleaned_counts(run),),
        json={**asdict(run), "tidied": _json(run.tidied), "lines": [*rows, cleaned_counts(run)]},
    )


def cleaned_counts(run: Cleaned) -> str:
    """Return how much cleaning up did, or would do, in one line."""
    numbers = {
        "aged, expired or moved to the trash": len(run.tidied.entries),
        f"deleted from the trash for good ({run.freed:,} bytes)": len(run.trash),
        "files of killed processes, old logs": len(run.litter),
    }
    return _counted(numbers, dry_run=run.dry_run)


def worked(work: Work | None) -> Shown:
    """Return what a worker did, None when another one is at it."""
    if work is None:
        return Shown("Another worker is running.")
    given = f"; occasions for {counted(work.occasions, 'memory')}" if work.occasions else ""
    return Shown(
        f"{counted(work.kept, 'turn')} kept; memories: {summary(work.outcomes)}{given}",
        rows=_failed(work.failed),
        notes=[f"The rest waits: {work.waits}" if work.waits else ""],
        json=asdict(work),
    )


def to_take_in(transcripts: int, size: int) -> Shown:
    """Return how many transcripts from before there are, and their *size* in bytes."""
    head = f"{counted(transcripts, 'transcript')} to take in, {bytes_of(size)}."
    return Shown(head, json={"transcripts": transcripts, "bytes": size})


def backfilled(run: Backfilled) -> Shown:
    """Return how many transcripts from before were taken in, and which could not be."""
    head = f"{counted(run.transcripts, 'transcript')} taken in, {counted(run.utterances, 'turn')}."
    return Shown(head, rows=_failed(run.failed), json=asdict(run))


def _failed(reasons: Mapping[str, str]) -> list[tuple[str]]:
    return [(f"failed: {path}: {reason}",) for path, reason in reasons.items()]


def steps(rows: Sequence[MaintenanceStep]) -> Shown:
    """Return what was done to the index, with its sizes and how long it took."""
    return Shown(
        rows=[
            (
                step.action,
                f"{_result(step)}; {step.before / MEGABYTE:.1f} MB before,"
                f" {step.after / MEGABYTE:.1f} MB after, {step.seconds:.1f} s",
            )
            for step in rows
        ],
        json=[
            {
                "action": step.action,
                "said": _result(step),
                "before": step.before,
                "after": step.after,
                "seconds": step.seconds,
            }
            for step in rows
        ],
    )


def _result(step: MaintenanceStep) -> str:
    match step.result:
        case Checked(sound):
            return "the index is whole" if sound else DAMAGED
        case Rebuilt(memories, unreadable):
            unread = f", {counted(unreadable, 'file')} not taken in" if unreadable else ""
            return f"{counted(memories, 'memory')} indexed again{unread}; embeddings are computed again"
        case None:
            return "free pages returned to the disk"


def _counted(numbers: dict[str, int], *, dry_run: bool) -> str:
    counts = ", ".join(f"{name} {number}" for name, number in numbers.items() if number)
    return f"{'would do' if dry_run else 'done'}: {counts or 'nothing'}"
