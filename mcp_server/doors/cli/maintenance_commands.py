"""The command maintain."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.status.stats import get_stats
from mcp_server.actions.upkeep import maintain
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import upkeep


@click.command("maintain")
@click.argument("action", type=click.Choice([*maintain.ACTIONS, "clean"]), default="check")
@click.option(
    "--apply", is_flag=True, help="With clean: carry out the plan; without --apply it is only shown."
)
@click.option("--embed/--no-embed", default=True, help="After a rebuild: also compute missing embeddings.")
@as_json
def maintain_command(action: str, apply: bool, embed: bool, as_json: bool) -> None:
    """Check the index, shrink it (vacuum), rebuild it, do all three, or clean up.

    Example: daybook maintain clean --apply
    """
    if action == "clean" and apply:
        person.require("emptying the trash for good")
    store = output.opened().store()
    if action == "clean":
        output.print_shown(upkeep.cleaned(maintain.clean_up(store, dry_run=not apply)), as_json=as_json)
        if not (apply or as_json):
            click.echo("--apply does it.")
        return
    sync_if_free(store)
    steps = maintain.maintain(store, action)
    pending = get_stats(store).pending
    if embed and pending and any(step.action == "rebuild" for step in steps):
        with output.progress(pending, "Embedding") as advance:
            embed_pending(store, progress=advance)
        if problem := store.meaning.problem:
            click.echo(problem, err=True)
    output.print_shown(upkeep.steps(steps), as_json=as_json)


COMMANDS = (maintain_command,)
