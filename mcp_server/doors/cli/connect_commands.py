"""Commands for other clients of MCP: connect, disconnect."""

import difflib
from pathlib import Path

import click

from mcp_server.actions.exchange import connect as connecting
from mcp_server.core.errors import Rejected, similar
from mcp_server.core.exchange.clients import CLIENTS, Client
from mcp_server.core.render import on_one_line, visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown.taken_in import clients
from mcp_server.environment import person_home

ROOT = Path(__file__).resolve().parents[3]


@click.command("connect")
@click.argument("client", default="")
@click.option("--print", "print_", is_flag=True, help="Only print what to add to its settings by hand.")
@as_json
def connect_command(client: str, print_: bool) -> None:
    """Let another MCP client use this memory; without a name, list the clients.

    Daybook knows Claude Desktop, Cursor, VS Code, Codex, Gemini CLI and OpenCode. It shows what it would add
    to the client's settings and asks you. The rest of the file stays as it is, to the byte, and 'daybook
    disconnect' removes the addition.

    Example: daybook connect codex
    """
    if client:
        heed_only("CLIENT", "--print", where="with a client")
    else:
        heed_only("--json", where="without a client")
    opened = output.opened()
    store, home = opened.store(), person_home(opened.environment)
    if not client:
        listed = connecting.list_clients(store, opened.environment, home)
        output.print_shown(clients(listed))
        return
    wanted = _known(client)
    if print_:
        click.echo(connecting.by_hand(store, wanted), nl=False)
        return
    planned = connecting.plan(store, wanted, opened.environment, home)
    if not planned.changes:
        connecting.connect(store, planned, opened.environment, root=ROOT)
        click.echo(f"{wanted.title} is connected: {on_one_line(str(planned.file))}")
        return
    _show(planned)
    person.require("writing into the settings of another program")
    if not click.confirm("Write this?", default=True):
        click.echo("Nothing was written.")
        return
    connecting.connect(store, planned, opened.environment, root=ROOT)
    click.echo(
        f"{wanted.title} uses this memory from its next start on. 'daybook disconnect {client}' undoes it."
    )


@click.command("disconnect")
@click.argument("client")
def disconnect_command(client: str) -> None:
    """Remove what 'daybook connect' added to another client's settings.

    Example: daybook disconnect codex
    """
    opened = output.opened()
    store, home = opened.store(), person_home(opened.environment)
    wanted = _known(client)
    planned = connecting.plan_back(store, wanted, opened.environment, home)
    if planned:
        _show(planned)
        person.require("writing into the settings of another program")
        if not click.confirm("Remove this?", default=True):
            click.echo("Nothing was written.")
            return
    connecting.disconnect(store, wanted, planned)
    click.echo(f"{wanted.title} is not connected{' any more' if planned else ''}.")


def _known(name: str) -> Client:
    if name in CLIENTS:
        return CLIENTS[name]
    meant = similar(name, CLIENTS)
    hint = f"Did you mean {meant[0]}?" if meant else f"Use one of: {', '.join(CLIENTS)}."
    raise Rejected(f"Daybook knows no client '{visible(name)[:60]}'.", hint)


def _show(planned: connecting.SettingsEdit) -> None:
    """Print the file and the lines of it that come or go."""
    old, new = (text.splitlines() for text in (planned.before or "", planned.after))
    click.echo(on_one_line(str(planned.file)))
    for line in difflib.unified_diff(old, new, n=1, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            click.echo(f"  {visible(line)}")


COMMANDS = {"Other programs": (connect_command, disconnect_command)}
