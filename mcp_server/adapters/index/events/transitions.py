"""Which memory was recalled after which in one session: the steps that predictions are counted from."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.memory_parts import DAY, vault_in
from mcp_server.core.worth.prediction import STATE, Step

TABLES = (
    Table("transitions", {"first": Ref, "second": Ref, "count": int, "at": int}, pk=("first", "second")),
    Table("last_recalls", {"session": str, "refs": str, "at": int}, pk="session"),
)
ALSO = frozenset({"recalled"})
_OUT = ""  # as the second of a step: all steps that leave the first


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """
    Take in the answers of a recall: a step to each from each of the best of its session's recall before.

    A memory that the recall before gave already makes no step, nor do two memories of one recall.
    """
    # Hooks, which only read, need not wait for it.
    from mcp_server.adapters.index.events.receipts import confident

    session, refs = str(data.get("session") or ""), confident(data)
    if not session or not refs:
        return
    before = last_recall(db, session)
    new_refs = [ref for ref in refs[:STATE] if ref not in before]
    if before and not new_refs:
        return
    for first in before[:STATE]:
        for second in (_OUT, *new_refs):
            db.execute(
                "INSERT INTO transitions VALUES (?, ?, 1, ?)"
                " ON CONFLICT (first, second) DO UPDATE SET count = count + 1, at = max(at, excluded.at)",
                (first, second, at),
            )
    db.execute("INSERT OR REPLACE INTO last_recalls VALUES (?, ?, ?)", (session, json.dumps(refs), at))


def last_recall(db: sqlite3.Connection, session: str) -> list[str]:
    """Return what *session* last recalled, best first."""
    row = db.execute("SELECT refs FROM last_recalls WHERE session = ?", (session,)).fetchone()
    return [str(ref) for ref in json.loads(row[0])] if row else []


def latest_recall(db: sqlite3.Connection, vaults: Sequence[str], *, since: int) -> list[str]:
    """Return the last recall of any session after *since* with a memory of *vaults*, best first."""
    rows = db.execute(
        "SELECT refs FROM last_recalls WHERE at >= ? ORDER BY at DESC, rowid DESC LIMIT 20", (since,)
    )
    lists = ([str(ref) for ref in json.loads(row[0])] for row in rows)
    return next((refs for refs in lists if any(vault_in(ref) in vaults for ref in refs)), [])


def steps(db: sqlite3.Connection, firsts: Sequence[str] | None, now: int) -> list[Step]:
    """Return the steps from *firsts*, from all memories when it is None, with their ages at *now*."""
    chosen = "" if firsts is None else " AND s.first IN (SELECT value FROM json_each(?))"
    rows = db.execute(
        "SELECT s.first, s.second, s.count, s.at, o.count, o.at FROM transitions s"
        " JOIN transitions o ON o.first = s.first AND o.second = ?"
        f" WHERE s.second != ?{chosen} ORDER BY s.first, s.second",
        (_OUT, _OUT, *([] if firsts is None else [json.dumps(list(firsts))])),
    )
    return [
        Step(first, second, count, (now - at) / DAY, out, (now - out_at) / DAY)
        for first, second, count, at, out, out_at in rows
    ]
