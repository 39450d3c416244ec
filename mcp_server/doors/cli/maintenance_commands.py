"""Commands for upkeep: maintain, audit, metrics."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import get_stats
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.sessions import audit
from mcp_server.actions.status.metrics import metrics
from mcp_server.actions.upkeep import maintain
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import deeds, figures, upkeep


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
    output.print_shown(upkeep.steps(steps), as_json=as_json)


@click.command("audit")
@click.argument("memory_id", default="")
@click.option("--session", default="", help="Only what was done in this session: an id or a short id.")
@click.option("--limit", default=50, show_default=True, help="1 to 500.")
@click.option("--all-projects", is_flag=True)
@as_json
def audit_command(memory_id: str, session: str, limit: int, all_projects: bool, as_json: bool) -> None:
    """Tell what was done to memories, when and in which session; forgotten ones too.

    Example: daybook audit --session 3f9a2c1d
    """
    store = output.opened().store()
    sync_if_free(store)
    done = audit.audit_history(store, memory_id, session=session, limit=limit, all_projects=all_projects)
    output.print_shown(deeds.history(done), as_json=as_json)


@click.command("metrics")
@as_json
def metrics_command(as_json: bool) -> None:
    """Count what was recalled, shown and stored this month and ever, and tell sizes and what waits.

    Example: daybook metrics --json
    """
    store = output.opened().store()
    sync_if_free(store)
    output.print_shown(figures.metrics(metrics(store)), as_json=as_json)


COMMANDS = (maintain_command, audit_command, metrics_command)
