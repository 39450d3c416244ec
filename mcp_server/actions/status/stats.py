"""stats: what is stored, how large it is, how often it was used and was of use, and what waits."""

from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_server.actions.capture.pieces import AT_ONCE
from mcp_server.actions.files.conflict_copies import ledger_copies
from mcp_server.actions.files.size_limit import Size, index_size, measure
from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.judge.candidate import review_candidates, unreadable_candidates
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.actions.sessions.quality import Quality, retrieval_quality
from mcp_server.adapters.index.events import episodes, sessions, transcripts
from mcp_server.adapters.index.events.spending import learned_today
from mcp_server.adapters.index.memories import counts as counting
from mcp_server.adapters.index.memories import unreadable
from mcp_server.adapters.index.memories.counts import Counts
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.core.embedding_models import NONE
from mcp_server.core.memory_parts import timestamp
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Stats:
    """
    What the visible vaults hold, how large the index is, and what waits or cannot be read.

    *pending* are passages without a vector of *model*, 0 when no model is wanted.
    """

    memories: int
    counts: Counts
    index_size: int
    passages: int
    pending: int
    model: str
    unreadable: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Capture:
    """
    How far capture has come: transcripts and bytes that wait, and candidates.

    `last` is when a session ended last that is kept, '' for none; `is_any_open` whether the end of some
    session was not reported. `shorts_wait`: short sessions wait, because the model answered often today.
    """

    mode: str
    model_calls: bool
    on_plan: bool
    unkept: int
    unlearned: int
    unlearned_bytes: int
    last: str
    is_any_open: bool
    candidates: int
    shorts_wait: bool = False


@dataclass(frozen=True, slots=True)
class Metrics:
    """
    What is stored, and for the whole store its size and its use.

    `month` and `ever` count the events of the ledger, this machine's and others' alike, since the day `since`
    and of all time. Sizes are in bytes.
    """

    stats: Stats
    since: str
    month: dict[str, int]
    ever: dict[str, int]
    size: Size
    quality: Quality
    capture: Capture
    spending: Spending


@self_healing
def get_stats(store: Store) -> Stats:
    """Return what the visible vaults hold."""
    ensure_synced(store)
    keys = store.keys
    model = progress(store)
    with store.database.read() as db:
        counts = counting.counts(db, keys)
        return Stats(
            memories=sum(counts.by_vault.values()),
            counts=counts,
            index_size=index_size(store),
            passages=model.passages,
            pending=0 if model.chosen == NONE else model.passages - model.embedded,
            model=model.chosen,
            unreadable=(*unreadable.listed(db, keys), *ledger_copies(store), *unreadable_candidates(store)),
        )


def metrics(store: Store, *, days: int = 30) -> Metrics:
    """
    Return all counts; those of use cover the last *days*, 0 for all time.

    Raises Rejected for fewer than none, IndexUnavailable.
    """
    stats, quality = get_stats(store), retrieval_quality(store, days=days)
    now = store.clock().astimezone(UTC)
    first = datetime(now.year, now.month, 1, tzinfo=UTC)
    with store.database.read() as db:
        month, ever = episodes.tally(db, int(first.timestamp())), episodes.tally(db, 0)
    return Metrics(
        stats=stats,
        since=f"{first:%Y-%m-%d}",
        month=month,
        ever=ever,
        size=measure(store),
        quality=quality,
        capture=capture_of(store),
        spending=spending(store),
    )


def capture_of(store: Store) -> Capture:
    """Return how far capture has come with the sessions. Raises IndexUnavailable."""
    catch_up_if_free(store)
    with store.database.read() as db:
        unkept = transcripts.unkept(db)
        unlearned = transcripts.unlearned(db, paid=store.settings.model_calls)
        last, is_any_open = transcripts.last_kept(db), sessions.is_any_open(db)
        answers = learned_today(db, store.now())
    waiting = sum(
        transcript.kept - transcript.unread_from(paid=store.settings.model_calls) for transcript in unlearned
    )
    return Capture(
        mode=store.settings.capture,
        model_calls=store.settings.model_calls,
        on_plan=store.settings.on_plan,
        unkept=len(unkept),
        unlearned=len(unlearned),
        unlearned_bytes=waiting,
        last=timestamp(datetime.fromtimestamp(last, UTC)) if last else "",
        is_any_open=is_any_open,
        candidates=len(review_candidates(store)),
        shorts_wait=bool(unlearned) and answers >= AT_ONCE,
    )
