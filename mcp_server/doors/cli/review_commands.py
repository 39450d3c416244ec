"""Commands for what waits for the person: review, and a command for each word that settles something."""

import sys
from collections.abc import Sequence

import click

from mcp_server.actions.review import review
from mcp_server.actions.review.entries import Entry, Verdict
from mcp_server.core.errors import DaybookError, NotFound
from mcp_server.core.render import visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.suggesting_group import SuggestingGroup
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import review as shown
from mcp_server.doors.shown.persons_acts import SETTLING
from mcp_server.store import Store

SAVE_MERGED = "Save the merged text?"


@click.group("review", cls=SuggestingGroup, invoke_without_command=True)
@click.option("--limit", default=review.MOST, show_default=True, type=click.IntRange(1, 1000))
@as_json
@click.pass_context
def review_group(context: click.Context, limit: int) -> None:
    """List what waits for your decision, and ask you about each entry.

    Example: daybook review
    """
    if context.invoked_subcommand:
        heed_only("--json", where=f"with '{context.invoked_subcommand}'")
        return
    store = _store()
    waiting = review.review(store, limit=limit)
    output.print_shown(shown.waiting(waiting))
    if waiting.entries and not output.wants_json() and person.is_here():
        _ask(store, waiting.entries)


def _settling(verdict: Verdict, help_text: str, example: str, question: str = "") -> None:
    """Add the command by which *verdict* settles what waits, after a yes to *question* if there is one."""

    @review_group.command(verdict.value, help=f"{help_text}\n\nExample: daybook review {verdict} {example}")
    @click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
    def settle(memory_ids: tuple[str, ...]) -> None:
        _settle(memory_ids, verdict, question)


MEMORY, PAIR = "stripe-webhook-raw-body-k3f9", "timeout-is-60-x2aa+timeout-is-30-k3f9"
_settling(
    Verdict.ACCEPT,
    "Show waiting entries, and accept them as shown once you agree.",
    MEMORY,
    "Accept what is shown above?",
)
_settling(Verdict.REJECT, "Move waiting entries to the trash; 'daybook undo' brings them back.", MEMORY)
_settling(Verdict.HOLDS, "Say that memories are still right although their files changed.", MEMORY)
_settling(
    Verdict.REPLACES,
    "Show pairs, and once you agree let the first memory replace the second.",
    PAIR,
    "Let the first replace the second?",
)
_settling(
    Verdict.KEEP_BOTH,
    "Say that both memories of a pair are right; asked again only when one of them changes.",
    PAIR,
)
_settling(
    Verdict.MERGE,
    "Show the merged text of a pair, and save it once you agree.",
    PAIR,
    SAVE_MERGED,
)


def _settle(memory_ids: Sequence[str], verdict: Verdict, question: str = "") -> None:
    """
    Settle the entries with these ids by one word, after a yes to *question* if there is one.

    What is not known or is refused stops no other; the exit status tells of it.
    """
    person.require(SETTLING)
    store = _store()
    waiting = review.review(store, memory_ids)
    entries = [entry for entry in waiting.entries if verdict in entry.answers]
    others = [entry for entry in waiting.entries if not any(entry.id in chosen.ids for chosen in entries)]
    for entry in entries:
        if question:
            _print(shown.whole_merged(entry) if verdict is Verdict.MERGE else shown.whole(entry))
    if question and entries:
        click.confirm(question, abort=True)
    outcomes = review.settle_all(store, [(entry, verdict) for entry in (*entries, *others)])
    output.print_shown(shown.settled(outcomes, waiting))
    refused = [became for _, became in outcomes if isinstance(became, DaybookError)]
    if refused or waiting.unknown:
        sys.exit((refused[0] if refused else NotFound).exit_code)


def _ask(store: Store, entries: tuple[Entry, ...]) -> None:
    """Ask about one entry after the other, and do what is said at once."""
    for entry in entries:
        _print(shown.whole(entry))
        letters = {answer.value[0]: answer for answer in entry.answers}
        words = ", ".join(f"({answer.value[0]}){answer.value[1:]}" for answer in entry.answers)
        letter = click.prompt(
            f"{words} or (q)uit?", type=click.Choice([*letters, "q"]), default="l", show_choices=False
        )
        if letter == "q":
            return
        chosen = letters[letter]
        if chosen is Verdict.MERGE and not _agreed(entry):
            chosen = Verdict.LATER
        click.echo(shown.outcome(entry, review.settle(store, entry, chosen)))


def _agreed(entry: Entry) -> bool:
    _print(shown.whole_merged(entry))
    return click.confirm(SAVE_MERGED)


def _print(lines: Sequence[str]) -> None:
    click.echo("")
    for line in lines:
        click.echo(visible(line))


def _store() -> Store:
    return output.opened(wait_for_model=False).store()


COMMANDS = {"Memories": (review_group,)}
