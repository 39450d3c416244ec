"""The command maintain."""

from dataclasses import asdict

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.status.stats import get_stats
from mcp_server.actions.upkeep import maintain
from mcp_server.core.render import visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json

MB = 1024 * 1024


@click.command("maintain")
@click.argument("action", type=click.Choice([*maintain.ACTIONS, "clean"]), default="check")
@click.option("--apply", is_flag=True, help="With clean: do it; without, the plan is shown.")
@click.option("--embed/--no-embed", default=True, help="After a rebuild: also compute missing embeddings.")
@as_json
def maintain_command(action: str, apply: bool, embed: bool, as_json: bool) -> None:
    """Check the index, make it small (vacuum) or anew (rebuild), all of it, or clean up what is of no use.

    Example: daybook maintain clean --apply
    """
    if action == "clean" and apply:
        person.require("deleting what lies in the trash for good")
    store = output.opened().store()
    if action == "clean":
        cleaned = maintain.clean_up(store, dry_run=not apply)
        if as_json:
            output.print_json({**asdict(cleaned), "lines": cleaned.lines()})
            return
        for line in cleaned.lines():
            click.echo(visible(line))
        if not apply:
            click.echo("Nothing was changed; --apply does it.")
        return
    sync_if_free(store)
    steps = maintain.maintain(store, action)
    pending = get_stats(store).pending
    if embed and pending and any(step.action == "rebuild" for step in steps):
        with output.progress(pending, "Embedding") as advance:
            embed_pending(store, progress=advance)
    if as_json:
        output.print_json([asdict(step) for step in steps])
        return
    for step in steps:
        sizes = f"{step.before / MB:.1f} MB before, {step.after / MB:.1f} MB after"
        click.echo(f"{step.action}: {step.said}; {sizes}, {step.seconds:.1f} s")


COMMANDS = (maintain_command,)
