"""Commands for the store: sync, where, status, stats, doctor."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from mcp_server.actions.context import notice as noticing
from mcp_server.actions.files.sync import rebuild, sync, sync_if_free
from mcp_server.actions.memory import repository
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.status import doctor as checking
from mcp_server.actions.status.stats import get_stats, metrics
from mcp_server.actions.status.status import status
from mcp_server.adapters import places
from mcp_server.bootstrap import has_key, model_key
from mcp_server.core.memory import Kind
from mcp_server.core.render import bytes_of, counted, visible
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import figures

PLUGIN = Path(__file__).resolve().parents[3]


@click.command("sync")
@click.option(
    "--rebuild", "anew", is_flag=True, help="Make the index anew from the files, beside the old one."
)
@click.option("--deep", is_flag=True, help="Read every file, also those whose size and time did not change.")
@click.option("--embed/--no-embed", default=True, help="Also compute missing embeddings.")
@as_json
def sync_command(anew: bool, deep: bool, embed: bool, as_json: bool) -> None:
    """Take in what changed in the files. You rarely need it: every session and command does it by itself.

    Example: daybook sync --rebuild
    """
    store = output.opened(takes_in=True).store()
    vaults = places.all_vaults(store.home, store.vaults)
    report = rebuild(store, vaults=vaults) if anew else sync(store, vaults=vaults, deep=deep)
    stats = get_stats(store)
    pending = stats.pending + stats.coming_pending
    if embed and pending:
        with output.progress(pending, "Embedding") as advance:
            embed_pending(store, progress=advance)
    if as_json:
        output.print_json(asdict(report))
        return
    click.echo(f"{report.added} added, {report.modified} modified, {report.removed} removed")
    for problem in report.unreadable:
        line = f":{problem.line}" if problem.line else ""
        click.echo(f"cannot be read: {problem.path}{line}: {problem.reason}", err=True)


@click.command("where")
@as_json
def where_command(as_json: bool) -> None:
    """Tell which project this folder belongs to, why, and where its memories lie.

    Example: daybook where
    """
    opened = output.opened()
    store = opened.store()
    project = store.project
    problems = repository.problems(store, opened.folder)
    if as_json:
        said = None if project is None else asdict(project)
        vaults = [{"key": vault.key, "level": vault.level, "root": vault.root} for vault in store.vaults]
        output.print_json(
            {
                "project": said,
                "store": store.home,
                "index": store.database.path,
                "vaults": vaults,
                "problems": problems,
                "may_be_former": [asdict(each) for each in noticing.offered(store)],
            }
        )
        return
    if project:
        click.echo(f"project   {project.name}  ({project.key})\nbecause   of {project.reason}")
    else:
        click.echo("project   none: this is the home folder or above it, so memories are the person's")
    click.echo(f"store     {store.home}\nindex     {store.database.path}")
    for problem in problems:
        click.echo(f"note      {problem}")
    for vault in store.vaults:
        note = "" if vault.adopted else "  (came with the repository: nothing new is stored there)"
        click.echo(f"{vault.level.value:<9} {vault.root}{note}")
    for may_be in noticing.offered(store):
        click.echo(f"perhaps   {visible(noticing.offer([may_be]))}")
    if project:
        for former in places.former_folders(store.home, project):
            own = former.with_name(project.key)
            click.echo(f"before    {former}  (this folder as another project; its files may move to {own})")


def _of_kind(number: int, kind: str) -> str:
    """Return how many memories of a kind there are: "2 sessions", "3 knowledge"."""
    return f"{number:,} {kind}" if kind == Kind.KNOWLEDGE else counted(number, kind)


@click.command("status")
@as_json
def status_command(as_json: bool) -> None:
    """Tell how the memory stands, and what needs you.

    Example: daybook status
    """
    opened = output.opened()
    store = opened.store()
    sync_if_free(store)
    state = status(store, has_key=has_key(*model_key(opened.environment)))
    if as_json:
        output.print_json(asdict(state))
        return
    stats = state.stats
    project = store.project.name if store.project else "no project"
    click.echo(
        f"{counted(stats.memories, 'memory')} for {project}"
        + "".join(f", {_of_kind(n, kind)}" for kind, n in stats.counts.by_kind.items())
    )
    click.echo(
        f"embedding model {stats.model}, {stats.pending} of {stats.passages} passages waiting to be embedded"
    )
    if stats.coming:
        waiting = counted(stats.coming_pending, "passage")
        click.echo(f"embedding model {stats.coming} comes, waiting for it: {waiting}")
    capture, spent = state.capture, state.spending
    click.echo(
        f"capture {capture.mode}, last session kept {capture.last or 'none yet'}, {capture.unkept} to keep"
    )
    if capture.model_calls:
        settings = store.settings
        click.echo(
            f"model calls today {spent.today_calls} of {settings.daily_calls},"
            f" spent {spent.today} of ${settings.daily_usd:.2f},"
            f" {bytes_of(capture.unlearned_bytes)} of {counted(capture.unlearned, 'session')} to learn from"
        )
        if spent.paused_until:
            click.echo(f"the model is left alone until {spent.paused_until:%H:%M} UTC: {spent.paused_reason}")
    elif store.settings.on_plan:
        click.echo(
            f"calls on your plan today {spent.plan_calls} of {store.settings.daily_plan_calls},"
            f" {bytes_of(capture.unlearned_bytes)} of {counted(capture.unlearned, 'session')} to learn from"
        )
        if until := spent.plan_paused_until:
            click.echo(f"the model is left alone until {until:%H:%M} UTC: {spent.plan_paused_reason}")
    else:
        never = (
            "the model is not called" if spent.sessions else "the model is never called, nothing was spent"
        )
        click.echo(f"{never}: 'daybook setup' would allow it")
    for name, cost in spent.sessions:
        click.echo(f"  learning from session {name}: {cost}")
    for need in state.needs:
        click.echo(f"! {need}")
    if not state.needs:
        click.echo("Nothing needs you.")


@click.command("stats")
@click.option("--days", default=30, show_default=True, help="How far to look back for use; 0 for all time.")
@as_json
def stats_command(days: int, as_json: bool) -> None:
    """Count what there is, how large it is, how often it was used, and to what good.

    Example: daybook stats --days 7
    """
    store = output.opened().store()
    sync_if_free(store)
    output.print_shown(figures.metrics(metrics(store, days=days)), as_json=as_json)


@click.command("doctor")
@as_json
def doctor_command(as_json: bool) -> None:
    """Try every part for real: store, index, embedding model, a round trip, hooks.

    Example: daybook doctor
    """
    checks = []
    for check in checking.doctor(output.opened().store(), plugin=PLUGIN):
        checks.append(check)
        if not as_json:
            mark = click.style("ok  ", fg="green") if check.well else click.style("FAIL", fg="red")
            click.echo(f"{mark}  {check.name}: {check.seen}")
            if check.advice and not check.well:
                click.echo(f"      {check.advice}")
    if as_json:
        output.print_json([asdict(check) for check in checks])
    sys.exit(0 if all(check.well for check in checks) else 1)


COMMANDS = (
    sync_command,
    where_command,
    status_command,
    stats_command,
    doctor_command,
)
