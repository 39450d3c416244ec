"""The command remote: exchange the memory with one's own other machines."""

import click

from mcp_server.actions.remote import set_up
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.suggesting_group import SuggestingGroup
from mcp_server.doors.shown import remote as shown


@click.group("remote", cls=SuggestingGroup)
def remote_command() -> None:
    """Exchange memories with your other machines through a git repository.

    Example: daybook remote add git@github.com:me/memory.git
    """


@remote_command.command("add")
@click.argument("url")
@click.option("--conversations", is_flag=True, help="Also send past conversations.")
@click.option(
    "--no-questions",
    is_flag=True,
    help="Do not send questions that were asked, nor prompts.",
)
@click.option("--yes", is_flag=True, help="Do not ask again, only show what leaves.")
def add_command(url: str, conversations: bool, no_questions: bool, yes: bool) -> None:
    """Add the repository, an address or a folder, after showing what will leave and asking you.

    The repository must be empty or already used by your other machines, and nobody else should be able to
    read it.

    Example: daybook remote add /mnt/disk/memory.git
    """
    person.require("sending the memory to a remote")
    store = output.opened().store()
    leaving = set_up.look_ahead(store, url, conversations=conversations, questions=not no_questions)
    output.print_shown(shown.leaving(leaving))
    if not yes:
        click.confirm("Send this, and all later changes?", default=False, abort=True)
    report = set_up.add(store, leaving)
    if report.trouble:
        raise RemoteUnavailable(
            f"{report.trouble} The remote was not added.", "Correct it, and add it again."
        )
    output.print_shown(shown.exchanged(report))
    click.echo("From now on this happens automatically, at the start and the end of each session.")


@remote_command.command("status")
@as_json
def status_command() -> None:
    """Show where the remote is, what leaves, and how the last exchange ended.

    Example: daybook remote status
    """
    output.print_shown(shown.state(set_up.state_of(output.opened().home)))


@remote_command.command("sync")
@as_json
def sync_command() -> None:
    """Exchange now. You rarely need it: sessions do it.

    Example: daybook remote sync
    """
    store = output.opened(takes_in=True).store()
    report = exchange(store, timeout=set_up.FIRST, patience=set_up.PATIENCE)
    output.print_shown(shown.exchanged(report))


@remote_command.command("remove")
def remove_command() -> None:
    """Stop exchanging. The memories stay here, and the remote keeps what it has.

    Example: daybook remote remove
    """
    person.require("removing the remote")
    url = set_up.remove(output.opened().store())
    output.say(f"Nothing more is sent to {url}; it keeps what it has.")


@remote_command.command("rewrite")
def rewrite_command() -> None:
    """Remove the remote's history, including what was deleted for good.

    Your other machines follow automatically. A host may keep old bytes for a while; its documentation says
    how to purge them.

    Example: daybook remote rewrite
    """
    person.require("removing the history of the remote")
    store = output.opened(takes_in=True).store()
    report = rewrite_history(store, timeout=set_up.FIRST, patience=set_up.PATIENCE)
    output.print_shown(shown.exchanged(report))
    click.echo("The remote now has only the current memories, and no history.")


COMMANDS = {"Sharing": (remote_command,)}
