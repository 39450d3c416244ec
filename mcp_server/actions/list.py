"""list and count: what is in the memory, without a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.recall import visible
from mcp_server.actions.sync import ensure_synced, self_healing
from mcp_server.adapters.index import filters, memories, vectors
from mcp_server.adapters.index.memories import Problem, Row
from mcp_server.core.query import Filter
from mcp_server.store import Store

ORDERS = {"updated": "updated DESC, id", "created": "created DESC, id", "title": "title COLLATE NOCASE, id"}


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of memories, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the visible vaults; `size` is the bytes of the memories' files."""

    memories: int
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_status: dict[str, int]
    by_vault: dict[str, int]
    tags: dict[str, int]
    size: int
    index_size: int
    passages: int
    pending: int
    model: str
    unreadable: tuple[Problem, ...]


@self_healing
def list_memories(
    store: Store, filter: Filter, *, limit: int = 20, offset: int = 0, order: str = "updated"
) -> Listing:
    """Return the memories that *filter* lets through, newest first unless *order* says otherwise."""
    ensure_synced(store)
    with store.database.read() as db:
        where, values = filters.where(filter, visible(store, db, filter))
        total = int(db.execute(f"SELECT count(*) FROM memories WHERE {where}", values).fetchone()[0])
        rows = memories.rows(db, where, values, f"{ORDERS[order]} LIMIT {int(limit)} OFFSET {int(offset)}")
    return Listing(tuple(rows), total)


@self_healing
def get_stats(store: Store) -> Stats:
    """Return what the visible vaults hold."""
    ensure_synced(store)
    keys = [vault.key for vault in store.vaults]
    marks = ", ".join("?" * len(keys))

    def counted(column: str, source: str = "memories", condition: str = "1") -> dict[str, int]:
        found = db.execute(
            f"SELECT {column}, count(*) FROM {source} WHERE vault IN ({marks}) AND {condition}"
            " GROUP BY 1 ORDER BY 2 DESC, 1",
            keys,
        )
        return dict(found.fetchall())

    with store.database.read() as db:
        by_vault = counted("vault")
        size = db.execute(
            f"SELECT coalesce(sum(size), 0) FROM memories WHERE vault IN ({marks})", keys
        ).fetchone()
        return Stats(
            memories=sum(by_vault.values()),
            by_kind=counted("kind"),
            by_type=counted("type", condition="kind = 'knowledge'"),
            by_status=counted("status"),
            by_vault=by_vault,
            tags=counted("tag", "tags JOIN memories ON memories.row = tags.memory"),
            size=max(0, int(size[0])),
            index_size=_size(store.database.path),
            passages=vectors.count_passages(db),
            pending=vectors.count_pending(db),
            model=store.settings.embedding_model,
            unreadable=tuple(memories.problems(db, keys)),
        )


def _size(path: Path) -> int:
    return sum(side.stat().st_size for side in _with_sides(path) if side.exists())


def _with_sides(path: Path) -> Sequence[Path]:
    return [path, Path(f"{path}-wal")]
