"""Commands that take in what others keep, and give away what is here: import, export."""

import json
from pathlib import Path

import click

from mcp_server.actions.exchange.auto_memory import import_auto_memory
from mcp_server.actions.exchange.export import export_folder, export_json, write_document
from mcp_server.actions.exchange.imports.formats import readings_of
from mcp_server.actions.exchange.imports.take import take
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.adapters.auto_memory_folder import WHAT as AUTO_MEMORY
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.author import author
from mcp_server.doors.cli.output import OWN_LEVELS, as_json
from mcp_server.doors.shown.taken_in import exported, taken_in

IMPORTING = "importing memories"
WHAT = {
    AUTO_MEMORY: "Claude Code's own memory of this project",
    "memory-mcp": "a project's .memory/state.json",
    "memory-mcp-db": "a memory.db in SQLite, or mcp-memory-service's sqlite_vec.db",
    "knowledge-graph": "a graph.json or user.json",
    "claude-memory": "a folder of files named by UUIDs",
    "memory-jsonl": "the memory.jsonl of the reference memory server",
    "memories-json": "a JSON export of mcp-memory-service, mem0 or claude-mem",
    "notes": "a folder of markdown: Obsidian, Logseq, Notion, basic-memory",
    "daybook": "what 'daybook export' wrote, folder or JSON",
}
KINDS = "\n".join(["\b", "WHAT is one of:", *(f"  {name:<17}{about}" for name, about in WHAT.items())])

STOPPED = "What was imported until then stays; the same command imports the rest."


@click.command("import", epilog=KINDS)
@click.argument("what", type=click.Choice(tuple(WHAT)), metavar="WHAT")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--level",
    type=OWN_LEVELS,
    help="The level of all imported memories; by default what the source suggests.",
)
@click.option(
    "--mine",
    is_flag=True,
    help="With 'daybook': keep the source of each memory, and what looks like a secret.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be imported; write nothing.")
@as_json
def import_command(what: str, path: Path | None, level: Level | None, mine: bool, dry_run: bool) -> None:
    """Import the memories of other tools, notes, or an export.

    Importing again takes in what is new or changed in the source. The source is not changed, and what you
    edited or forgot here stays that way. Leave out PATH if the tool has a usual place.

    Example: daybook import memory-mcp --dry-run
    """
    if mine and what != "daybook":
        raise Rejected("--mine is for what 'daybook export' wrote.", "Leave it out.")
    opened = output.opened()
    # What is imported may be shown unasked, and with --mine it is the person's own word.
    if not dry_run and author(opened) != MANUAL:
        person.require(IMPORTING)
    store = opened.store()
    sync_if_free(store)  # a first time takes long, and is shown by itself
    if what != AUTO_MEMORY:
        readings = readings_of(store, what, path, level=level, own_export=mine)
        total, stopped = sum(len(reading.records) for reading in readings), "" if dry_run else STOPPED
        with output.progress(total, "Importing", stopped=stopped) as advance:
            imported = take(
                store,
                readings,
                source_name=what,
                level=level,
                dry_run=dry_run,
                own_export=mine,
                progress=advance,
            )
    elif path or level:
        raise Rejected("The auto memory has its place and its levels.", "Leave out PATH and --level.")
    else:
        claude = claude_folder(opened.environment)
        imported = [import_auto_memory(store, claude, folder=opened.folder, dry_run=dry_run)]
    output.print_shown(taken_in(imported, format_name=what, dry_run=dry_run))


@click.command("export")
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown")
@click.option("--level", type=OWN_LEVELS)
@click.option("--all-projects", is_flag=True, help="Every project's memories, not only this one's.")
@as_json
def export_command(target: Path, form: str, level: Level | None, all_projects: bool) -> None:
    """Write all memories into a new folder as files, or into one JSON document.

    TARGET is a new or empty folder; with --format json, a new file, or - for standard output. Secrets are not
    masked in the export; only you can read its files.

    Example: daybook export ~/daybook-export --all-projects
    """
    if form != "json" and str(target) == "-":
        raise Rejected("A folder cannot be written to the standard output.", "Add --format json.")
    store = output.opened().store()
    with output.writing(target):
        if form == "json":
            document, report = export_json(store, level=level, all_projects=all_projects)
            text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
            if str(target) == "-":
                click.echo(text, nl=False)
            else:
                write_document(store, target, text.encode("utf-8", "replace"))
        else:
            report = export_folder(store, target, level=level, all_projects=all_projects)
    if str(target) != "-":
        output.print_shown(exported(report, target))


COMMANDS = {"Other programs": (import_command, export_command)}
