"""The command undo: taking back what was done."""

import click

from mcp_server.actions.changes import undo
from mcp_server.core.authors import PERSON
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import history as shown

TAKING_BACK = "taking back what the person said or did"


@click.command("undo")
@click.argument("memory_id", default="", metavar="[ID]")
@click.option("--anyway", is_flag=True, help="Undo even what was edited since; the history keeps the edit.")
@as_json
def undo_command(memory_id: str, anyway: bool) -> None:
    """Undo the last change of a memory, or the last one in this project.

    Running it again redoes the change.

    Example: daybook undo stripe-webhook-raw-body-k3f9
    """
    store = output.opened().store()
    change = undo.last_change(store, memory_id)
    if store.by() != PERSON and undo.is_persons(store, change):
        person.require(TAKING_BACK)
    output.print_shown(shown.undone(undo.undo(store, change, anyway=anyway), change))


COMMANDS = {"Memories": (undo_command,)}
