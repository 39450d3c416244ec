"""
Vectors in the index: which passages lack one of a model, storing them, and which model answers.

While another model is computed, each passage has a vector of both. Only storing them needs numpy.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from mcp_server.adapters.index.table import Table
from mcp_server.core.ports import Embedded

TABLES = (
    Table(
        "vectors",
        # `signs` last: reading every embedding need not pass over them.
        {"passage": int, "model": str, "embedding": bytes, "signs": bytes},
        pk=("passage", "model"),
        indexes=(("model",),),
    ),
)
_FACT = "answering model"
_LEAVING = "leaving models"
_NEWEST = 1 << 62  # above every passage's number


@dataclass(frozen=True, slots=True)
class Answering:
    """The model whose vectors answer: its name beside them, and the setting by which it is loaded."""

    model: str
    setting: str


def answering(db: sqlite3.Connection) -> Answering | None:
    """Return the model whose vectors answer, None when there never was one."""
    found = db.execute("SELECT value FROM facts WHERE name = ?", (_FACT,)).fetchone()
    return Answering(*json.loads(found[0])) if found else None


def answer_with(db: sqlite3.Connection, chosen: Answering) -> None:
    """Let *chosen* answer from now on; the vectors of every other model are for `drop_leaving`."""
    others = [
        row[0] for row in db.execute("SELECT DISTINCT model FROM vectors WHERE model != ?", (chosen.model,))
    ]
    for name, value in ((_FACT, [chosen.model, chosen.setting]), (_LEAVING, others)):
        db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))


def is_leaving(db: sqlite3.Connection) -> bool:
    """Tell whether there are vectors of models that answer no more."""
    return bool(_leaving(db))


def drop_leaving(db: sqlite3.Connection, limit: int) -> bool:
    """Delete up to *limit* vectors of models that answer no more; return whether any are left."""
    models = _leaving(db)
    for model in models:
        gone = db.execute(
            "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors WHERE model = ? LIMIT ?)",
            (model, limit),
        ).rowcount
        if gone == limit:
            return True
    db.execute("INSERT OR REPLACE INTO facts VALUES (?, '[]')", (_LEAVING,))
    return False


def _leaving(db: sqlite3.Connection) -> list[str]:
    found = db.execute("SELECT value FROM facts WHERE name = ?", (_LEAVING,)).fetchone()
    return json.loads(found[0]) if found else []


def pending(
    db: sqlite3.Connection, model: str, limit: int, *, below: int = _NEWEST
) -> list[tuple[int, int, str]]:
    """Return (passage, memory, text) of passages *below* a number that lack a vector, newest first."""
    return db.execute(
        "SELECT p.row, p.memory, p.text FROM passages p WHERE p.row < ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.passage = p.row AND v.model = ?) ORDER BY p.row DESC LIMIT ?",
        (below, model, limit),
    ).fetchall()


def count_pending(db: sqlite3.Connection, model: str) -> int:
    """Return how many passages have no vector of *model* yet."""
    return count_passages(db) - count_vectors(db, model)


def count_vectors(db: sqlite3.Connection, model: str) -> int:
    """Return how many passages have a vector of *model*."""
    return int(db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()[0])


def count_passages(db: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(db.execute("SELECT count(*) FROM passages").fetchone()[0])


def put_vectors(db: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, Embedded]]) -> None:
    """Store what *model* makes of each passage; a passage that is gone meanwhile is left out."""
    from mcp_server.adapters.index.search.maxsim import packed  # numpy is slow to import, and most only read

    db.executemany(
        "INSERT OR REPLACE INTO vectors (passage, model, embedding, signs)"
        " SELECT row, ?, ?, ? FROM passages WHERE row = ?",
        [(model, vector, packed(tokens, len(vector) // 4), passage) for passage, (vector, tokens) in vectors],
    )
