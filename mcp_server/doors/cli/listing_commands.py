"""Commands that tell what there is, and how well it is found: list, stats, bench."""

from dataclasses import asdict

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import get_stats, list_memories
from mcp_server.core.memory import Kind
from mcp_server.core.render import counted
from mcp_server.core.search.query import filter_of
from mcp_server.doors.cli import given, output
from mcp_server.doors.cli.output import LEVELS, as_json
from mcp_server.doors.shown.figures import stats
from mcp_server.doors.shown.memory import listed


@click.command("list")
@click.option("--type", "type_", default="")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]))
@click.option("--tags", default="", help="Only with all these tags, with commas between them.")
@click.option("--any-tags", default="", help="Only with one of these tags.")
@click.option("--category", default="")
@click.option("--since", default="", help="Only updated on or after this date.")
@click.option("--until", default="", help="Only updated before this date.")
@click.option("--level", type=LEVELS)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1))
@click.option("--offset", default=0, type=click.IntRange(min=0))
@click.option("--order", type=click.Choice(["updated", "created", "title"]), default="updated")
@click.option("--all-projects", is_flag=True)
@click.option("--include-archived", is_flag=True)
@as_json
def list_command(
    type_: str,
    kind: str | None,
    tags: str,
    any_tags: str,
    category: str,
    since: str,
    until: str,
    level: str | None,
    limit: int,
    offset: int,
    order: str,
    all_projects: bool,
    include_archived: bool,
    as_json: bool,
) -> None:
    """List memories, newest first.

    Example: daybook list --type decision
    """
    store = output.opened().store()
    sync_if_free(store)
    filter = filter_of(
        level=level,
        kind=kind,
        type=type_,
        tags=given.tags(tags, any_tags),
        category=category,
        since=since,
        until=until,
        all_projects=all_projects,
        include_archived=include_archived,
    )
    found = list_memories(store, filter, limit=limit, offset=offset, order=order)
    if not found.rows and not as_json:
        there = found.total or get_stats(store).memories
        click.echo(
            f"Of {counted(there, 'memory')} none is listed so; try other filters, or a smaller --offset."
            if there
            else 'No memories yet. Store one with: daybook remember "Title | what to remember"'
        )
        return
    output.print_shown(listed(found, offset), as_json=as_json)


@click.command("stats")
@as_json
def stats_command(as_json: bool) -> None:
    """Count memories by kind, type, status and tag.

    Example: daybook stats --json
    """
    store = output.opened().store()
    sync_if_free(store)
    output.print_shown(stats(get_stats(store)), as_json=as_json)


@click.command("bench")
@click.option(
    "--most", default=200, show_default=True, type=click.IntRange(1, 100_000), help="Memories asked for."
)
@as_json
def bench_command(most: int, as_json: bool) -> None:
    """Ask your own memories for themselves, and tell which are hard to find and what is found instead.

    By title, by the title of what links to them, and by what was asked when they were of use.

    Example: daybook bench
    """
    from mcp_server.actions.status import bench as benching  # whoever lists need not wait for what recalls

    store = output.opened().store()
    sync_if_free(store)
    with output.progress(min(most, get_stats(store).memories), "Asking") as advance:
        found = benching.bench(store, most=most, progress=advance)
    kinds = [(how, found.of(how)) for how in ("title", "link", "use")]
    if as_json:
        output.print_json([asdict(question) for question in found.asked])
        return
    if not found.asked:
        click.echo("There is nothing to ask for yet.")
        return
    rows = [
        [how, len(asked), *(f"{benching.share_within(asked, places):.2f}" for places in (1, 5, 10)),
         f"{benching.mean_reciprocal_rank(asked):.2f}",
         f"{sorted(each.milliseconds for each in asked)[len(asked) // 2]:.0f} ms"]
        for how, asked in kinds if asked
    ]  # fmt: skip
    output.print_table(["asked by", "questions", "first", "in 5", "in 10", "MRR", "median"], rows)
    if found.weak:
        click.echo(
            f"\nHard to find ({len(found.weak)}); a telling title helps, or merging what resembles it:"
        )
        output.print_table(
            ["memory", "asked by", "question", "place", "found instead"],
            [[w.id, w.how, w.text[:50], w.place or "-", w.first] for w in found.weak[:15]],
        )


COMMANDS = (list_command, stats_command, bench_command)
