"""
learn on the person's own plan: Claude Code calls the model between turns, everything else is done here.

`hand_out` reserves a call and gives out a piece of a session, or memories with few occasions when no piece is
left; `take_reply` takes the model's reply. Between the two the process holds the lock of the one call in
flight. When it dies, the lock is freed, the same is handed out again, and both calls count.
"""

import contextlib
import functools
from dataclasses import dataclass, replace

from mcp_server.actions.capture import occasions
from mcp_server.actions.capture.capture import is_kept_here
from mcp_server.actions.capture.learn import (
    is_usable,
    next_piece,
    proposed,
    question,
    take_answer,
    take_left_behind,
)
from mcp_server.actions.capture.occasions import Group
from mcp_server.actions.capture.pieces import Part, Piece
from mcp_server.actions.context.offers import Offer, may_be_made, note_made
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.model import model_call
from mcp_server.actions.model.setup import Choices, setup
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import replay, transcripts
from mcp_server.adapters.index.events import spending as spent
from mcp_server.adapters.prompts import prompt
from mcp_server.core import budget
from mcp_server.core.budget import CallFailed, CallOutcome, Reply
from mcp_server.core.capture import extraction
from mcp_server.core.capture import occasions as of_occasions
from mcp_server.core.errors import ModelUnavailable
from mcp_server.store import Store

YES, NO = "Yes, learn from my sessions", "No"
ASKING = "plan-asking.lock"  # in the folder `work`, held while a session asks the person
OPTIONS = (NO, YES)
"""The possible answers; a stray Enter chooses the first, so that is the no."""


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What the model is being asked about: its reserved call, and the lock that is held for it."""

    subject: Piece | Group
    call: model_call.Call
    lock: contextlib.ExitStack


def offer_is_due(store: Store) -> bool:
    """
    Tell whether the person is to be asked if Daybook may learn on their plan; usually not.

    They are asked once, when there is a piece to learn from, not when the person decided already, and not in
    the session in which the use of their key was offered.
    """
    settings = store.settings
    if settings.plan_calls is not None or settings.model_calls or settings.capture == "manual":
        return False
    return may_be_made(store, Offer.PLAN) and next_piece(store, worth_a_call=True) is not None


def asking(store: Store) -> contextlib.AbstractContextManager[None]:
    """Keep every other session from asking while this one does. Raises Held when another asks; OSError."""
    files.make_folder(store.home / places.WORK)
    return files.lock(store.home / places.WORK / ASKING, patience=0)


def decide(store: Store, answer: str) -> None:
    """Save the person's answer; they are not asked again. Only a yes or a no changes a setting."""
    note_made(store, Offer.PLAN)
    if answer in OPTIONS:
        setup(store, Choices(plan_calls=answer == YES))


def hand_out(store: Store) -> HandedOut | None:
    """
    Return the next piece, or memories, with its call reserved; None for none, or without the person's yes.

    Raises ModelUnavailable when a call is in flight, or no more may be made now.
    """
    if not store.settings.on_plan or store.settings.capture == "manual":
        return None
    with contextlib.ExitStack() as stack:
        stack.enter_context(model_call.alone(store, 0))
        take_left_behind(store)
        occasions.take_left_behind(store)
        _check_today(store)
        while subject := next_piece(store, worth_a_call=True) or occasions.next_group(store):
            try:
                with store.database.read() as db:
                    model_call.check_item(db, subject.digest)
            except ModelUnavailable:  # given up: `status` says so
                _give_up(store, subject)
                continue
            call = model_call.reserve(
                store,
                subject.digest,
                usd=0.0,
                settings=spent.PLAN,
                road=spent.PLAN,
                sessions=subject.sessions,
            )
            return HandedOut(subject, call, stack.pop_all())
    return None


def request(store: Store, handed: HandedOut) -> dict[str, str | int]:
    """Return the question for the model, as `$.model.complete` takes it: system, prompt and maxTokens."""
    if isinstance(handed.subject, Group):
        texts = {"system": prompt("occasions"), "prompt": handed.subject.question}
        return {**texts, "maxTokens": of_occasions.ANSWER_TOKENS}
    texts = {"system": prompt("extract"), "prompt": question(store, handed.subject)}
    return {**texts, "maxTokens": extraction.ANSWER_TOKENS}


def take_reply(store: Store, handed: HandedOut, reply: Reply | CallFailed) -> list[DraftOutcome]:
    """
    Note what became of a call, and store what its answer proposes, checked as with a key.

    Raises ModelUnavailable for a call without a reply; the same is handed out again then.
    """
    with handed.lock:
        if isinstance(handed.subject, Group):
            usable = functools.partial(occasions.is_usable, handed.subject)
            answer = model_call.close(store, handed.call, reply, is_usable=usable)
            if usable(answer):
                occasions.take_answer(store, handed.subject, answer)
            return []
        parts = tuple(part for part in handed.subject.parts if _is_unlearned(store, part))
        piece = replace(handed.subject, parts=parts)
        answer = model_call.close(store, handed.call, reply, is_usable=functools.partial(is_usable, piece))
        proposals_by_part = proposed(piece, answer)
        return [] if proposals_by_part is None else take_answer(store, piece, proposals_by_part)


def _give_up(store: Store, subject: Piece | Group) -> None:
    """Ask about *subject* no more; of a piece the raw tier has what was said."""
    if isinstance(subject, Group):
        occasions.give_up(store, subject)
    else:
        take_answer(store, subject)


def _is_unlearned(store: Store, part: Part) -> bool:
    """Tell whether *part* was neither learned elsewhere nor forgotten while the model was asked."""
    with store.database.read() as db:
        now = transcripts.known(db, part.transcript.path)
    return now is not None and now.learned == part.transcript.learned and is_kept_here(store, now)


def give_back(store: Store, handed: HandedOut) -> None:
    """Close a call for which no reply will come, as one that was stopped."""
    with contextlib.suppress(ModelUnavailable):
        take_reply(store, handed, budget.failure_on_plan("stopped", None))


def _check_today(store: Store) -> None:
    """
    Raise ModelUnavailable when no more may be asked now.

    The process that holds the lock closes the calls of processes that died: these count for the day, not for
    what they were about.
    """
    now = store.now()
    store.database.require()  # an index that stands in does not know the calls made
    with store.database.write() as db:
        replay.catch_up(db, store.ledger)
        died = spent.open_on_plan(db)
    for name in died:
        model_call.note_spent(store, name, usd=0.0, outcome=CallOutcome.STOPPED)
    with store.database.write() as db:
        replay.catch_up(db, store.ledger)
        model_call.check_pause(spent.timed_pause(db, now))
        model_call.check_pause(spent.settings_pause(db, spent.PLAN, now))
        calls = spent.today_on_plan(db, now)
    if refused := budget.refusal_on_plan(calls, store.settings):
        raise ModelUnavailable(refused, "It continues tomorrow (UTC); daily_plan_calls is the limit.")
