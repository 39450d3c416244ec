"""metrics: how often things were done, how large everything is, and what waits."""

from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_server.actions.files.size_limit import Size, measure
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.memory.list import get_stats
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.adapters.index.events import episodes, transcripts
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Metrics:
    """
    Counters from the ledger, of this month and of all time (this machine's and others' lines alike), sizes
    in bytes, and what waits.
    """

    since: str
    month: dict[str, int]
    ever: dict[str, int]
    size: Size
    memories: int
    passages: int
    to_embed: int
    transcripts_to_keep: int
    bytes_to_learn: int
    spending: Spending


def metrics(store: Store) -> Metrics:
    """Return the counters and sizes of the whole store. Raises IndexUnavailable."""
    stats = get_stats(store)
    catch_up_if_free(store)
    now = store.clock().astimezone(UTC)
    first = datetime(now.year, now.month, 1, tzinfo=UTC)
    with store.database.read() as db:
        month, ever = episodes.tally(db, int(first.timestamp())), episodes.tally(db, 0)
        unkept = len(transcripts.unkept(db))
        unlearned = transcripts.unlearned(db, paid=store.settings.model_calls)
    waiting = sum(each.kept - each.unread_from(paid=store.settings.model_calls) for each in unlearned)
    return Metrics(
        since=f"{first:%Y-%m-%d}",
        month=month,
        ever=ever,
        size=measure(store),
        memories=stats.memories,
        passages=stats.passages,
        to_embed=stats.pending,
        transcripts_to_keep=unkept,
        bytes_to_learn=waiting,
        spending=spending(store),
    )
