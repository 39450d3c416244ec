"""settled_before: what became of what no longer waits, so that a command that was cut off can go on."""

from mcp_server.actions.review.entries import BETWEEN, Became
from mcp_server.adapters.index.events import candidates, deeds, settled_pairs
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory_parts import Status, ref_of, typed_id
from mcp_server.store import Store

_OF_CANDIDATES = {"approved": Became.ACCEPTED, "rejected": Became.REJECTED}
_OF_MEMORIES = {
    "accepted": Became.ACCEPTED,
    "forgotten": Became.REJECTED,
    "trusted": Became.CONFIRMED,
}


def settled_before(store: Store, name: str) -> Became | None:
    """
    Return what became of *name*, the id of a memory or candidate, or both ids of a pair.

    None for what nobody settled, as far as the ledger and the files say.
    """
    ids = [typed_id(memory_id) for memory_id in name.split(BETWEEN)]
    return _pair(store, *ids) if len(ids) == 2 else _one(store, ids[0])


def _one(store: Store, memory_id: str) -> Became | None:
    with store.database.read() as db:
        if verdict := _OF_CANDIDATES.get(candidates.verdict_on(db, memory_id)):
            return verdict
        settling = [
            deed
            for vault in store.keys
            for deed in deeds.listed(db, ref=ref_of(vault, memory_id), events=tuple(_OF_MEMORIES), limit=1)
        ]
    return _OF_MEMORIES[max(settling, key=lambda deed: deed.at).event] if settling else None


def _pair(store: Store, first: str, second: str) -> Became | None:
    with store.database.read() as db:
        row, other = (selections.with_id(db, store.keys, memory_id) for memory_id in (first, second))
        if row is None or other is None:
            return None
        if other.superseded_by == first or row.superseded_by == second:
            return Became.REPLACED
        if row.status is other.status is Status.SUPERSEDED and row.superseded_by == other.superseded_by:
            return Became.MERGED
        return Became.KEPT_BOTH if settled_pairs.is_resolved(db, row, other) else None
