"""Vectors in the index: which passages lack one, and storing them; needs no numpy."""

import sqlite3
from collections.abc import Iterable

from mcp_server.core.ports import Vector


def pending(db: sqlite3.Connection, limit: int) -> list[tuple[int, int, str]]:
    """Return (passage, memory, text) of passages that have no vector yet, newest first."""
    return db.execute(
        "SELECT row, memory, text FROM passages WHERE model IS NULL ORDER BY row DESC LIMIT ?", (limit,)
    ).fetchall()


def count_pending(db: sqlite3.Connection) -> int:
    """Return how many passages have no vector yet."""
    return int(db.execute("SELECT count(*) FROM passages WHERE model IS NULL").fetchone()[0])


def put_vectors(db: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, Vector]]) -> None:
    """Store the vector of each passage; a passage that is gone meanwhile is left out."""
    for passage, embedding in vectors:
        if db.execute("UPDATE passages SET model = ? WHERE row = ?", (model, passage)).rowcount:
            db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (passage, model, embedding))


def adopt_model(db: sqlite3.Connection, model: str) -> None:
    """Forget the vectors of every other model: their passages are pending again."""
    db.execute("DELETE FROM vectors WHERE model != ?", (model,))
    db.execute("UPDATE passages SET model = NULL WHERE model IS NOT NULL AND model != ?", (model,))


def count_passages(db: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(db.execute("SELECT count(*) FROM passages").fetchone()[0])


def other_model(db: sqlite3.Connection, model: str) -> bool:
    """Tell whether there are vectors of another model than *model*."""
    return bool(db.execute("SELECT 1 FROM vectors WHERE model != ? LIMIT 1", (model,)).fetchone())
