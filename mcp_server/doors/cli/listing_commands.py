"""The command list."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import list_memories
from mcp_server.core.memory import Kind
from mcp_server.core.render import counted
from mcp_server.core.search.query import filter_of
from mcp_server.doors.cli import given, output
from mcp_server.doors.cli.output import LEVELS, as_json
from mcp_server.doors.shown.rows import listed


@click.command("list")
@click.option("--type", "type_", default="")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]))
@click.option("--tags", default="", help="Only with all these tags, with commas between them.")
@click.option("--any-tags", default="", help="Only with one of these tags.")
@click.option("--category", default="")
@click.option("--since", default="", help="Only updated on or after this date.")
@click.option("--until", default="", help="Only updated before this date.")
@click.option("--level", type=LEVELS)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1))
@click.option("--offset", default=0, type=click.IntRange(min=0))
@click.option("--order", type=click.Choice(["updated", "created", "title"]), default="updated")
@click.option("--all-projects", is_flag=True)
@click.option("--include-archived", is_flag=True)
@as_json
def list_command(
    type_: str,
    kind: str | None,
    tags: str,
    any_tags: str,
    category: str,
    since: str,
    until: str,
    level: str | None,
    limit: int,
    offset: int,
    order: str,
    all_projects: bool,
    include_archived: bool,
    as_json: bool,
) -> None:
    """List memories, newest first.

    Example: daybook list --type decision
    """
    store = output.opened().store()
    sync_if_free(store)
    filter = filter_of(
        level=level,
        kind=kind,
        type=type_,
        tags=given.tags(tags, any_tags),
        category=category,
        since=since,
        until=until,
        all_projects=all_projects,
        include_archived=include_archived,
    )
    listing = list_memories(store, filter, limit=limit, offset=offset, order=order)
    if not listing.rows and not as_json:
        from mcp_server.actions.status.stats import get_stats  # slow to load, and a list does not need it

        number = listing.total or get_stats(store).memories
        click.echo(
            f"Of {counted(number, 'memory')} none is listed so; try other filters, or a smaller --offset."
            if number
            else 'No memories yet. Store one with: daybook remember "Title | what to remember"'
        )
        return
    output.print_shown(listed(listing, offset), as_json=as_json)


COMMANDS = (list_command,)
