"""Commands for curation: link, unlink, related, contradictions, mine, seed, bootstrap."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from mcp_server.actions.capture import mine
from mcp_server.actions.exchange import seed
from mcp_server.actions.exchange.imports.batch import Imported
from mcp_server.actions.exchange.seed import Options
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.judge import contradiction
from mcp_server.actions.judge.compare_and_store import kept_from_link
from mcp_server.actions.judge.taking_back import kept_from_unlinking
from mcp_server.actions.memory import link, related
from mcp_server.actions.memory.repository import from_documents
from mcp_server.adapters.index.events.imports import DOCUMENT
from mcp_server.core.errors import PersonNeeded, Rejected
from mcp_server.core.links import RESERVED
from mcp_server.core.memory_parts import Level, split_list
from mcp_server.core.memory_types import TYPES
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.doors.cli import output, person, text_input
from mcp_server.doors.cli.author import author, turns
from mcp_server.doors.cli.import_commands import STOPPED
from mcp_server.doors.cli.output import OWN_LEVELS, as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import links, mining
from mcp_server.doors.shown.persons_acts import REPLACING, SETTLING_CONTRADICTION, TAKING_BACK
from mcp_server.doors.shown.taken_in import taken_in
from mcp_server.store import Reading as Watching
from mcp_server.store import Store


@click.command("link")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--rel", default="", help=f"{', '.join(RESERVED)}, or any label.")
def link_command(source: str, target: str, rel: str) -> None:
    """Link a memory to another one or to a file.

    The label supersedes makes the other memory superseded; contradicts marks the older of the two.

    Example: daybook link billing-k3f9 src/billing.py:42 --rel implemented-in
    """
    opened = output.opened()
    store = opened.store()
    sync_if_free(store)
    if author(opened) != MANUAL and kept_from_link(store, source, target, rel, turns=turns(opened)):
        raise PersonNeeded(REPLACING, person.typed())
    outcome = link.link(store, source, target, rel)
    output.print_shown(links.linked(outcome))


@click.command("unlink")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--rel", default="", help="Only this label; by default every link between them.")
def unlink_command(source: str, target: str, rel: str) -> None:
    """Remove a link.

    A memory that was superseded through it becomes active again.

    Example: daybook unlink billing-k3f9 old-billing-x2aa --rel supersedes
    """
    opened = output.opened()
    store = opened.store()
    sync_if_free(store)
    if author(opened) != MANUAL and kept_from_unlinking(store, source, target, rel, turns=turns(opened)):
        raise PersonNeeded(TAKING_BACK, person.typed())
    output.print_shown(links.unlinked(link.unlink(store, source, target, rel)))


@click.command("related")
@click.argument("memory_id", metavar="[ID]", default="")
@click.option("--tags", default="", help="Memories with any of these tags, with commas between them.")
@as_json
def related_command(memory_id: str, tags: str) -> None:
    """List what a memory is linked with, or the memories with any of some tags.

    Example: daybook related billing-k3f9
    """
    relations = related.get_related(output.synced(), memory_id, tags=split_list(tags))
    output.print_shown(links.related(relations))


@click.command("contradictions")
@click.option("--find", is_flag=True, help="Look for memories that may contradict each other.")
@click.option("--about", default="", metavar="ID", help="With --find: only with this memory.")
@click.option("--limit", default=20, show_default=True, help="With --find: how many pairs, 1 to 50.")
@click.option("--mark", nargs=2, metavar="ID OTHER", help="Say that these two contradict each other.")
@click.option("--resolve", nargs=2, metavar="ID OTHER", help="Settle the pair: the first memory is right.")
@click.option(
    "--how", type=click.Choice(contradiction.WAYS), help="With --resolve: what happens to the other memory."
)
@as_json
def contradictions_command(
    find: bool,
    about: str,
    limit: int,
    mark: tuple[str, str] | None,
    resolve: tuple[str, str] | None,
    how: str | None,
) -> None:
    """List memories that contradict each other; find, mark or settle a pair.

    Example: daybook contradictions --resolve new-x2aa old-k3f9 --how supersede
    """
    if how and not resolve:
        raise Rejected("--how says how --resolve settles a pair.", "Add --resolve ID OTHER.")
    if mark:
        heed_only("--mark", "--json", where="with --mark")
    elif resolve:
        heed_only("--resolve", "--how", "--json", where="with --resolve")
    elif not (find or about):
        heed_only("--json", where="without --find")
    store = output.synced()
    if mark:
        output.print_shown(links.linked(contradiction.mark_contradiction(store, *mark)))
        return
    if resolve:
        if not how:
            raise Rejected("How is it settled?", f"Add --how with one of: {', '.join(contradiction.WAYS)}.")
        person.require(SETTLING_CONTRADICTION)
        output.print_shown(links.settled_pair(contradiction.resolve_contradiction(store, *resolve, how)))
        return
    if find or about:
        pairs = contradiction.find_contradictions(store, about, limit=limit)
        result = links.proposed_pairs(pairs, settling=links.SAY)
    else:
        result = links.marked_pairs(contradiction.get_contradictions(store))
    output.print_shown(result, texts=True)


@click.command("mine")
@click.option("--hours", default=24.0, show_default=True, help="How far to look back, at most 168.")
@click.option("--log", "logged", metavar="FILE", help="Add a file, or '-' for standard input, to the log.")
@click.option("--status", is_flag=True, help="Only show the size of the log, and what the last runs found.")
@as_json
def mine_command(hours: float, logged: str | None, status: bool) -> None:
    """Look for recurring facts in logs and conversations, or log some output.

    Example: daybook mine --log build.txt
    """
    if logged is not None:
        heed_only("--log", "--json", where="with --log")
    elif status:
        heed_only("--status", "--json", where="with --status")
    opened = output.opened()
    store = opened.store()
    sync_if_free(store)
    if logged is not None:
        if logged == "-":
            text = sys.stdin.buffer.read(mine.MOST_LOGGED + 1).decode("utf-8", "replace")
        else:
            text = mine.read_output(Path(logged).absolute())
        output.print_shown(mining.logged(mine.log_output(store, text)))
        return
    result = (
        mining.status(mine.mining_status(store))
        if status
        else mining.mined(mine.run_mining(store, hours=hours))
    )
    output.print_shown(result)


@click.command("seed")
@click.argument("file", default="-")
@click.option("--name", default="", help="For standard input: a name for the text.")
@click.option(
    "--type", "type_", default="", help=f"One of: {', '.join(TYPES)}; by default chosen by the headings."
)
@click.option("--tags", default="", help="Tags, with commas between them.")
@click.option("--level", type=OWN_LEVELS, help="user: holds everywhere; project: belongs to this code base.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@as_json
def seed_command(file: str, name: str, type_: str, tags: str, level: Level | None, dry_run: bool) -> None:
    """Make memories from a text file, one for each section.

    Running it again takes in what changed in the file.

    Example: daybook seed notes/decisions.md --type decision
    """
    options = Options(type_, level, split_list(tags))
    store = output.opened().store()
    if file == "-":
        text = text_input.standard_input("the text to seed")
        imported = seed.seed_from_text(
            store, text, name=name, options=options, dry_run=dry_run, watching=_watching(dry_run=dry_run)
        )
    elif name:
        raise Rejected("--name is for standard input: a file has a name.", "Leave it out.")
    else:
        path = Path(file).absolute()
        if author(output.opened()) != MANUAL and seed.outside_project(store, path):
            person.require(seed.READING_OUTSIDE)
        imported = seed.seed_from_file(
            store, path, options=options, dry_run=dry_run, watching=_watching(dry_run=dry_run)
        )
    _print_seeded(store, imported, dry_run=dry_run)


@click.command("bootstrap")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@as_json
def bootstrap_command(dry_run: bool) -> None:
    """Make memories from this project's CLAUDE.md, README, docs and rules of other agents.

    Example: daybook bootstrap --dry-run
    """
    store = output.opened().store()
    imported = seed.bootstrap_project(store, dry_run=dry_run, watching=_watching(dry_run=dry_run))
    _print_seeded(store, imported, dry_run=dry_run)


def _watching(*, dry_run: bool) -> Watching:
    """Return what shows a person how many sections are done."""
    return lambda sections: output.progress(sections, "Taking in", stopped="" if dry_run else STOPPED)


def _print_seeded(store: Store, imported: Sequence[Imported], *, dry_run: bool) -> None:
    output.print_shown(
        taken_in(imported, format_name=DOCUMENT, dry_run=dry_run, waiting=from_documents(store))
    )


COMMANDS = {
    "Memories": (link_command, unlink_command, related_command, contradictions_command),
    "Learning": (mine_command, seed_command, bootstrap_command),
}
