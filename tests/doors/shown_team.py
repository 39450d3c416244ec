"""Results about a team's memory, to be shown."""

from collections.abc import Callable

from mcp_server.actions.exchange.team_folder import TakenByTeam
from mcp_server.core.team.team import Member, Role
from mcp_server.doors.shown import Shown, team_folder
from tests.doors.shown_values import HOSTILE, SECRET

TEAM_FAMILIES: dict[str, Callable[[], list[Shown]]] = {
    "team_folder": lambda: [
        team_folder.taken_in_team(TakenByTeam(2, 1, 1, (("webhook-1.md", HOSTILE), ("b.md", SECRET)))),
        team_folder.taken_in_team(TakenByTeam(0, 3, 0, ())),
        team_folder.members([Member("anna", Role.WRITER), Member("carla", Role.CURATOR)]),
        team_folder.members([]),
    ],
}
