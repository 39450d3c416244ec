"""
Call the model within what the person allows: the only way to call it with a key.

Every call is reserved in the ledger before it is made, so that no kill, crash or second process can
spend more than a day's cap, or ask for the same item more than `MOST_TRIES` times.
"""

import contextlib
import math
import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.adapters import files
from mcp_server.adapters.index.events import replay
from mcp_server.adapters.index.events import spending as spent
from mcp_server.core import budget
from mcp_server.core.budget import CUT, CallFailed, CallOutcome, Cost, Reply
from mcp_server.core.errors import Held, ModelUnavailable, SettingsError
from mcp_server.core.memory_parts import timestamp
from mcp_server.core.ports import Model
from mcp_server.store import Store

NOBODYS: Mapping[str, float] = MappingProxyType({})
SESSIONS = 3  # latest sessions whose cost `status` shows; `sessions` shows the cost of all
LOCK_NAME = ".model.lock"  # in the store: only the process that holds it may have a call in flight
_MEND = "Correct the key, its credit, the endpoint or the model's name, then run 'daybook setup'."


@dataclass(frozen=True, slots=True)
class Spending:
    """What today (UTC) cost, why and until when the model is not called, and what was given up."""

    today_usd: float
    today_calls: int
    paused_reason: str
    """'' when the model may be called."""
    paused_until: datetime | None
    """None also when the pause lasts until settings change."""
    given_up: int
    plan_calls: int = 0
    """Today's calls on the person's own plan."""
    plan_paused_reason: str = ""
    plan_paused_until: datetime | None = None
    sessions: tuple[tuple[str, Cost], ...] = ()
    """What learning from the latest sessions cost, by their short ids."""
    unpriced: str = ""
    """The model's name when its price is unknown: its cost is then not in `today_usd`."""


@dataclass(frozen=True, slots=True)
class Call:
    """
    A call that is reserved: its name in the ledger, and which try it is of what it is about.

    `usd` is the most that it may cost, and `settings` what a pause after it is bound to.
    """

    name: str
    tries: int
    usd: float
    settings: str


def _any(reply: Reply) -> bool:
    """Tell that *reply* is usable: whoever asked takes any text."""
    return True


def call_model(
    store: Store,
    *,
    item: str,
    system: str,
    prompt: str,
    most_tokens: int,
    patience: float = 0,
    sessions: Mapping[str, float] = NOBODYS,
    is_usable: Callable[[Reply], bool] = _any,
) -> Reply:
    """
    Make one call about *item* and return the reply; *sessions* is session → its share of the cost.

    A reply that is not *is_usable* is returned, too, but noted as such: an item is given up without another.

    Raises ModelUnavailable, also for a reply that was cut before any of it was usable: with `later` for what
    may be asked another time, without it when the item is given up. Waits at most *patience* seconds for
    another process's call, and never for a pause. Consent and limits are those of this moment.
    """
    store = store.as_set_now()
    if not store.settings.model_calls:
        raise ModelUnavailable(
            "The model may not be called: you have not allowed it.", "Run 'daybook setup' to decide."
        )
    with alone(store, patience):
        now = store.now()
        size = len((system + prompt).encode("utf-8", "surrogatepass"))
        reserved = budget.reserve(store.settings, size, most_tokens)
        store.database.require()  # an index that stands in does not know what was spent
        with store.database.write() as db:
            replay.catch_up(db, store.ledger)
            check_item(db, item)
            check_pause(spent.timed_pause(db, now))
            usd, calls = spent.today(db, now)
        if refused := budget.refusal(usd, calls, reserved, store.settings):
            raise ModelUnavailable(
                refused, "It continues tomorrow (UTC); daily_usd and daily_calls are the limits."
            )
        model = _model(store)
        settings = budget.settings_digest(model.identity, store.settings)
        with store.database.read() as db:
            check_pause(spent.settings_pause(db, settings, now))
        call = reserve(store, item, usd=reserved, settings=settings, sessions=sessions)
        try:
            reply: Reply | CallFailed = model.ask(system=system, prompt=prompt, most_tokens=most_tokens)
        except CallFailed as failed:
            reply = failed
        return close(store, call, reply, is_usable=is_usable)


def spending(store: Store) -> Spending:
    """Return, from the ledger, what was spent today and whether calls to the model are paused."""
    catch_up_if_free(store)
    now = store.now()
    with store.database.read() as db:
        usd, calls = spent.today(db, now)
        pause = spent.timed_pause(db, now)
        given_up = spent.given_up(db)
        plan_calls = spent.today_on_plan(db, now)
        plan_pause = spent.settings_pause(db, spent.PLAN, now)
        waits = spent.waits_for_person(db, now)
        latest = spent.latest_sessions(db, limit=SESSIONS)
        costs = spent.of_sessions(db, [session for session, _ in latest])
    if waits:  # only then the settings matter, and the model's library is loaded
        with contextlib.suppress(ModelUnavailable, SettingsError):
            settings = budget.settings_digest(_model(store).identity, store.settings)
            with store.database.read() as db:
                pause = spent.settings_pause(db, settings, now) or pause
    sessions = tuple((short, costs[session]) for session, short in latest)
    unpriced = "" if budget.price(store.settings) else store.settings.model
    return Spending(usd, calls, *_parts(pause), given_up, plan_calls, *_parts(plan_pause), sessions, unpriced)


def _parts(pause: spent.Pause | None) -> tuple[str, datetime | None]:
    """Return the reason and the end of *pause*: '' and None without one."""
    if pause is None:
        return "", None
    return pause.reason, datetime.fromtimestamp(pause.until, UTC) if pause.until else None


def refusal(store: Store) -> str:
    """Return why the model would not be called now, as a sentence; '' when it may be."""
    now = spending(store)
    if now.paused_reason:
        return now.paused_reason
    return budget.refusal(now.today_usd, now.today_calls, 0.0, store.settings)


def resume(store: Store) -> None:
    """End every pause, because the person says that the cause is removed, such as an unpaid bill."""
    now = store.clock()
    settings = ["", spent.PLAN]
    with contextlib.suppress(ModelUnavailable):
        settings.append(budget.settings_digest(_model(store).identity, store.settings))
    for setting in settings:
        store.record("paused", until=timestamp(now), reason="", settings=setting)


@contextlib.contextmanager
def alone(store: Store, patience: float) -> Iterator[None]:
    """Hold the lock of the one call that may be in flight on this machine."""
    with contextlib.ExitStack() as stack:
        try:
            files.make_folder(store.home)
            stack.enter_context(files.lock(store.home / LOCK_NAME, patience=patience))
        except Held as error:
            raise ModelUnavailable(
                f"Another session is calling the model: {error.holder}.", "Try again in a minute."
            ) from None
        except OSError as error:
            raise _unwritable(error) from error
        yield


def check_item(db: sqlite3.Connection, item: str) -> None:
    """Raise ModelUnavailable, not `later`, when *item* is given up."""
    tries, outcome = spent.tries(db, item)
    if tries >= budget.MOST_TRIES:
        raise ModelUnavailable(
            f"The model was already asked {tries} times about this, which is the limit.", later=False
        )
    if outcome == CallOutcome.BAD_REQUEST.value:
        raise ModelUnavailable("The model refused this text before.", later=False)


def check_pause(pause: spent.Pause | None) -> None:
    """Raise ModelUnavailable while *pause* lasts."""
    if pause is None:
        return
    if pause.until:
        until = timestamp(datetime.fromtimestamp(pause.until, UTC))
        raise ModelUnavailable(f"Model calls are paused until {until}: {pause.reason}")
    raise ModelUnavailable(f"Model calls are paused until the settings change: {pause.reason}", _MEND)


def _model(store: Store) -> Model:
    model = store.model()
    if model is None:
        raise ModelUnavailable(
            "There is no key for the model.", "Set ANTHROPIC_API_KEY, or api_key in config.toml."
        )
    return model


def reserve(
    store: Store,
    item: str,
    *,
    usd: float,
    settings: str,
    road: str = "",
    sessions: Mapping[str, float] = NOBODYS,
) -> Call:
    """
    Write the event that a call is about to be made; if that fails, no call is made.

    *sessions* is session → its share of what the call costs.
    """
    with store.database.read() as db:
        tries = spent.tries(db, item)[0] + 1
    name = "-".join(filter(None, (road, os.urandom(8).hex())))
    try:
        for_sessions = {"sessions": dict(sessions)} if sessions else {}
        store.record("reserved", call=name, item=item, usd=usd, **for_sessions)
    except OSError as error:
        raise _unwritable(error) from error
    return Call(name, tries, usd, settings)


def close(
    store: Store, call: Call, reply: Reply | CallFailed, *, is_usable: Callable[[Reply], bool] = _any
) -> Reply:
    """
    Write the event of how *call* ended and return its reply.

    Raises ModelUnavailable without a reply, and for one that was cut before any of it was usable.
    """
    if isinstance(reply, CallFailed):
        usd = call.usd if reply.charged else 0.0
        note_spent(store, call.name, usd=usd, outcome=reply.outcome)
        raise _gone_wrong(store, reply, call.tries, call.settings)
    usd = budget.cost(store.settings, reply.input_tokens, reply.output_tokens) if call.usd else 0.0
    outcome = CallOutcome.OK if is_usable(reply) else CallOutcome.UNUSABLE
    note_spent(store, call.name, usd=usd, outcome=outcome, reply=reply)
    if outcome is CallOutcome.UNUSABLE and reply.stop_reason == CUT:  # asked at once, it would be cut again
        raise _gone_wrong(
            store,
            CallFailed(outcome, "The model's answer was cut before anything in it was complete."),
            call.tries,
            call.settings,
        )
    return reply


def note_spent(
    store: Store, name: str, *, usd: float, outcome: CallOutcome, reply: Reply | None = None
) -> None:
    """Write the event of what the call *name* cost, in USD and tokens, and how it ended."""
    store.try_record(
        "spent",
        call=name,
        usd=usd,
        input=reply.input_tokens if reply else 0,
        output=reply.output_tokens if reply else 0,
        outcome=outcome.value,
    )


def _gone_wrong(store: Store, failed: CallFailed, tries: int, settings: str) -> ModelUnavailable:
    """Write the event of the pause that a failed call requires, and return the error to raise."""
    rest = budget.rest_after(failed.outcome, tries, failed.retry_after, random.random())  # noqa: S311
    if rest:
        now = store.clock()
        until = ""
        if rest.seconds is not None:
            end = math.ceil(now.timestamp() + rest.seconds)
            until = timestamp(datetime.fromtimestamp(end, UTC))
        bound = settings if rest.lifted else ""
        store.try_record("paused", until=until, reason=str(failed), settings=bound)
    later = not budget.is_hopeless(failed.outcome, tries)
    hint = _MEND if failed.outcome.needs_person else None
    return ModelUnavailable(str(failed), hint, later=later)


def _unwritable(error: OSError) -> ModelUnavailable:
    reason = error.strerror or type(error).__name__
    return ModelUnavailable(
        f"The model is not called: its cost cannot be recorded ({reason}).",
        "Free some space, or make the store writable.",
    )
