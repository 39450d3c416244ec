"""The command team: the memory that a team shares."""

import click

from mcp_server.doors.cli.team_member_commands import MEMBERS
from mcp_server.doors.cli.team_server_commands import ADMINISTERING


@click.group("team")
def team_command() -> None:
    """Share memories with a team, through the team's own server.

    Example: daybook team join https://team.example.org
    """


for command in (*MEMBERS, *ADMINISTERING):
    team_command.add_command(command)

COMMANDS = (team_command,)
