"""The command team: the commands of a team's member, and those of its administrator from their module."""

import sys
from pathlib import Path

import click

from mcp_server.actions.team import copy as copying
from mcp_server.actions.team import membership, memories
from mcp_server.actions.team import send as sending
from mcp_server.actions.team.give import team_of
from mcp_server.adapters import files, team_membership
from mcp_server.core.errors import (
    DaybookError,
    NotAllowed,
    PersonNeeded,
    Rejected,
    StorageUnavailable,
    Unreadable,
)
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.render import counted, visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.author import author
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.suggesting_group import SuggestingGroup
from mcp_server.doors.cli.team_server_commands import ADMINISTERING
from mcp_server.doors.shown import team as shown

LONGEST = 4096  # bytes of a file with a token


@click.group("team", cls=SuggestingGroup)
def team_command() -> None:
    """Share memories with a team, through the team's own server.

    Example: daybook team join https://team.example.org
    """


@team_command.command("join")
@click.argument("url")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="A file with the token; without it you are asked, and what you type is not shown.",
)
@click.option("--yes", is_flag=True, help="Do not ask again, only show which team it is.")
def join_command(url: str, token_file: Path | None, yes: bool) -> None:
    """Join the team whose server is at URL, with the token that its administrator gave you.

    What its curators confirm is copied here and shown to Claude unasked, until you leave.

    Example: daybook team join https://team.example.org --token-file token.txt
    """
    person.require("joining a team")
    opened = output.opened(takes_in=True)
    token = _token_in(token_file) if token_file else click.prompt("Token", hide_input=True)
    team = opened.team.at(url, token.strip())
    joining = membership.look_ahead(opened.store(), url, token.strip(), team)
    output.print_shown(shown.joining(joining))
    if not yes:
        click.confirm("Join this team?", default=False, abort=True)
    try:
        copied = membership.join(opened.store(), joining, team)
    except (StorageUnavailable, NotAllowed) as error:
        output.say(f"You are in the team {joining.team.name}. Nothing was copied yet: {error}")
        return
    output.print_shown(shown.was_joined(joining.team.name, copied))


@team_command.command("leave")
@click.option("--yes", is_flag=True, help="Do not ask again.")
def leave_command(yes: bool) -> None:
    """Leave the team, and delete its copy and your token from this machine.

    Example: daybook team leave
    """
    person.require("leaving the team")
    store = output.opened(takes_in=True).store()
    state = membership.membership(store)
    if state and state.waiting:
        output.print_shown(shown.state(state))
        click.echo(f"Leaving deletes what was not sent to the team: {counted(len(state.waiting), 'memory')}.")
    if state and not yes:
        click.confirm(f"Leave the team {visible(state.name)}?", default=False, abort=True)
    name = membership.leave(store)
    click.echo(f"You left the team {visible(name)}. Claude is no longer shown its memories.")


@team_command.command("status")
@as_json
def status_command() -> None:
    """Show which team you are in, which of its memories are here, and what waits or was refused.

    Example: daybook team status
    """
    output.print_shown(shown.state(membership.membership(output.opened().store())))


@team_command.command("send")
@as_json
def send_command() -> None:
    """Send the team what waits here, and copy what is confirmed. You rarely need it.

    Example: daybook team send
    """
    store = output.opened(takes_in=True).store()
    team = team_of(store)
    sent = sending.send(store, team, again=True, patience=membership.PATIENCE)
    output.print_shown(shown.sent(sent))
    team_membership.forget_stayed(store.home)  # the person asks for the present state
    try:
        copying.copy(store, team, patience=membership.PATIENCE)
    except DaybookError as error:
        if sent.trouble not in (str(error), error.with_hint):
            raise
        sys.exit(error.exit_code)  # the same trouble is told already


@team_command.command("drop")
@click.argument("memory_id")
def drop_command(memory_id: str) -> None:
    """Do not send the team the memory that waits here under ID.

    Example: daybook team drop stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    if author(opened) != MANUAL:  # nothing else has these words
        raise PersonNeeded("deleting what waits for the team", person.typed())
    output.print_shown(shown.dropped(sending.drop(opened.store(), memory_id)))


@team_command.command("confirm")
@click.argument("memory_id")
@click.option("--yes", is_flag=True, help="Do not ask again, only show what is confirmed.")
def confirm_command(memory_id: str, yes: bool) -> None:
    """Confirm a memory as a curator: every member's Claude is shown it unasked.

    Example: daybook team confirm stripe-webhook-raw-body-k3f9
    """
    person.require("confirming a memory for the team")
    store = output.opened(takes_in=True).store()
    stored = memories.load_in_team(store, memory_id)
    output.print_shown(shown.whole(stored))
    if stored.confirmed_by:
        output.say(f"It is confirmed already, by {visible(stored.confirmed_by)}.")
        return
    if not yes:
        click.confirm("Show this to every member's Claude unasked?", default=False, abort=True)
    output.print_shown(shown.confirmed(memories.confirm_in_team(store, stored)))


@team_command.command("review")
@as_json
def review_command() -> None:
    """List the memories that no curator has confirmed yet, newest first.

    Example: daybook team review
    """
    unconfirmed = memories.unconfirmed(output.opened().store())
    output.print_shown(shown.unconfirmed(unconfirmed), texts=True)


def _token_in(path: Path) -> str:
    """Return the token in a file; raises Rejected when it cannot be read."""
    try:
        return files.read(path.expanduser().resolve(), LONGEST).decode("utf-8").strip()
    except (OSError, Unreadable, ValueError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or "it is not text"
        raise Rejected(f"{path} cannot be read: {reason}.", "Name a file that contains the token.") from None


for command in ADMINISTERING:
    team_command.add_command(command)

COMMANDS = {"Sharing": (team_command,)}
