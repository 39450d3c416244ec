"""
The command recall.

It is a module of its own, so that it starts without what only commands that change memories import.
"""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall.recall import note_found
from mcp_server.actions.team.recall import recall_with_team
from mcp_server.core.render import counted
from mcp_server.core.search.query import (
    PRESETS,
    Filter,
    Mode,
    Query,
    Sort,
    check_question,
    parse_mode,
    with_preset,
)
from mcp_server.doors.cli import filter_options, output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown.recall import EXCERPT, answered
from mcp_server.store import Store

FEW = 64  # passages: about a second


@click.command("recall")
@click.argument("words", nargs=-1, required=True)
@click.option("--mode", default="hybrid", help="hybrid, keyword or semantic.")
@click.option("--limit", default=5, show_default=True, help="How many, 1 to 50.")
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="precision: 3 answers, confident ones only; exploratory: 10.",
)
@click.option("--sort", type=click.Choice([sort.value for sort in Sort]), default="composite")
@filter_options.filtered("as_of", "touches")
@click.option("--as-of", default="", help="What was valid on this date.")
@click.option("--touches", default="", help="Only about this file.")
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
    as_json: bool,
) -> None:
    """Find the memories that answer a question best, by words and by meaning.

    Example: daybook recall "how do we verify stripe webhooks" --explain
    """
    question = check_question(" ".join(words))
    opened = output.opened(searches=True)
    store = opened.store()
    sync_if_free(store)
    query = Query(question, parse_mode(mode), Sort(sort), limit, expand=expand, filter=filter)
    query = with_preset(query, preset)
    if query.mode is not Mode.KEYWORD:
        _embed_few(store)
    answer = recall_with_team(store, query)
    note_found(store, answer)
    problem = opened.meaning.problem
    if query.mode is Mode.SEMANTIC and store.settings.embedding_model == "none":
        problem = "EMBEDDING_MODEL is none."
    if problem and not as_json:
        click.echo(problem if answer.semantic else f"Searched by words only: {problem}", err=True)
    result = answered(answer, query.text, most=EXCERPT, explain=explain)
    output.print_shown(result, as_json=as_json, texts=True)


def _embed_few(store: Store) -> None:
    """Embed what was written since the last session; a long wait is for the person to ask for."""
    waiting = pending(store)
    if waiting <= FEW:
        embed_pending(store, replace=False)
    elif store.settings.embedding_model != "none":
        click.echo(
            f"Found by words only until 'daybook sync' has run: {counted(waiting, 'passage')}.", err=True
        )


COMMANDS = (recall_command,)
