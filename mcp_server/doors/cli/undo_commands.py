"""Commands for what memories said before: history, undo."""

import click

from mcp_server.actions.changes import history, undo
from mcp_server.core.authors import PERSON
from mcp_server.core.render import visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import history as shown

TAKING_BACK = "taking back what the person said or did"


@click.command("history")
@click.argument("memory_id", metavar="ID")
@click.option("--version", type=click.IntRange(1), help="Print this version whole.")
@as_json
def history_command(memory_id: str, version: int | None, as_json: bool) -> None:
    """Tell what a memory said before, when it was changed, by whom and by which verb.

    Example: daybook history stripe-webhook-raw-body-k3f9 --version 1
    """
    store = output.opened(wait_for_model=False).store()
    if version is None:
        told = shown.told(history.history_of(store, memory_id))
        if as_json:
            output.print_json(told.json)
            return
        click.echo(visible(told.head))
        for *about, differs in told.rows:
            click.echo("")
            click.echo("  ".join(map(str, about)))
            click.echo(f"    {visible(str(differs))}")
        return
    each, text = history.version_of(store, memory_id, version)
    if as_json:
        output.print_json(shown.version(each, text).json)
    else:
        click.echo(visible(text).rstrip())


@click.command("undo")
@click.argument("memory_id", default="", metavar="[ID]")
@click.option("--anyway", is_flag=True, help="Also what was edited since; the history keeps that.")
@as_json
def undo_command(memory_id: str, anyway: bool, as_json: bool) -> None:
    """Take back the last change of a memory, or without an ID the last one in this project; again redoes it.

    Example: daybook undo stripe-webhook-raw-body-k3f9
    """
    store = output.opened(wait_for_model=False).store()
    change = undo.last_change(store, memory_id)
    if store.by() != PERSON and undo.is_persons(store, change):
        person.require(TAKING_BACK)
    output.print_shown(shown.undone(undo.undo(store, change, anyway=anyway)), as_json=as_json)


COMMANDS = (history_command, undo_command)
