"""Commands that take in what others keep: import."""

from dataclasses import asdict

import click

from mcp_server.actions.auto_memory import AutoMemory, Outcome, counts, import_auto_memory
from mcp_server.actions.sync import sync
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json

AUTO_MEMORY = "auto-memory"


@click.command("import")
@click.argument("what", type=click.Choice([AUTO_MEMORY]))
@click.option("--dry-run", is_flag=True, help="Only tell what would be taken in; nothing is written.")
@as_json
def import_command(what: str, dry_run: bool, as_json: bool) -> None:
    """Take in what Claude Code noted in its own memory of this project.

    Importing again takes in what is new or has changed there; those files stay as they are.

    Example: daybook import auto-memory --dry-run
    """
    opened = output.opened()
    store = opened.store()
    if not dry_run:
        sync(store)
    done = import_auto_memory(store, claude_folder(opened.environment), folder=opened.folder, dry_run=dry_run)
    if as_json:
        output.print_json(
            {
                "folder": done.place.folder,
                "looked": done.place.looked,
                "dry_run": dry_run,
                "topics": [asdict(one) for one in done.topics],
            }
        )
        return
    _tell(done, dry_run=dry_run)


def _tell(done: AutoMemory, *, dry_run: bool) -> None:
    if done.place.folder is None:
        places = " or ".join(map(str, done.place.looked))
        click.echo(f"Claude Code keeps no memory of this project: there is no {places}.")
        return
    if not done.topics:
        click.echo(f"There are no topic files in {done.place.folder}.")
        return
    rows = [[one.file[:40], one.outcome.value, one.id, one.why] for one in done.topics]
    output.print_table(["file", "would be" if dry_run else "outcome", "id", "why"], rows)
    number = counts(done.topics)
    told = ", ".join(f"{number[outcome]} {outcome.value}" for outcome in Outcome if number[outcome])
    click.echo(f"{done.place.folder}: {told}.")


COMMANDS = (import_command,)
