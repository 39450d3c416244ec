"""Commands for what memories are worth: what is kept at hand, what comes next, trust, and use."""

import click

from mcp_server.actions.judge.persons_word import is_kept_from_fading
from mcp_server.actions.memory import promote as promoting
from mcp_server.actions.memory import trust
from mcp_server.actions.memory.revise import Revision
from mcp_server.actions.sessions import predict as predicting
from mcp_server.actions.sessions import quality
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.actions.team.give import promote_to_team
from mcp_server.core.errors import PersonNeeded
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.worth.ratings import INVALIDATING, VALIDATING
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.author import author, take_over, turns
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import hot as shown
from mcp_server.doors.shown import team, use
from mcp_server.doors.shown.persons_acts import FADING
from mcp_server.doors.shown.trust import history, moved


@click.command("hot")
@as_json
def hot_command() -> None:
    """List the memories kept at hand, and which are likely to be needed next.

    Example: daybook hot
    """
    status = promoting.hot_status(output.opened().store())
    output.print_shown(shown.status(status))


@click.command("pin")
@click.argument("memory_id")
def pin_command(memory_id: str) -> None:
    """Keep a memory at hand in every session.

    Example: daybook pin stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    outcome = promoting.pin(opened.store(), memory_id, pinned=True)
    output.print_shown(shown.pinned(outcome, take_over(opened, outcome.file.memory.id)))


@click.command("unpin")
@click.argument("memory_id")
def unpin_command(memory_id: str) -> None:
    """Unpin a memory: it is kept at hand only while it is used.

    Example: daybook unpin stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    store = opened.store()
    unpinning = Revision(pinned=False)
    if author(opened) != MANUAL and is_kept_from_fading(store, memory_id, unpinning, turns(opened)):
        raise PersonNeeded(FADING, person.typed())
    output.print_shown(shown.pinned(promoting.pin(store, memory_id, pinned=False)))


@click.command("promote")
@click.argument("memory_id")
@click.option("--to", type=click.Choice(["team"]), help="Give it to the team that you joined, instead.")
@click.option("--keep-secrets", is_flag=True, help="Give it although it looks like a secret.")
def promote_command(memory_id: str, to: str | None, keep_secrets: bool) -> None:
    """Put a memory into the hot set, or give it to your team.

    It leaves the hot set after two weeks without use, or after HOT_CACHE_DAYS days.

    You keep your own copy. After changing it, run this again to change the team's copy too.

    Example: daybook promote stripe-webhook-raw-body-k3f9 --to team
    """
    if to:
        store = output.opened().store()
        outcome = promote_to_team(store, memory_id, keep_secrets=keep_secrets)
        output.print_shown(team.stored(outcome, verb="given to the team"))
        return
    heed_only("MEMORY_ID", where="without --to")
    opened = output.opened()
    promotion = promoting.promote(opened.store(), memory_id)
    waits, days = take_over(opened, memory_id), opened.settings.cold_after
    output.print_shown(shown.promoted(memory_id, promotion, waits, days=days))


@click.command("demote")
@click.argument("memory_id")
def demote_command(memory_id: str) -> None:
    """Take a memory out of the hot set now; new accesses bring it back.

    Example: daybook demote stripe-webhook-raw-body-k3f9
    """
    was_hot = promoting.demote(output.opened().store(), memory_id)
    output.print_shown(shown.demoted(memory_id, was_hot=was_hot))


@click.command("patterns")
@click.option("--limit", default=20, show_default=True, help="How many, 1 to 50.")
@as_json
def patterns_command(limit: int) -> None:
    """List which memories are often asked for one after the other.

    Example: daybook patterns
    """
    patterns = predicting.access_patterns(output.opened().store(), limit=limit)
    output.print_shown(shown.patterns(patterns, nothing=shown.NO_PATTERN))


@click.command("predict")
@click.argument("memory_id", default="")
@as_json
def predict_command(memory_id: str) -> None:
    """List the memories likely to be needed next, after ID or the last recall.

    Example: daybook predict stripe-webhook-raw-body-k3f9
    """
    patterns = predicting.predict_next(output.opened().store(), memory_id)
    output.print_shown(shown.patterns(patterns, nothing=shown.UNLIKELY))


@click.command("validate")
@click.argument("memory_id")
@click.option("--reason", type=click.Choice(VALIDATING), default="confirmed", show_default=True)
@click.option("--note", default="", help="What it was checked against.")
def validate_command(memory_id: str, reason: str, note: str) -> None:
    """Record that a memory was checked and is right: its trust rises.

    It then counts as verified today.

    Example: daybook validate stripe-webhook-raw-body-k3f9 --note "tried it"
    """
    opened = output.opened()
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
    store = output.opened().store()
    output.print_shown(moved(trust.invalidate(store, memory_id, reason=reason, note=note)))


@click.command("trust-history")
@click.argument("memory_id")
@as_json
def trust_history_command(memory_id: str) -> None:
    """Show the trust in a memory, and each event that changed it.

    Example: daybook trust-history stripe-webhook-raw-body-k3f9
    """
    record = trust.trust_history(output.opened().store(), memory_id)
    output.print_shown(history(record))


@click.command("mark-used")
@click.argument("memory_ids", nargs=-1, required=True)
def mark_used_command(memory_ids: tuple[str, ...]) -> None:
    """Record that memories were useful.

    Example: daybook mark-used stripe-webhook-raw-body-k3f9
    """
    output.print_shown(use.used(quality.mark_used(output.opened().store(), memory_ids)))


@click.command("why")
@click.option("--session", default="", metavar="ID", help="Only what it was shown; a short id will do.")
@click.option("--last", is_flag=True, help="Only what was shown last.")
@click.option("--limit", default=30, show_default=True, type=click.IntRange(1, 1000))
@as_json
def why_command(session: str, last: bool, limit: int) -> None:
    """List the memories that Claude was shown, why, and whether it used them.

    Example: daybook why --last
    """
    store = output.opened().store()
    session_id = find_session(store, session).id if session else ""
    receipts = quality.why(store, session=session_id, last=last, limit=limit)
    output.print_shown(use.receipts(receipts, session=session_id))


COMMANDS = {
    "Kept at hand": (
        hot_command,
        pin_command,
        unpin_command,
        promote_command,
        demote_command,
        patterns_command,
        predict_command,
    ),
    "Trust and use": (
        validate_command,
        invalidate_command,
        trust_history_command,
        mark_used_command,
        why_command,
    ),
}
