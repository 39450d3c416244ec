"""status and doctor: is everything well, and if not, what to do."""

import os
import platform
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.context import hot
from mcp_server.actions.context.claude_md import trouble
from mcp_server.actions.context.notice import LATE, offer, offered, put_away
from mcp_server.actions.files.clock_check import clock_doubt
from mcp_server.actions.files.litter import look_for_litter
from mcp_server.actions.files.size_limit import measure
from mcp_server.actions.files.sync import catch_up_if_free, if_free
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list import Stats, get_stats
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import refused, untrusted
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review import review
from mcp_server.actions.status.module_seen import module_seen
from mcp_server.adapters import files
from mcp_server.adapters.handles import open_to_others
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.events import transcripts, unattended
from mcp_server.adapters.own_process import try_hook
from mcp_server.core.budget import MOST_TRIES
from mcp_server.core.budget import refusal as refusal_today
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft, Level, timestamp
from mcp_server.core.render import counted
from mcp_server.core.search.query import Filter, Mode, Query
from mcp_server.core.settings import TOOLSETS
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what, whether it is well, what was seen, and what to do otherwise."""

    name: str
    well: bool
    seen: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """How far Daybook has come with the sessions: transcripts and bytes that wait, and candidates."""

    mode: str
    model_calls: bool
    on_plan: bool
    unkept: int
    unlearned: int
    unlearned_bytes: int
    last: str
    candidates: int


@dataclass(frozen=True, slots=True)
class State:
    """What `status` tells: counts, and what needs the person."""

    stats: Stats
    untrusted: int
    capture: Capture
    spending: Spending
    needs: tuple[str, ...]


def status(store: Store, *, has_key: bool) -> State:
    """Return how the memory stands; *has_key*: there is a key for the model. Raises IndexUnavailable."""
    stats = get_stats(store)
    waiting = len(untrusted(store))
    spent = spending(store)
    capture = _capture(store)
    needs = []
    with store.database.read() as db:
        away = unattended.untold(db, [vault.key for vault in store.vaults])
        pinned = hot.pinned(store, db)
    if stats.unreadable:
        needs.append(f"{counted(len(stats.unreadable), 'file')} cannot be read; 'daybook sync' names them.")
    needs += _waiting(store)
    if problem := progress(store).problem:
        needs.append(f"{problem} Run 'daybook model list'.")
    if refusal := refused(store):
        needs.append(refusal)
    if moved := offer(offered(store)):
        needs.append(moved)
    if torn := trouble(store):
        needs.append(torn)
    if spent.paused_reason and not spent.paused_until:
        needs.append(f"The model is not called: {spent.paused_reason} Correct it, then run 'daybook setup'.")
    if store.settings.model_calls and not has_key:
        needs.append("The model may be called, but there is no API key: set one with 'daybook setup --key'.")
    if capture.unlearned and not spent.paused_reason and _used_up(store, spent):
        needs.append(
            f"Learning waits until midnight UTC for {counted(capture.unlearned, 'session')}: what a day may"
            " cost is used up. 'daybook setup --daily-usd' allows more."
        )
    if spent.given_up:
        needs.append(
            f"Not learned, after {MOST_TRIES} tries: {counted(spent.given_up, 'piece')}; recall finds them."
        )
    if kept := look_for_litter(store).kept:
        needs.append(_held(kept))
    if crowded := measure(store).said:
        needs.append(crowded)
    if doubt := str(clock_doubt(store) or ""):
        needs.append(doubt)
    if len(pinned) > (places := store.settings.hot_cache_max_items):
        beyond = f"{counted(len(pinned), 'memory')} for {counted(places, 'place')}"
        needs.append(f"More is pinned than is kept at hand: {beyond}; 'daybook hot' shows which, unpin some.")
    if away:
        needs.append(f"Since you were last told, {put_away(away)}")
    return State(stats, waiting, capture, spent, tuple(needs))


def _used_up(store: Store, spent: Spending) -> bool:
    """Tell whether another call, of the usual price, is too much for today."""
    usual = spent.today_usd / max(1, spent.today_calls)
    return bool(refusal_today(spent.today_usd, spent.today_calls, usual, store.settings))


LOOKED_AT = 10  # new memories that are compared before `status` answers; `review` compares more
WAITS = {
    review.QUESTION: ("question", "Whether two memories both hold: {}; 'daybook review' asks you."),
    review.ORIGIN: ("memory", "Not shown unasked until you accept it with 'daybook review': {}."),
    review.CANDIDATE: ("memory", "Proposed, and kept if you say so in 'daybook review': {}."),
    review.STALE: ("memory", "About files that changed or are gone: {}; 'daybook review' asks you."),
    review.AGED: ("entry", "More has aged than one run of upkeep may put away; 'daybook review' asks you."),
}
"""Kind of what waits → what one is called, and what `status` says of how many there are."""


def _waiting(store: Store) -> list[str]:
    """Return a sentence for each kind of what waits for the person's word."""
    with if_free(store):
        compare_pending(store, most=LOOKED_AT)
    numbers = review.counts(store)
    return [said.format(counted(numbers[kind], one)) for kind, (one, said) in WAITS.items() if numbers[kind]]


def _capture(store: Store) -> Capture:
    with store.database.read() as db:
        unkept = transcripts.unkept(db)
        unlearned = transcripts.unlearned(db, paid=store.settings.model_calls)
        last = transcripts.last_kept(db)
    waiting = sum(each.kept - each.unread_from(paid=store.settings.model_calls) for each in unlearned)
    return Capture(
        mode=store.settings.capture,
        model_calls=store.settings.model_calls,
        on_plan=store.settings.on_plan,
        unkept=len(unkept),
        unlearned=len(unlearned),
        unlearned_bytes=waiting,
        last=timestamp(datetime.fromtimestamp(last, UTC)) if last else "",
        candidates=len(review_candidates(store)),
    )


def doctor(store: Store, *, plugin: Path) -> Iterator[Check]:
    """Try every part for real, one check after the other; never raises."""
    yield Check("Python", True, platform.python_version())
    yield _tried("SQLite", integrity.check_sqlite, "Install a Python whose sqlite3 has FTS5.")
    yield _tried("store", lambda: _writable(store.home), f"Make {store.home} writable, or set MEMORY_DIR.")
    yield _tried("index", lambda: _index(store), "Run 'daybook maintain all'.")
    yield _tried("files", lambda: _readable(store), "Correct the files named by 'daybook sync'.")
    yield _tried("edits", lambda: _nothing_held(store), "Copy what you need of them, and delete them.")
    yield _tried("embedding model", lambda: _model(store), "Choose another with 'daybook model use'.")
    yield _tried("round trip", lambda: _round_trip(store), "Run 'daybook maintain all', then try again.")
    yield _tried("hooks", lambda: _hooks(plugin), "Reinstall the plugin.")
    yield Check("module", True, module_seen(store.home))
    yield Check("tools", True, _toolsets(store))
    yield _tried("capture", lambda: _captures(store), "Run 'daybook work' and read logs/worker.log.")
    yield _tried("language model", lambda: _language_model(store), "Run 'daybook setup'.")


def _tried(name: str, look: Callable[[], str], advice: str) -> Check:
    try:
        return Check(name, True, look())
    except DaybookError as error:
        return Check(name, False, str(error), error.hint or advice)
    except (OSError, sqlite3.Error, AssertionError) as error:
        return Check(name, False, str(error), advice)


def _writable(home: Path) -> str:
    files.try_writing(home)
    return str(home) + (f" (readable by others: chmod 700 {home})" if open_to_others(home) else "")


def _index(store: Store) -> str:
    with store.database.alone() as db:
        integrity.check(db)
    return str(store.database.path)


def _readable(store: Store) -> str:
    stats = get_stats(store)
    assert not refused(store), refused(store)
    assert not stats.unreadable, f"{counted(len(stats.unreadable), 'file')} cannot be read"
    return counted(stats.memories, "memory")


def _nothing_held(store: Store) -> str:
    kept = look_for_litter(store).kept
    assert not kept, _held(kept)
    return "none was caught in a change"


def _held(kept: Sequence[Path]) -> str:
    return f"Saved by somebody while Daybook changed the file, and in no other: {', '.join(map(str, kept))}."


def _model(store: Store) -> str:
    if store.settings.embedding_model == "none":
        return "switched off; recall searches by words"
    meaning = store.meaning()
    assert meaning, store.meaning.problem or "the model did not load"
    assert len(meaning.embedder.embed_query("probe").vector) == 4 * meaning.embedder.dimensions
    return meaning.embedder.model


def _round_trip(store: Store) -> str:
    """Remember, find by words and by meaning, and forget a memory of our own."""
    draft = Draft(
        title="Daybook doctor's probe",
        text="A probe written by the doctor: zirconium lighthouse.",
        level=Level.USER,
    )
    written = remember(store, draft)
    try:
        only_user = Filter(level=Level.USER)
        found = recall(store, Query("zirconium lighthouse", mode=Mode.KEYWORD, filter=only_user))
        assert written.memory.id in [hit.id for hit in found.hits], "the probe was not found by words"
        if store.meaning():
            embed_pending(store, replace=False)
            found = recall(
                store,
                Query("what did the physician leave behind", mode=Mode.SEMANTIC, limit=50, filter=only_user),
            )
            assert found.semantic, "the probe was not searched by meaning"
    finally:
        forget(store, written.memory.id, forever=True)
    return "remembered, found and forgotten"


def _hooks(plugin: Path) -> str:
    for name in ("hooks/hooks.json", ".mcp.json", "bin/daybook"):
        assert (plugin / name).is_file(), f"{plugin / name} is missing"
    launcher = plugin / "bin" / "daybook"
    assert os.access(launcher, os.X_OK), f"{launcher} may not be executed"
    wrong = try_hook()
    assert not wrong, f"the hook of a new session {wrong}"
    return f"{plugin}, and a new session's hook answers"


def _toolsets(store: Store) -> str:
    """Tell which sets of tools Claude is offered, and how others are switched on."""
    on = store.settings.toolsets
    off = [name for name in TOOLSETS if name not in on]
    if not off:
        return " ".join(on)
    return f"{' '.join(on)}; off: {' '.join(off)}, switched on by naming the sets in DAYBOOK_TOOLSETS"


def _captures(store: Store) -> str:
    """Look whether sessions that ended are in the raw tier by now."""
    if store.settings.capture == "manual":
        return "switched off"
    catch_up_if_free(store)
    with store.database.read() as db:
        late = transcripts.late(db, store.now() - LATE)
        last = transcripts.last_kept(db)
    assert not late, f"not kept an hour after the end: {counted(late, 'session')}"
    kept = f"{datetime.fromtimestamp(last, UTC):%Y-%m-%d %H:%M} UTC" if last else "none yet"
    return f"{store.settings.capture}, last session kept: {kept}"


def _language_model(store: Store) -> str:
    """Tell whether the model may and can be called; never calls it, for that would cost."""
    if store.settings.on_plan:
        calls = spending(store).plan_calls
        return f"on your plan; {calls} of {counted(store.settings.daily_plan_calls, 'call')} made today"
    if not store.settings.model_calls:
        return "not allowed, so nothing is sent and nothing spent"
    assert store.model(), "it is allowed, but there is no API key"
    spent = spending(store)
    assert not (spent.paused_reason and not spent.paused_until), spent.paused_reason
    return f"{store.settings.model} is allowed; {spent.today} of ${store.settings.daily_usd:.2f} spent today"
