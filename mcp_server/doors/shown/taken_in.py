"""What was taken in from elsewhere, or would be, what was exported, and the other clients."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.exchange.imports.batch import Imported, Outcome, counts
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.actions.exchange.connect import ListedClient
    from mcp_server.actions.exchange.export import Exported
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


def exported(done: Exported, target: Path) -> Shown:
    """Return how many memories *target* holds now, and what could not be written there."""
    return Shown(
        f"{target} holds {counted(done.memories, 'memory')} now.",
        rows=[("left", reason) for reason in done.left],
        notes=() if done.memories else ("There is nothing to export yet; all projects may have more.",),
        json={"target": target, **asdict(done)},
    )


def clients(found: Sequence[ListedClient]) -> Shown:
    """Return the other clients of MCP that are known, and whether they use this memory."""
    states = [
        "connected" if each.connected else "not connected" if each.present else "not on this machine"
        for each in found
    ]
    return Shown(
        headers=("name", "client", "", "its settings"),
        rows=[
            (each.name, each.title, each.trouble or state, each.file)
            for each, state in zip(found, states, strict=True)
        ],
        json=[asdict(each) for each in found],
    )


def waits(rows: Sequence[Row]) -> str:
    """Return the command that accepts *rows*, which documents made, so that they are shown unasked."""
    what = counted(len(rows), "memory")
    return f"Found by search and not told unasked: {what}. To accept all: {ACCEPTING} (in a terminal)."
