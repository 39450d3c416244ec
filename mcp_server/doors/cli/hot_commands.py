"""Commands for what is kept at hand, and for what comes next."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import click

from mcp_server.actions.context.hot import Warm
from mcp_server.actions.memory import promote as promoting
from mcp_server.actions.sessions import predict as predicting
from mcp_server.actions.sessions.predict import Pattern
from mcp_server.doors.cli import output
from mcp_server.doors.cli.author import take_over
from mcp_server.doors.cli.output import as_json


@click.command("hot")
@as_json
def hot_command(as_json: bool) -> None:
    """Show which memories are kept at hand and why, who goes first, and what is likely to come next.

    Example: daybook hot
    """
    status = promoting.hot_status(output.opened(wait_for_model=False).store())
    if as_json:
        groups = {"held": status.held, "predicted": status.predicted, "evicted": status.evicted}
        output.print_json(
            {"capacity": status.capacity, "next_out": status.next_out.row.id if status.next_out else None}
            | {
                name: [_warm_json(warm, status.salience[warm.row.ref]) for warm in group]
                for name, group in groups.items()
            }
        )
        return
    if not status.capacity:
        click.echo("The hot set is switched off: HOT_CACHE_MAX_ITEMS is 0.")
        return
    if not (status.held or status.predicted):
        click.echo(
            "Nothing is kept at hand yet: pin a memory with 'daybook pin ID', or recall it three times."
        )
        return
    rows = [
        _row(warm, status.salience[warm.row.ref], state)
        for state, group in (("", status.held), ("fills up", status.predicted), ("no place", status.evicted))
        for warm in group
    ]
    output.print_table(["id", "why", "heat", "accesses", "last", "salience", "", "title"], rows)
    click.echo(f"{len(status.held)} of {status.capacity} places are taken.")
    if status.next_out:
        click.echo(f"The first to go is {status.next_out.row.id}.")


@click.command("pin")
@click.argument("memory_id")
def pin_command(memory_id: str) -> None:
    """Keep a memory at hand in every session.

    Example: daybook pin stripe-webhook-raw-body-k3f9
    """
    opened = output.opened(wait_for_model=False)
    found = promoting.pin(opened.store(), memory_id, pinned=True)
    click.echo(" ".join(filter(None, (f"{found.memory.id} is pinned.", take_over(opened, found.memory.id)))))


@click.command("unpin")
@click.argument("memory_id")
def unpin_command(memory_id: str) -> None:
    """Let a pinned memory be at hand only while it is used.

    Example: daybook unpin stripe-webhook-raw-body-k3f9
    """
    found = promoting.pin(output.opened(wait_for_model=False).store(), memory_id, pinned=False)
    click.echo(f"{found.memory.id} is not pinned.")


@click.command("promote")
@click.argument("memory_id")
def promote_command(memory_id: str) -> None:
    """Put a memory into the hot set now, until it was not used for two weeks.

    Example: daybook promote stripe-webhook-raw-body-k3f9
    """
    if promoting.promote(output.opened(wait_for_model=False).store(), memory_id):
        click.echo(f"{memory_id} is kept at hand.")
    else:
        click.echo("Noted, but all places are taken by hotter memories: 'daybook hot' shows them.")


@click.command("demote")
@click.argument("memory_id")
def demote_command(memory_id: str) -> None:
    """Take a memory out of the hot set now; three more accesses bring it back.

    Example: daybook demote stripe-webhook-raw-body-k3f9
    """
    was = promoting.demote(output.opened(wait_for_model=False).store(), memory_id)
    click.echo(f"{memory_id} {'is not kept at hand any more' if was else 'was not in the hot set'}.")


@click.command("patterns")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@as_json
def patterns_command(limit: int, as_json: bool) -> None:
    """Show which memories are asked for one after the other, and how likely.

    Example: daybook patterns
    """
    found = predicting.access_patterns(output.opened(wait_for_model=False).store(), limit=limit)
    _print(found, as_json, "No pattern yet: two recalls of a session have to follow each other twice.")


@click.command("predict")
@click.argument("memory_id", default="")
@as_json
def predict_command(memory_id: str, as_json: bool) -> None:
    """Tell which memories are likely to be wanted after one, by default after the last recall.

    Example: daybook predict stripe-webhook-raw-body-k3f9
    """
    found = predicting.predict_next(output.opened(wait_for_model=False).store(), memory_id)
    _print(
        found, as_json, "Nothing is likely enough to be predicted; 'daybook patterns' shows what is known."
    )


def _print(found: Sequence[Pattern], as_json: bool, nothing: str) -> None:
    if as_json:
        output.print_json([asdict(one) for one in found])
        return
    if not found:
        click.echo(nothing)
        return
    output.print_table(
        ["after", "comes", "probability", "seen", "title"],
        [
            [one.first, one.second, f"{one.probability:.2f}", one.count, one.second_title[:50]]
            for one in found
        ],
    )


def _row(warm: Warm, salience: float, state: str) -> list[object]:
    last = f"{datetime.fromtimestamp(warm.last, UTC):%Y-%m-%d}" if warm.last else "-"
    why = f"predicted {warm.probability:.2f}" if warm.probability else warm.why
    heat = f"{warm.heat:.2f}"
    return [warm.row.id, why, heat, warm.accesses, last, f"{salience:.2f}", state, warm.row.title[:50]]


def _warm_json(warm: Warm, salience: float) -> dict[str, object]:
    return {
        "id": warm.row.id, "title": warm.row.title, "why": warm.why, "heat": round(warm.heat, 4),
        "accesses": warm.accesses, "last": warm.last, "probability": round(warm.probability, 4),
        "salience": round(salience, 4),
    }  # fmt: skip


COMMANDS = (
    hot_command,
    pin_command,
    unpin_command,
    promote_command,
    demote_command,
    patterns_command,
    predict_command,
)
