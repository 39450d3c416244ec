"""Commands for trust and use: validate, invalidate, trust-history, mark-used, why."""

import click

from mcp_server.actions.memory import trust
from mcp_server.actions.sessions import quality
from mcp_server.core.bounds import session_id
from mcp_server.core.worth.ratings import INVALIDATING, VALIDATING
from mcp_server.doors.cli import output
from mcp_server.doors.cli.author import take_over
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import use
from mcp_server.doors.shown.trust import history, moved


@click.command("validate")
@click.argument("memory_id")
@click.option("--reason", type=click.Choice(VALIDATING), default="confirmed", show_default=True)
@click.option("--note", default="", help="What it was checked against.")
def validate_command(memory_id: str, reason: str, note: str) -> None:
    """Record that a memory was checked and is right: its trust rises.

    It then counts as verified today.

    Example: daybook validate stripe-webhook-raw-body-k3f9 --note "tried it"
    """
    opened = output.opened(wait_for_model=False)
    record = trust.validate(opened.store(), memory_id, reason=reason, note=note)
    output.print_shown(moved(record, take_over(opened, record.id)))


@click.command("invalidate")
@click.argument("memory_id")
@click.option("--reason", type=click.Choice(INVALIDATING), required=True)
@click.option("--note", default="", help="What it was checked against.")
def invalidate_command(memory_id: str, reason: str, note: str) -> None:
    """Record that a memory was checked and is not right: its trust falls.

    Example: daybook invalidate stripe-webhook-raw-body-k3f9 --reason outdated
    """
    store = output.opened(wait_for_model=False).store()
    output.print_shown(moved(trust.invalidate(store, memory_id, reason=reason, note=note)))


@click.command("trust-history")
@click.argument("memory_id")
@as_json
def trust_history_command(memory_id: str, as_json: bool) -> None:
    """Show the trust in a memory, and each event that changed it.

    Example: daybook trust-history stripe-webhook-raw-body-k3f9
    """
    record = trust.trust_history(output.opened(wait_for_model=False).store(), memory_id)
    output.print_shown(history(record), as_json=as_json)


@click.command("mark-used")
@click.argument("memory_ids", nargs=-1, required=True)
def mark_used_command(memory_ids: tuple[str, ...]) -> None:
    """Record that memories were useful.

    Example: daybook mark-used stripe-webhook-raw-body-k3f9
    """
    opened = output.opened(wait_for_model=False)
    session = session_id(opened.environment.get("CLAUDE_CODE_SESSION_ID"))
    output.print_shown(use.used(quality.mark_used(opened.store(), memory_ids, session=session)))


@click.command("why")
@click.option("--session", default="", help="Only what this session was shown.")
@click.option("--last", is_flag=True, help="Only what was shown last.")
@click.option("--limit", default=30, show_default=True, type=click.IntRange(1, 1000))
@as_json
def why_command(session: str, last: bool, limit: int, as_json: bool) -> None:
    """List the memories that Claude was shown, why, and whether it used them.

    Example: daybook why --last
    """
    store = output.opened(wait_for_model=False).store()
    receipts = quality.why(store, session=session, last=last, limit=limit)
    output.print_shown(use.receipts(receipts), as_json=as_json)


COMMANDS = (
    validate_command,
    invalidate_command,
    trust_history_command,
    mark_used_command,
    why_command,
)
