"""The command list."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import list_memories
from mcp_server.core.render import counted
from mcp_server.core.search.query import Filter
from mcp_server.doors.cli import filter_options, output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown.rows import listed


@click.command("list")
@filter_options.filtered()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1))
@click.option("--offset", default=0, type=click.IntRange(min=0))
@click.option("--order", type=click.Choice(["updated", "created", "title"]), default="updated")
@as_json
def list_command(
    filter: Filter,
    limit: int,
    offset: int,
    order: str,
    as_json: bool,
) -> None:
    """List memories, newest first.

    Example: daybook list --type decision
    """
    store = output.opened().store()
    sync_if_free(store)
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
