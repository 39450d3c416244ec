"""Commands for the store: sync, where, status, doctor, stats, maintain."""

import sys
from pathlib import Path

import click

from mcp_server.actions.context import notice as noticing
from mcp_server.actions.files.sync import sync, sync_if_free
from mcp_server.actions.judge.candidate import unreadable_candidates
from mcp_server.actions.memory import repository
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.status import doctor as checking
from mcp_server.actions.status.stats import get_stats, metrics
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep import maintain
from mcp_server.adapters import places
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.bootstrap import has_key, model_key
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import figures, upkeep
from mcp_server.doors.shown import state as shown
from mcp_server.doors.shown.doctor import checked
from mcp_server.doors.shown.persons_acts import EMPTYING_TRASH
from mcp_server.store import Store

PLUGIN = Path(__file__).resolve().parents[3]
CLEAN, REBUILD = "clean", "rebuild"


@click.command("sync")
@click.option("--deep", is_flag=True, help="Read every file, even if its size and time did not change.")
@as_json
def sync_command(deep: bool) -> None:
    """Bring the index up to date with the files. You rarely need it: sessions and commands do it.

    Example: daybook sync --deep
    """
    store = output.opened(takes_in=True).store()
    report = sync(store, vaults=places.all_vaults(store.home, store.vaults), deep=deep)
    report.unreadable += unreadable_candidates(store)
    _embed(store)
    output.print_shown(shown.synced(report))


@click.command("where")
@as_json
def where_command() -> None:
    """Show which project this folder belongs to, why, and where its memories are.

    Example: daybook where
    """
    opened = output.opened()
    store = opened.store()
    project = store.project
    result = shown.where(
        project,
        store.vaults,
        store=store.home,
        index=store.database.path,
        refused=repository.refused(store),
        git=repository.git_trouble(store, opened.folder),
        may_be=noticing.offered(store),
    )
    output.print_shown(result)


@click.command("status")
@as_json
def status_command() -> None:
    """Show the state of the memory, and what needs you.

    Example: daybook status
    """
    opened = output.opened()
    store = opened.store()
    sync_if_free(store)
    state = status(
        store,
        has_key=has_key(*model_key(opened.environment)),
        transcripts=claude_folder(opened.environment) / "projects",
    )
    project = store.project.name if store.project else ""
    output.print_shown(shown.status(state, project=project, settings=store.settings))


@click.command("doctor")
@as_json
def doctor_command() -> None:
    """Test every part: store, index, embedding model, a round trip, hooks.

    Example: daybook doctor
    """
    checks = []
    for check in checking.doctor(output.opened().store(), plugin=PLUGIN):
        checks.append(check)
        if not output.wants_json():  # each as soon as it is known, for some take seconds
            output.print_shown(checked(check))
    if output.wants_json():
        output.print_json([checked(check).json for check in checks])
    sys.exit(0 if all(check.well for check in checks) else 1)


@click.command("stats")
@click.option("--days", default=30, show_default=True, help="How far to look back for use; 0 for all time.")
@as_json
def stats_command(days: int) -> None:
    """Count memories, their size, their use, and how often that helped.

    Example: daybook stats --days 7
    """
    store = output.synced()
    output.print_shown(figures.metrics(metrics(store, days=days)))


@click.command("maintain")
@click.argument("action", type=click.Choice([*maintain.ACTIONS, CLEAN]), default="check")
@click.option(
    "--apply", is_flag=True, help="With clean: carry out the plan; without --apply it is only shown."
)
@as_json
def maintain_command(action: str, apply: bool) -> None:
    """Check the index, shrink it (vacuum), rebuild it, do all three, or clean up.

    Example: daybook maintain clean --apply
    """
    heed_only("ACTION", "--json", *(["--apply"] if action == CLEAN else []), where=f"with '{action}'")
    if apply:
        person.require(EMPTYING_TRASH)
    store = output.opened().store()
    if action == CLEAN:
        output.print_shown(upkeep.cleaned(maintain.clean_up(store, dry_run=not apply)))
        if not (apply or output.wants_json()):
            click.echo("--apply does it.")
        return
    sync_if_free(store)
    steps = maintain.maintain(store, action)
    if any(step.action == REBUILD for step in steps):
        _embed(store)
    output.print_shown(upkeep.steps(steps))


def _embed(store: Store) -> None:
    """Embed the passages that lack a vector, while a bar shows how far that is."""
    if pending := get_stats(store).pending:
        with output.progress(pending, "Embedding") as advance:
            embed_pending(store, progress=advance)
        if problem := store.meaning.problem:
            click.echo(problem, err=True)


COMMANDS = {
    "The store": (sync_command, status_command, doctor_command, stats_command, maintain_command),
    "This project": (where_command,),
}
