"""Commands for what memories said before: history, undo."""

import contextlib

import click

from mcp_server.actions.changes import history, undo
from mcp_server.actions.changes.deeds import TitledDeed, list_deeds
from mcp_server.actions.team.memories import history_if_of_team
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.render import visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import deeds
from mcp_server.doors.shown import history as shown
from mcp_server.doors.shown import team as shown_team
from mcp_server.doors.shown.persons_acts import TAKING_BACK


@click.command("history")
@click.argument("memory_id", metavar="[ID]", default="")
@click.option("--version", type=click.IntRange(1), help="With an ID: print this version in full.")
@click.option("--session", default="", metavar="ID", help="Only what this session did; a short id will do.")
@click.option("--limit", default=50, show_default=True, help="1 to 500.")
@click.option("--all-projects", is_flag=True)
@as_json
def history_command(
    memory_id: str, version: int | None, session: str, limit: int, all_projects: bool
) -> None:
    """List what was done to memories; with an ID also its earlier versions.

    Example: daybook history stripe-webhook-raw-body-k3f9 --version 1
    """
    if version is not None:
        if not memory_id:
            raise Rejected("--version is of one memory.", "Give its ID, too.")
        heed_only("ID", "--version", "--json", where="with --version")
        earlier, text = history.version_of(output.synced(), memory_id, version)
        if output.wants_json():
            output.print_json(shown.version(earlier, text).json)
        else:
            click.echo(visible(text).rstrip())
        return
    store = output.synced()
    if memory_id and not session and (of_team := history_if_of_team(store, memory_id)):
        heed_only("ID", "--json", where="with a memory of the team")
        output.print_shown(shown_team.history(*of_team), texts=True)
        return
    titled_deeds: list[TitledDeed] = []
    with contextlib.suppress(NotFound):  # a file that a person made by hand, and Daybook never changed
        titled_deeds = list_deeds(store, memory_id, session=session, limit=limit, all_projects=all_projects)
    log = deeds.history(titled_deeds)
    if not memory_id or session:
        output.print_shown(log)
        return
    try:
        before = shown.changes(history.history_of(store, memory_id))
    except NotFound:
        if not titled_deeds:
            raise
        by_us = any(
            titled.deed.event == "emptied" or titled.deed.detail.get("forever") for titled in titled_deeds
        )
        before = shown.deleted(memory_id, by_us=by_us)
    if output.wants_json():
        output.print_json({**before.json, "done": log.json})  # type: ignore[dict-item]
        return
    output.print_shown(before, texts=True)
    if titled_deeds:
        click.echo("")
        output.print_shown(log)


@click.command("undo")
@click.argument("memory_id", default="", metavar="[ID]")
@click.option("--anyway", is_flag=True, help="Undo even what was edited since; the history keeps the edit.")
@as_json
def undo_command(memory_id: str, anyway: bool) -> None:
    """Undo the last change of a memory, or the last one in this project.

    Instead of a memory you can name a run of tidying. Running it again redoes the change.

    Example: daybook undo stripe-webhook-raw-body-k3f9
    """
    store = output.opened().store()
    change = undo.last_change(store, memory_id)
    if store.by() != PERSON and undo.is_persons(store, change):
        person.require(TAKING_BACK)
    output.print_shown(shown.undone(undo.undo(store, change, anyway=anyway), change))


COMMANDS = {"Memories": (history_command, undo_command)}
