"""
Commands that find memories: recall by a question, list by their properties.

They are a module of their own, so that they start without what only commands that change memories import.
"""

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any

import click

from mcp_server.actions.files.sync import if_free, sync_if_free
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall.recall import note_found
from mcp_server.actions.team.recall import recall_with_team
from mcp_server.adapters.patient_call import PatientCall, StillRunning
from mcp_server.core.embedding_models import is_endpoint
from mcp_server.core.memory_parts import Kind, split_list
from mcp_server.core.render import counted
from mcp_server.core.search.query import (
    DEFAULT_LIMIT,
    PRESETS,
    Filter,
    Mode,
    Query,
    Sort,
    check_question,
    filter_of,
    parse_mode,
    with_preset,
)
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import LEVELS, as_json
from mcp_server.doors.cli.typed_parameters import is_typed
from mcp_server.doors.shown.recall import EXCERPT, TERMINAL, answered
from mcp_server.store import Store

FEW = 64  # passages: about a second, of a model of our own
PATIENCE = 3.0  # seconds for an endpoint that embeds them
TEAM_PATIENCE = 3.0  # seconds: a command first loads what asks the team, beside the model
_FILTERS = (
    click.option("--type", default="", help="Only knowledge of this type."),
    click.option(
        "--kind",
        type=click.Choice([kind.value for kind in Kind]),
        help="Only this kind; conversation also finds what subagents said.",
    ),
    click.option("--tags", default="", help="Only with all these tags, with commas between them."),
    click.option("--any-tags", default="", help="Only with one of these tags."),
    click.option("--category", default="", help="Only of this category."),
    click.option("--level", type=LEVELS),
    click.option("--since", default="", metavar="DATE", help="Only updated on or after this date."),
    click.option("--until", default="", metavar="DATE", help="Only updated before this date."),
    click.option("--all-projects", is_flag=True, help="From every project."),
    click.option("--include-archived", is_flag=True, help="Also find superseded and archived memories."),
)


def _filtered(*more: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Return what gives a command the options that choose among memories; it takes them as one Filter, `filter`.

    *more* are further names of options whose values belong to the filter.
    """
    names = ("type", "kind", "category", "level", "since", "until", "all_projects", "include_archived", *more)

    def add_options(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_filter(*, tags: str, any_tags: str, **values: Any) -> None:
            wanted_tags = (*split_list(tags), *filter(None, ["|".join(split_list(any_tags))]))
            chosen = filter_of(tags=wanted_tags, **{name: values.pop(name) for name in names})
            command(**values, filter=chosen)

        for option in reversed(_FILTERS):
            with_filter = option(with_filter)
        return with_filter

    return add_options


@click.command("recall")
@click.argument("words", nargs=-1, required=True)
@click.option("--mode", default="hybrid", help="hybrid, keyword or semantic.")
@click.option("--limit", default=DEFAULT_LIMIT, show_default=True, help="How many, 1 to 50.")
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="precision: 3 answers, confident ones only; exploratory: 10.",
)
@click.option("--sort", type=click.Choice([sort.value for sort in Sort]), default="composite")
@_filtered("as_of", "touches")
@click.option("--as-of", default="", metavar="DATE", help="What was valid at the end of this date.")
@click.option("--touches", default="", metavar="PATH", help="Only about this file.")
@click.option("--expand", is_flag=True, help="Also show what the hits link to.")
@click.option("--explain", is_flag=True, help="Show how each score came about.")
@as_json
def recall_command(
    words: tuple[str, ...],
    mode: str,
    limit: int,
    preset: str | None,
    sort: str,
    filter: Filter,
    expand: bool,
    explain: bool,
) -> None:
    """Find the memories that answer a question best, by words and by meaning.

    Example: daybook recall "how do we verify stripe webhooks" --explain
    """
    question = check_question(" ".join(words))
    opened = output.opened(searches=True)
    store = opened.store()
    sync_if_free(store)
    query = Query(question, parse_mode(mode), Sort(sort), limit, expand=expand, filter=filter)
    query = with_preset(query, preset, has_limit=is_typed("limit"))
    if query.mode is not Mode.KEYWORD:
        _embed_few(store)
    answer = recall_with_team(store, query, patience=TEAM_PATIENCE)
    note_found(store, answer)
    problem = opened.meaning.problem
    if query.mode is Mode.SEMANTIC and store.settings.embedding_model == "none":
        problem = "EMBEDDING_MODEL is none."
    if problem and not output.wants_json():
        click.echo(problem if answer.semantic else f"Searched by words only: {problem}", err=True)
    result = answered(answer, query.text, most=EXCERPT, explain=explain, advice=TERMINAL)
    output.print_shown(result, texts=True)


def _embed_few(store: Store) -> None:
    """Embed what was written since the last session; a long wait is for the person to ask for."""
    waiting = pending(store)
    if waiting <= FEW:
        patience = PATIENCE if is_endpoint(store.settings.embedding_model) else math.inf
        embedding = PatientCall(lambda: embed_pending(store, replace=False), name="embed-few")
        with if_free(store), contextlib.suppress(StillRunning):
            embedding.result(patience)
    elif store.settings.embedding_model != "none":
        click.echo(
            f"Found by words only until 'daybook sync' has run: {counted(waiting, 'passage')}.", err=True
        )


@click.command("list")
@_filtered()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1))
@click.option("--offset", default=0, type=click.IntRange(min=0))
@as_json
def list_command(filter: Filter, limit: int, offset: int) -> None:
    """List memories, newest first.

    Example: daybook list --type decision
    """
    from mcp_server.actions.memory.list import list_memories  # these load what a recall does not need
    from mcp_server.doors.shown.rows import listed

    store = output.synced()
    listing = list_memories(store, filter, limit=limit, offset=offset)
    if not (listing.rows or output.wants_json() or listing.of_copy):
        from mcp_server.actions.status.stats import get_stats  # slow to load, and a list does not need it

        number = listing.total or get_stats(store).memories
        click.echo(
            f"Of {counted(number, 'memory')} none is listed so;"
            " try other filters, --include-archived, or a smaller --offset."
            if number
            else 'No memories yet. Store one with: daybook remember "Title | what to remember"'
        )
        return
    output.print_shown(listed(listing, offset))


COMMANDS = {"Memories": (recall_command, list_command)}
