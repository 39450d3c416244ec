"""Commands for upkeep: maintain, audit, metrics."""

from dataclasses import asdict
from datetime import UTC, datetime

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import get_stats
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.sessions import audit
from mcp_server.actions.status.metrics import metrics
from mcp_server.actions.upkeep import maintain
from mcp_server.core.render import counted, visible
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
    if as_json:
        output.print_json([asdict(each) for each in done])
        return
    if not done:
        click.echo("Nothing was done yet. Store something with: daybook remember")
        return
    rows = [
        [f"{datetime.fromtimestamp(each.at, UTC):%Y-%m-%d %H:%M}", each.id, each.did[:90], each.session[:8]]
        for each in done
    ]
    output.print_table(["when (UTC)", "id", "what", "session"], rows)


@click.command("metrics")
@as_json
def metrics_command(as_json: bool) -> None:
    """Count what was recalled, shown and stored this month and ever, and tell sizes and what waits.

    Example: daybook metrics --json
    """
    store = output.opened().store()
    sync_if_free(store)
    found = metrics(store)
    if as_json:
        output.print_json(asdict(found))
        return
    size = found.size
    for name, said in (
        ("memories", f"{found.memories} here; in all projects {size.memories / MB:.1f} MB"),
        (
            "index",
            f"{size.index / MB:.1f} MB, {counted(found.passages, 'passage')}, {found.to_embed} to embed",
        ),
        ("trash and ledger", f"{size.trash / MB:.1f} and {size.ledger / MB:.1f} MB"),
        ("history", f"{size.history / MB:.1f} MB"),
        ("limit", f"{size.limit // MB} MB" if size.limit else "none"),
        ("transcripts to keep", found.transcripts_to_keep),
        ("bytes to learn from", f"{found.bytes_to_learn:,}"),
        ("model calls today", f"{found.spending.today_calls}, {found.spending.today}"),
    ):
        click.echo(f"{name:<20} {said}")
    click.echo("")
    rows = [[name.replace("_", " "), number, found.ever[name]] for name, number in found.month.items()]
    output.print_table(["in the ledger", f"since {found.since}", "ever"], rows)


COMMANDS = (maintain_command, audit_command, metrics_command)
