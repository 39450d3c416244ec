"""Learning between turns on the person's own plan: the client asks a model what the server hands out."""

import contextlib
import threading
from collections.abc import Mapping
from typing import Any

from mcp_server.actions.capture import learn_on_plan as plan
from mcp_server.actions.capture.learn_on_plan import HandedOut
from mcp_server.core.budget import CallFailed, Reply, failure_on_plan
from mcp_server.core.errors import Held, ModelUnavailable
from mcp_server.core.settings import hooks_are_off, is_unattended
from mcp_server.doors.server.application import Application
from mcp_server.doors.shown import learning as shown
from mcp_server.store import Store

Payload = Mapping[str, Any]
Answer = dict[str, Any]

SMALL_MODEL = "haiku"  # Claude Code's name of the newest one
PATIENCE = 60.0  # seconds that the model has, as with a key
LONGEST = 90.0  # seconds after which no reply will come: the module was reloaded, say
LONGEST_TEXT = 200_000  # characters of a reply that are read


def learn(application: Application, payload: Payload) -> Answer:
    """
    Return what the client does next between turns: nothing, ask the person, or call the model.

    `ask` has a `question` and its `options`; its answer comes back as `answer`, and `toast` says what that
    means: whoever types when the question comes answers it unread. `request` is what `$.model.complete`
    takes; its reply goes to `learned`, with the `call`.
    """
    if "answer" not in payload:
        return _next(application, payload)
    agreed = payload["answer"] == plan.YES
    return _next(application, payload) | {"toast": shown.AGREED if agreed else shown.NOT_AGREED}


def _next(application: Application, payload: Payload) -> Answer:
    environment = application.opened.environment
    if hooks_are_off(environment) or is_unattended(environment) or application.session.by_claude:
        return {}
    store = application.opened.store()
    for name in list(application.handed_out):  # the module that should bring its reply is gone
        _give_back(application, name)
    if "answer" in payload:
        plan.decide(store, str(payload["answer"]))
        store = application.opened.store()
        if application.asking:
            application.asking.close()
            application.asking = None
    if plan.offer_is_due(store):
        if not _may_ask(application, store):
            return {}
        asked = shown.question(store.settings.daily_plan_calls)
        return {"ask": {"question": asked, "options": plan.OPTIONS}}
    try:
        handed = plan.hand_out(store)
    except ModelUnavailable:  # the daily limit is reached, or another session asks: `status` says so
        return {}
    if handed is None:
        return {}
    name = handed.call.name
    application.handed_out[name] = handed
    late = threading.Timer(LONGEST, _give_back, (application, name))
    late.daemon = True
    late.start()
    limits = {"model": SMALL_MODEL, "timeoutMs": int(PATIENCE * 1000)}
    return {"call": name, "request": {**limits, **plan.request(store, handed)}}


def _may_ask(application: Application, store: Store) -> bool:
    """Tell whether this session asks the person; no other one does until they answer, or it ends."""
    if application.asking is None:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(plan.asking(store))
            except (Held, OSError):
                return False
            application.asking = stack.pop_all()
    return True


def learned(application: Application, payload: Payload) -> Answer:
    """
    Store what the model said; return the ids of the new memories, as `stored`.

    `payload` has the `call`, and from `$.model.complete` either `text` and `usage`, or `reason` and `status`.
    """
    handed = application.handed_out.pop(str(payload.get("call")), None)
    if handed is None:
        return {}
    try:
        outcomes = plan.take_reply(application.opened.store(), handed, _reply(payload))
    except ModelUnavailable:  # it is handed out again, and `status` says what is wrong
        return {}
    return {"stored": [outcome.id for outcome in outcomes]}


def _reply(payload: Payload) -> Reply | CallFailed:
    text, usage = payload.get("text"), payload.get("usage")
    status = payload.get("status")
    if not isinstance(text, str) and payload.get("reason") != "empty-reply":
        return failure_on_plan(str(payload.get("reason")), status if isinstance(status, int) else None)
    counted = usage if isinstance(usage, dict) else {}
    tokens = {name: number for name, number in counted.items() if isinstance(number, int) and number > 0}
    input_tokens = sum(number for name, number in tokens.items() if "input" in name)
    return Reply(str(text or "")[:LONGEST_TEXT], input_tokens, tokens.get("output_tokens", 0), "")


def _give_back(application: Application, name: str) -> None:
    handed: HandedOut | None = application.handed_out.pop(name, None)
    if handed:
        plan.give_back(application.opened.store(), handed)
