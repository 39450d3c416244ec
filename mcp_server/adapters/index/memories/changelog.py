"""The change log of the index: which memories changed since a generation that a reader remembers."""

import sqlite3
from collections.abc import Iterable

from mcp_server.adapters.index.table import Table

TABLES = (
    Table(
        "changes",
        sql="CREATE TABLE changes (generation INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL,"
        " vault TEXT NOT NULL, id TEXT NOT NULL, change TEXT NOT NULL, at INTEGER NOT NULL)",
    ),
)
KEPT = 20_000  # rows; a reader that is further behind reads everything


def changed_rows(db: sqlite3.Connection, since: int) -> tuple[int, set[int] | None]:
    """Return (newest generation, memories changed after *since*), None when the log begins later."""
    oldest, newest = db.execute(
        # Two queries: one query for both ends of the log would read everything between them.
        "SELECT coalesce((SELECT min(generation) FROM changes), 0),"
        " coalesce((SELECT max(generation) FROM changes), 0)"
    ).fetchone()
    if since == newest:
        return newest, set()
    if since == 0 or since < oldest - 1 or since > newest:
        return newest, None
    rows = db.execute("SELECT DISTINCT memory FROM changes WHERE generation > ?", (since,))
    return newest, {row[0] for row in rows}


def note_embedded(db: sqlite3.Connection, numbers: Iterable[int], now: int) -> None:
    """Log that memories got vectors, so that every process with a resident matrix reads them."""
    for row in numbers:
        note_change(db, row, "", "", "embedded", now)


def note_change(db: sqlite3.Connection, row: int, vault: str, memory_id: str, change: str, now: int) -> None:
    """Log one change; now and then delete rows that are too old."""
    cursor = db.execute(
        "INSERT INTO changes (memory, vault, id, change, at) VALUES (?, ?, ?, ?, ?)",
        (row, vault, memory_id, change, now),
    )
    generation = cursor.lastrowid or 0
    if generation % 1000 == 0:
        db.execute("DELETE FROM changes WHERE generation <= ?", (generation - KEPT,))
