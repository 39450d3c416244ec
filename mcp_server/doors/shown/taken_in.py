"""What was read from a source, or would be: an import, a document, Claude Code's own memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.exchange.imports.batch import Imported, Outcome, counts
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.adapters.index.memories.memories import Row

ACCEPTING = "daybook trust --documents"
MOST_ROWS = 100
CALLED = 80  # characters of a record's name


def taken_in(done: Sequence[Imported], *, what: str, dry_run: bool, waiting: Sequence[Row] = ()) -> Shown:
    """
    Return the outcome for each record of the sources *done*; for unchanged ones only the number.

    *what* is the format; *waiting* are the memories that documents made and the person has not accepted yet.
    """
    items = [item for source in done for item in source.items]
    told = [item for item in items if item.why or item.outcome is not Outcome.UNCHANGED]
    would = " would be" if dry_run else ""
    number = ", ".join(f"{count}{would} {outcome.value}" for outcome, count in counts(items).items())
    place = done[0].place if len(done) == 1 else counted(len(done), "place")
    remarks = [remark for source in done for remark in source.remarks]
    more = len(told) - MOST_ROWS
    return Shown(
        f"{place}: {number}." if items else f"There is nothing to take in from {place}.",
        ("what", "would be" if dry_run else "outcome", "id", "why"),
        tuple((item.key[:CALLED], item.outcome.value, item.id, item.why) for item in told[:MOST_ROWS]),
        notes=(
            *remarks[:MOST_ROWS],
            *([f"{more} more are told by the command with --json."] if more > 0 else []),
            *([waits(waiting)] if waiting and not dry_run else []),
        ),
        json={"what": what, "dry_run": dry_run, "sources": [asdict(source) for source in done]},
    )


def waits(rows: Sequence[Row]) -> str:
    """Return the command that accepts *rows*, which documents made, so that they are shown unasked."""
    what = counted(len(rows), "memory")
    return f"Found by search and not told unasked: {what}. To accept all: {ACCEPTING} (in a terminal)."
