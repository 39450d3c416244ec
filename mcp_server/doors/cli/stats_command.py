"""The command stats: counts of what there is, and of its use."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.status.stats import metrics
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import figures


@click.command("stats")
@click.option("--days", default=30, show_default=True, help="How far to look back for use; 0 for all time.")
@as_json
def stats_command(days: int, as_json: bool) -> None:
    """Count memories, their size, their use, and how often that helped.

    Example: daybook stats --days 7
    """
    store = output.opened().store()
    sync_if_free(store)
    output.print_shown(figures.metrics(metrics(store, days=days)), as_json=as_json)


COMMANDS = (stats_command,)
