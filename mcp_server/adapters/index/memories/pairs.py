"""
Pairs of memories that may be about the same thing: compared when they are new, and kept until one changes.

Both memories are of one vault, or one of a project's and one of the person's.
It rests on the words and the vectors of both, so it can be found again at any time.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from mcp_server.adapters.index.memories.filters import counting, marks
from mcp_server.adapters.index.table import Table

TABLES = (
    Table(
        "pairs",
        # `fuller` is the row of the memory that says all that the other says, 0 when neither does.
        {"one": int, "other": int, "nearness": float, "differs": str, "fuller": int},
        pk=("one", "other"),
        indexes=(("other",), ("nearness",)),
        also=("CREATE INDEX pairs_fuller ON pairs(fuller) WHERE fuller > 0",),
    ),
    Table("compared", {"memory": int, "model": str}, pk="memory"),
)
_RESTING_ON = ("vault", "kind", "status", "type", "fingerprint")  # a comparison holds while these stay
_SHORT = (  # its text is one passage; its occasions may be another
    "(s.passages = 1 OR NOT EXISTS (SELECT 1 FROM passages o WHERE o.memory = s.row AND o.position = 1))"
)


class Pair(NamedTuple):
    """Two memories by their rows, how near they are, what differs, and which one says all (0: neither)."""

    first: int
    other: int
    nearness: float
    differs: str
    fuller: int


def leave(db: sqlite3.Connection, row: int, *, unless: Mapping[str, object] | None = None) -> None:
    """Delete the comparisons of the memory *row*, unless it still has the values *unless*."""
    if unless:
        same = " AND ".join(f"{name} = ?" for name in _RESTING_ON)
        values = [unless[name] for name in _RESTING_ON]
        if db.execute(f"SELECT 1 FROM memories WHERE row = ? AND {same}", (row, *values)).fetchone():
            return
    db.execute("DELETE FROM pairs WHERE one = ? OR other = ?", (row, row))
    db.execute("DELETE FROM compared WHERE memory = ?", (row,))


def uncompared(db: sqlite3.Connection, model: str, limit: int) -> list[int]:
    """
    Return the rows of active knowledge that is one passage long and was not compared yet, newest first.

    With a *model* ('' for none), also of what was compared without vectors and has them now.
    """
    rows = db.execute(
        "SELECT s.row FROM scoped s LEFT JOIN compared c ON c.memory = s.row"
        " WHERE s.scope IN (SELECT scope FROM scopes WHERE status = 'active' AND kind = 'knowledge')"
        f" AND {_SHORT} AND (c.memory IS NULL OR (c.model != :model AND :model != '' AND EXISTS"
        "  (SELECT 1 FROM passages p JOIN vectors v ON v.passage = p.row AND v.model = :model"
        "   WHERE p.memory = s.row))) ORDER BY s.row DESC LIMIT :limit",
        {"model": model, "limit": limit},
    )
    return [int(row) for (row,) in rows]


def short_of(db: sqlite3.Connection, numbers: Collection[int]) -> set[int]:
    """Return those of the memories *numbers* that are one passage long: the others are documents."""
    rows = db.execute(
        f"SELECT s.row FROM scoped s WHERE s.row IN (SELECT value FROM json_each(?)) AND {_SHORT}",
        (json.dumps(list(numbers)),),
    )
    return {int(row) for (row,) in rows}


def cosine(first: bytes, other: bytes) -> float:
    """Return how near two vectors are, at most 1."""
    import numpy as np  # slow to import, and needed only with a model

    return float(np.frombuffer(first, "<f4") @ np.frombuffer(other, "<f4"))


def put(db: sqlite3.Connection, row: int, model: str, pairs: Sequence[Pair]) -> None:
    """Note the *pairs* pairs of the memory *row*, compared with vectors of *model*, '' for by words."""
    leave(db, row)
    db.execute("INSERT INTO compared VALUES (?, ?)", (row, model))
    db.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?, ?)", pairs)


def nearest(
    db: sqlite3.Connection, vaults: Sequence[str], *, private: Sequence[str], row: int = 0
) -> Iterator[Pair]:
    """
    Yield the pairs of active memories of *vaults*, the nearest first; with *row* those with that memory.

    A memory that may not be shown unasked waits for the person on its own and is left out.
    """
    where, values = _both_may_be_shown(vaults, private)
    if row:
        where, values = f"? IN (p.one, p.other) AND {where}", [row, *values]
    return map(Pair._make, db.execute(f"{_PAIRS} {where} ORDER BY p.nearness DESC, a.id, b.id", values))


def within(db: sqlite3.Connection, vaults: Sequence[str], *, private: Sequence[str]) -> list[Pair]:
    """Return those pairs of active memories of *vaults* of which one says all that the other says."""
    where, values = _both_may_be_shown(vaults, private)
    return [*map(Pair._make, db.execute(f"{_PAIRS} p.fuller > 0 AND {where}", values))]


_PAIRS = (
    "SELECT p.one, p.other, p.nearness, p.differs, p.fuller FROM pairs p"
    " CROSS JOIN memories a ON a.row = p.one CROSS JOIN memories b ON b.row = p.other WHERE"
)


def said_alike(
    db: sqlite3.Connection, own: Sequence[str], theirs: Sequence[str], *, private: Sequence[str], least: int
) -> list[list[int]]:
    """
    Return, as lists, the rows of active knowledge in *theirs* that says the same as a memory in *own*.

    Only what at least *least* of these vaults say and what may be shown unasked.
    """
    conditions, values = [], list[object]()
    for name, vaults in (("a", own), ("b", theirs)):
        counts, columns = counting(name, private)
        # The plus keeps SQLite from scanning the whole vault.
        conditions.append(
            f"{name}.status = 'active' AND {name}.kind = 'knowledge' AND +{name}.vault IN ({marks(vaults)})"
            f" AND {counts}"
        )
        values += [*vaults, *columns]
    alike = db.execute(
        "SELECT json_group_array(DISTINCT b.row) FROM memories a"
        " CROSS JOIN memories b ON b.fingerprint = a.fingerprint"
        f" WHERE {' AND '.join(conditions)} GROUP BY a.fingerprint HAVING count(DISTINCT b.vault) >= ?",
        (*values, least),
    )
    return [json.loads(rows) for (rows,) in alike]


def _both_may_be_shown(vaults: Sequence[str], private: Sequence[str]) -> tuple[str, list[object]]:
    """
    Return the condition, with its values, that both memories of a pair may be shown unasked.

    It belongs after a CROSS JOIN, which starts with the pairs: SQLite would scan all memories first.
    """
    conditions: list[str] = []
    values: list[object] = []
    for name in ("a", "b"):
        counts, columns = counting(name, private)
        conditions.append(f"{name}.status = 'active' AND {name}.vault IN ({marks(vaults)}) AND {counts}")
        values += [*vaults, *columns]
    return " AND ".join(conditions), values
