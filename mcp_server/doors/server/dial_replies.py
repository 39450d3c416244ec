"""What the tools of the dials answer: hot set, trust, predictions, quality; ids first, a line each."""

from collections.abc import Sequence
from datetime import UTC, datetime

from mcp_server.actions.context.hot import Warm
from mcp_server.actions.memory.promote import HotStatus
from mcp_server.actions.memory.trust import Standing, TrustHistory
from mcp_server.actions.sessions.predict import Pattern
from mcp_server.actions.sessions.quality import LEAST_GIVEN, Quality
from mcp_server.adapters.index.events.receipts import Tally
from mcp_server.core.memory import Status
from mcp_server.core.render import counted, one_line, state_of, within
from mcp_server.core.secrets.redaction import redact

LIMIT = 7800  # characters of an answer, which may hold a line more


def hot(status: HotStatus) -> str:
    if not status.capacity:
        return "The hot set is switched off: HOT_CACHE_MAX_ITEMS is 0."
    head = f"{len(status.held)} of {status.capacity} places are taken."
    if not status.held and not status.predicted:
        return f"{head} Three recalls of a memory, or pin and promote, put it there."
    lines = [_warm(warm, status) for warm in status.held]
    lines += [f"{_warm(warm, status)} (likely next: {warm.probability:.2f})" for warm in status.predicted]
    lines += [f"{_warm(warm, status)} (hot, but there was no place)" for warm in status.evicted]
    told, left_out = within(lines, LIMIT - 200)
    more = [f"({counted(left_out, 'more line')} did not fit.)"] if left_out else []
    if status.next_out:
        more.append(f"The first to go is {status.next_out.row.id}.")
    return "\n".join([head, *told, *more])


def standing(found: Standing) -> str:
    """Return how a memory stands, on one line."""
    stale = f" · {one_line(redact(found.stale.label))}" if found.stale else ""
    state = state_of(Status.ACTIVE, here=found.shadowed_by)
    return f"trust: {found.label} ({found.trust:.2f}){stale}{f' · {state}' if state else ''}"


def trust(history: TrustHistory) -> str:
    lines = [f"{history.id}  {standing(history.standing)}", f"base {history.base:.2f}"]
    lines += [
        f"{_day(event.at)} {event.amount:+.2f} {event.reason}"
        + (f": {one_line(redact(event.note))}" if event.note else "")
        for event in history.events
    ]
    told, left_out = within(lines, LIMIT)
    return "\n".join([*told, *([f"({left_out} older ones are left out.)"] if left_out else [])])


def patterns(found: Sequence[Pattern], *, nothing: str) -> str:
    lines = [
        f"{one.second}  follows on {one.first} with {one.probability:.2f}, seen {counted(one.count, 'time')}:"
        f" {one_line(redact(one.second_title), 120)}"
        for one in found
    ]
    told, left_out = within(lines, LIMIT)
    return "\n".join([*told, *([f"({left_out} more)"] if left_out else [])]) or nothing


def quality(found: Quality) -> str:
    if not found.given and not found.prompts_silent:
        return "Nothing was recalled or shown in that time."
    span = f"the last {counted(found.days, 'day')}" if found.days else "all time"
    lines = [
        f"{found.given} given, {found.used} used ({found.usage_rate:.0%}),"
        f" {counted(found.unique, 'memory')}; {span}",
        f"prompts: {found.prompts_told} were told something, {found.prompts_silent} nothing",
        f"most used: {_tallies(found.top_used)}",
        f"given {LEAST_GIVEN} times or more and never used: {_tallies(found.least_useful)}",
    ]
    return "\n".join(lines)


def _warm(warm: Warm, status: HotStatus) -> str:
    last = f", last {_day(warm.last)}" if warm.last else ""
    said = f"{warm.row.id}  {warm.why} · heat {warm.heat:.2f} · {counted(warm.accesses, 'access')}{last}"
    salience = status.salience.get(warm.row.ref, 0.0)
    return f"{said} · salience {salience:.2f} · {one_line(redact(warm.row.title), 120)}"


def _tallies(found: Sequence[Tally]) -> str:
    return ", ".join(f"{one.id} (given {one.given}, used {one.used})" for one in found) or "none"


def _day(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
