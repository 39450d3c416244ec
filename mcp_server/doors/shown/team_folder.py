"""What became of a folder that was taken into a team's memory, and who the members are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.exchange.team_folder import TakenByTeam
    from mcp_server.core.team.team import Member

MOST_ROWS = 100


def taken_in_team(outcome: TakenByTeam) -> Shown:
    """Return how many memories the team got, and which files were left out and why."""
    head = f"{outcome.new} new, {outcome.known} there already, {len(outcome.left)} left out"
    more = len(outcome.left) - MOST_ROWS
    return Shown(
        f"{head}, {outcome.confirmed} confirmed." if outcome.confirmed else f"{head}.",
        ("left out", "why"),
        outcome.left[:MOST_ROWS],
        notes=(f"{more} more: the command with --json lists all.",) if more > 0 else (),
        json=asdict(outcome),
    )


def members(roster: Sequence[Member]) -> Shown:
    """Return who has a token."""
    return Shown(
        f"{counted(len(roster), 'member')}." if roster else "Nobody has a token yet.",
        ("name", "role"),
        tuple((member.name, member.role.value) for member in roster),
        notes=() if roster else ("Issue one with 'daybook team token issue NAME --role curator'.",),
        json=[{"name": member.name, "role": member.role.value} for member in roster],
    )
