"""Commands for what waits for the person: review, review accept, review reject."""

import click

from mcp_server.actions import review
from mcp_server.actions.review import Answer, Became, Entry
from mcp_server.core.render import visible
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import review as shown
from mcp_server.store import Store

SETTLING = "settling what waits"


@click.group("review", invoke_without_command=True)
@click.option("--limit", default=review.MOST, show_default=True, type=click.IntRange(1, 1000))
@as_json
@click.pass_context
def review_group(context: click.Context, limit: int, as_json: bool) -> None:
    """List what waits for your word, and in a terminal of yours ask about one entry after the other.

    Example: daybook review
    """
    if context.invoked_subcommand:
        return
    store = output.opened(wait_for_model=False).store()
    waiting = review.review(store, limit=limit)
    output.print_shown(shown.waiting(waiting), as_json=as_json)
    if waiting.entries and not as_json and person.is_here():
        _ask(store, waiting.entries)


@review_group.command("accept")
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
def accept_command(memory_ids: tuple[str, ...]) -> None:
    """Show entries that wait, and accept them as shown after your yes.

    Example: daybook review accept stripe-webhook-raw-body-k3f9
    """
    person.require(SETTLING)
    store = output.opened(wait_for_model=False).store()
    entries = review.review(store, memory_ids).entries
    for entry in entries:
        _print(entry)
    click.confirm("Accept what is shown above?", abort=True)
    _tell([(entry, review.settle(store, entry, Answer.ACCEPT)) for entry in entries])


@review_group.command("reject")
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
def reject_command(memory_ids: tuple[str, ...]) -> None:
    """Move entries that wait to the trash, from where 'daybook restore' brings them back.

    Example: daybook review reject stripe-webhook-raw-body-k3f9
    """
    person.require(SETTLING)
    store = output.opened(wait_for_model=False).store()
    entries = review.review(store, memory_ids).entries
    _tell([(entry, review.settle(store, entry, Answer.REJECT)) for entry in entries])


def _ask(store: Store, entries: tuple[Entry, ...]) -> None:
    """Ask about one entry after the other, and do what is said at once."""
    letters = {answer.value[0]: answer for answer in Answer}
    for entry in entries:
        _print(entry)
        said = click.prompt(
            "(a)ccept, (r)eject, (l)ater or (q)uit?",
            type=click.Choice([*letters, "q"]),
            default="l",
            show_choices=False,
        )
        if said == "q":
            return
        click.echo(shown.became(entry, review.settle(store, entry, letters[said])))


def _print(entry: Entry) -> None:
    click.echo("")
    for line in shown.whole(entry):
        click.echo(visible(line))


def _tell(done: list[tuple[Entry, Became]]) -> None:
    output.print_shown(shown.settled(done))


COMMANDS = (review_group,)
