"""What was taken in from elsewhere, or would be, what was exported, and the other clients."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.exchange.imports.batch import Imported, Outcome, counts
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.rows import MOST_ROWS, not_shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.actions.exchange.connect import ListedClient
    from mcp_server.actions.exchange.export import Exported
    from mcp_server.actions.exchange.team_folder import TakenByTeam
    from mcp_server.adapters.index.memories.memories import Row

ACCEPTING = "daybook trust --documents"
OF_ANOTHER = (
    "Of the project {0}, which has no folder here yet: {1}. A clone that has its git remote shows them;"
    " in another folder of the project, run 'daybook adopt {0}' there."
)
CALLED = 80  # characters of a record's name


def taken_in(
    imports: Sequence[Imported], *, format_name: str, dry_run: bool, waiting: Sequence[Row] = ()
) -> Shown:
    """
    Return the outcome for each record of the sources in *imports*; for unchanged ones only the number.

    *waiting* are the memories that documents made and the person has not accepted yet.
    """
    items = [item for source in imports for item in source.items]
    listed = [item for item in items if item.why or item.outcome is not Outcome.UNCHANGED]
    would = " would be" if dry_run else ""
    number = ", ".join(f"{count:,}{would} {outcome.value}" for outcome, count in counts(items).items())
    place = imports[0].place if len(imports) == 1 else counted(len(imports), "place")
    remarks = [remark for source in imports for remark in source.remarks]
    return Shown(
        f"{place}: {number}." if items else f"There is nothing to import from {place}.",
        ("what", "would be" if dry_run else "outcome", "id", "why"),
        tuple((item.key[:CALLED], item.outcome.value, item.id, item.why) for item in listed[:MOST_ROWS]),
        notes=(
            *remarks[:MOST_ROWS],
            *(
                OF_ANOTHER.format(key, counted(number, "memory"))
                for source in imports
                for key, number in source.elsewhere[:MOST_ROWS]
            ),
            not_shown(len(listed)),
            waits(waiting) if waiting and not dry_run else "",
        ),
        json={"what": format_name, "dry_run": dry_run, "sources": [asdict(source) for source in imports]},
    )


def exported(export: Exported, target: Path, *, of_team: bool = False) -> Shown:
    """Return how many memories *target* holds now, and what could not be written there."""
    nothing = f"There is nothing to export yet{'' if of_team else '; all projects may have more'}."
    return Shown(
        f"{target} holds {counted(export.memories, 'memory')} now.",
        rows=[("left", reason) for reason in export.left],
        notes=["" if export.memories else nothing],
        json={"target": target, **asdict(export)},
    )


def taken_in_team(outcome: TakenByTeam) -> Shown:
    """Return how many memories the team got, and which files were left out and why."""
    return Shown(
        f"{outcome.new} new, {outcome.known} there already, {len(outcome.left)} left out.",
        ("left out", "why"),
        outcome.left[:MOST_ROWS],
        notes=[not_shown(len(outcome.left))],
        json=asdict(outcome),
    )


def clients(listed: Sequence[ListedClient]) -> Shown:
    """Return the other clients of MCP that are known, and whether they use this memory."""
    states = [
        "connected" if client.connected else "not connected" if client.present else "not on this machine"
        for client in listed
    ]
    return Shown(
        headers=("name", "client", "", "its settings"),
        rows=[
            (client.name, client.title, client.trouble or state, client.file)
            for client, state in zip(listed, states, strict=True)
        ],
        json=[asdict(client) for client in listed],
    )


def waits(rows: Sequence[Row]) -> str:
    """Return the command that accepts *rows*, which documents made, so that they are shown unasked."""
    number = counted(len(rows), "memory")
    return f"Found by search, but not shown unasked: {number}. To accept all: {ACCEPTING} (in a terminal)."
