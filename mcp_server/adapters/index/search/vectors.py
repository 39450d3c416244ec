"""
Vectors in the index: which passages lack one of a model, and storing them. Only storing needs numpy.

A passage has one vector, with the name of the model that made it: a vector of another model does not count.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable

from mcp_server.adapters.index.table import Table
from mcp_server.core.ports import Embedded, Vector

TABLES = (
    Table(
        "vectors",
        # `signs` last, so that reading every embedding need not skip them.
        {"passage": int, "model": str, "embedding": bytes, "signs": bytes},
        pk="passage",
        indexes=(("model",),),
    ),
)
ABOVE_ALL = 1 << 62  # passages' numbers


def pending(
    db: sqlite3.Connection, model: str, limit: int, *, above: int = 0, below: int = ABOVE_ALL
) -> list[tuple[int, int, str]]:
    """
    Return (passage, memory, text) of passages that lack a vector of *model*, newest first.

    Their numbers are larger than *above* and smaller than *below*.
    """
    return db.execute(
        "SELECT p.row, p.memory, p.text FROM passages p WHERE p.row > ? AND p.row < ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.passage = p.row AND v.model = ?) ORDER BY p.row DESC LIMIT ?",
        (above, below, model, limit),
    ).fetchall()


def count_pending(db: sqlite3.Connection, model: str) -> int:
    """Return how many passages have no vector of *model* yet."""
    return count_passages(db) - count_vectors(db, model)


def count_vectors(db: sqlite3.Connection, model: str) -> int:
    """Return how many passages have a vector of *model*."""
    return int(db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()[0])


def are_of_others(db: sqlite3.Connection, model: str) -> bool:
    """Tell whether any passage has the vector of another model than *model*."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM vectors WHERE model != ?)", (model,)).fetchone()[0])


def count_passages(db: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    return int(db.execute("SELECT count(*) FROM passages").fetchone()[0])


def of_beginnings(db: sqlite3.Connection, model: str, memories: Collection[int]) -> dict[int, Vector]:
    """Return row number → the vector of its first passage by *model*, of those *memories* that have it."""
    return dict(
        db.execute(
            "SELECT p.memory, v.embedding FROM json_each(?) wanted"
            " CROSS JOIN passages p ON p.memory = wanted.value AND p.position = 0"
            " CROSS JOIN vectors v ON v.passage = p.row AND v.model = ?",
            (json.dumps([*memories]), model),
        )
    )


def put_vectors(db: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, Embedded]]) -> None:
    """
    Store the vectors that *model* made of passages, in place of those that the passages had.

    A passage that was deleted meanwhile is left out.
    """
    from mcp_server.adapters.index.search.maxsim import packed  # numpy is slow to import, and most only read

    db.executemany(
        "INSERT OR REPLACE INTO vectors (passage, model, embedding, signs)"
        " SELECT row, ?, ?, ? FROM passages WHERE row = ?",
        [(model, vector, packed(tokens, len(vector) // 4), passage) for passage, (vector, tokens) in vectors],
    )
