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


def taken_in_team(done: TakenByTeam) -> Shown:
    """Return how many memories the team got, and which files were left out and why."""
    head = f"{done.new} new, {done.known} there already, {len(done.left)} left out"
    more = len(done.left) - MOST_ROWS
    return Shown(
        f"{head}, {done.confirmed} confirmed." if done.confirmed else f"{head}.",
        ("left out", "why"),
        done.left[:MOST_ROWS],
        notes=(f"{more} more are told by the command with --json.",) if more > 0 else (),
        json=asdict(done),
    )


def members(found: Sequence[Member]) -> Shown:
    """Return who has a token."""
    return Shown(
        f"{counted(len(found), 'member')}." if found else "Nobody has a token yet.",
        ("name", "role"),
        tuple((each.name, each.role.value) for each in found),
        notes=() if found else ("Issue one with 'daybook team token issue NAME --role curator'.",),
        json=[{"name": each.name, "role": each.role.value} for each in found],
    )
