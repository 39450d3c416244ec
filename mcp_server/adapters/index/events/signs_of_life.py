"""Signs of life, by the ledger: when each memory last showed that it matters, and which ones are kept."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.judge.ageing import AHEAD
from mcp_server.core.memory_parts import DAY
from mcp_server.core.worth.ratings import VALIDATING

MONTH = 30 * DAY
TABLES = (
    # The last sign of life of each month, so that a line from a clock that was ahead hides no earlier one.
    Table("life", {"ref": Ref, "month": int, "at": int}, pk=("ref", "month")),
    Table("kept", {"ref": Ref}, pk="ref"),
)
EVENTS = (EventRow("found", None, alive=True), EventRow("told", None, alive=True, local=True))
_KEEPING = frozenset({"imported", "approved"})
TAKEN_BACK = frozenset({"approved"})
_NAMING_SOME = frozenset({"imported", "recalled", "trusted"})
"""Events that name memories in another way, or not only such as are alive."""


def takes(row: EventRow) -> bool:
    """Tell whether events of that *row* name memories that are alive."""
    return row.alive or row.name in _NAMING_SOME


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger."""
    refs = _refs(event, data)
    note(db, refs, at)
    if event in _KEEPING:
        db.executemany("INSERT OR IGNORE INTO kept VALUES (?)", [(ref,) for ref in refs])


def take_back(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take back that the person wanted memories kept; imported memories are kept all the same."""
    refs = [(ref, at) for ref in _refs(event, data)]
    db.executemany("DELETE FROM life WHERE ref = ? AND at = ?", refs)
    db.executemany(
        "DELETE FROM kept WHERE ref = ?1 AND ref NOT IN (SELECT ref FROM imported)", [ref[:1] for ref in refs]
    )


def note(db: sqlite3.Connection, refs: Iterable[str], at: int) -> None:
    """Note that *refs* were alive *at* that Unix second."""
    db.executemany(
        "INSERT INTO life VALUES (?, ?, ?) ON CONFLICT (ref, month) DO UPDATE SET at = max(at, excluded.at)",
        [(ref, at // MONTH, at) for ref in refs],
    )


def shown_since(ref: str) -> str:
    """Return the SQL condition that *ref*, an expression, was alive from one bound moment to another."""
    return f"EXISTS (SELECT 1 FROM life l WHERE l.ref = {ref} AND l.at >= ? AND l.at <= ?)"


def last_shown(ref: str) -> str:
    """Return the SQL expression of when *ref* was last alive before the bound moment, 0 for never."""
    return f"coalesce((SELECT max(l.at) FROM life l WHERE l.ref = {ref} AND l.at <= ?), 0)"


def alive(db: sqlite3.Connection, refs: Collection[str], since: int, now: int) -> set[str]:
    """Return which of *refs* were alive since that Unix second, ignoring moments far after *now*."""
    rows = db.execute(
        "SELECT DISTINCT ref FROM life WHERE at >= ? AND at <= ? AND ref IN (SELECT value FROM json_each(?))",
        (since, now + AHEAD, json.dumps(list(refs))),
    )
    return {str(row[0]) for row in rows}


def never_seen(db: sqlite3.Connection, vaults: Sequence[str]) -> list[str]:
    """Return the refs of the memories of *vaults* that the ledger never names."""
    ref = "vault || '/' || id"
    rows = db.execute(
        f"SELECT {ref} FROM memories WHERE vault IN ({marks(vaults)})"
        f" AND NOT EXISTS (SELECT 1 FROM life l WHERE l.ref = {ref}) ORDER BY 1",
        tuple(vaults),
    )
    return [str(row[0]) for row in rows]


def _refs(event: str, data: Mapping[str, Any]) -> list[str]:
    if event == "imported":
        named = [
            record[1] for record in a_list(data.get("taken")) if isinstance(record, list) and len(record) == 4
        ]
    elif event == "recalled":
        # A line of before says of all of them that they were given.
        sure = data.get("confident")
        named = a_list(data.get("refs") if sure is None else sure)
    elif event == "trusted" and data.get("reason") not in VALIDATING:
        named = []
    else:
        named = a_list(data.get("refs"))
    return list(dict.fromkeys(map(str, named)))
