"""Lexical search: BM25 over whole memories and over passages, with FTS5."""

import json
import sqlite3
from collections.abc import Sequence

from mcp_server.core import ranking
from mcp_server.core.words import match_expression

CANDIDATES = 200  # memories taken from each of the two rankings
PASSAGE_CANDIDATES = 500


def term_frequencies(db: sqlite3.Connection, terms: Sequence[str]) -> tuple[dict[str, int], int]:
    """
    Return (in how many memories each term occurs, how many memories there are).

    Counting stops just above the share at which a term counts as common.
    """
    documents = int(db.execute("SELECT count(*) FROM memories").fetchone()[0])
    most = int(max(50, documents * ranking.COMMON_SHARE)) + 1
    counted = {}
    for term in terms:
        counted[term] = int(
            db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM memories_fts WHERE memories_fts MATCH ? LIMIT ?)",
                (match_expression([term]), most),
            ).fetchone()[0]
        )
    return counted, documents


def search_memories(
    db: sqlite3.Connection, terms: Sequence[str], where: str, values: Sequence[object]
) -> dict[int, float]:
    """Return memory row → BM25 (larger is better) of the best 200 memories for which *where* holds."""
    if not terms:
        return {}
    found = db.execute(
        "SELECT f.rowid, -f.rank FROM memories_fts f JOIN memories ON memories.row = f.rowid"
        f" WHERE memories_fts MATCH ? AND {where} ORDER BY f.rank LIMIT {CANDIDATES}",
        (match_expression(list(terms)), *values),
    )
    return dict(found.fetchall())


def search_passages(
    db: sqlite3.Connection, terms: Sequence[str], where: str, values: Sequence[object]
) -> dict[int, tuple[float, int]]:
    """Return memory row → (BM25 of its best passage, that passage) of the best 500 passages."""
    if not terms:
        return {}
    found = db.execute(
        "SELECT p.memory, -f.rank, p.row FROM passages_fts f JOIN passages p ON p.row = f.rowid"
        " JOIN memories ON memories.row = p.memory"
        f" WHERE passages_fts MATCH ? AND {where} ORDER BY f.rank LIMIT {PASSAGE_CANDIDATES}",
        (match_expression(list(terms)), *values),
    )
    best: dict[int, tuple[float, int]] = {}
    for memory, score, passage in found:
        if memory not in best:
            best[memory] = (score, passage)
    return best


def terms_found(
    db: sqlite3.Connection, terms: Sequence[str], memories: Sequence[int]
) -> dict[int, frozenset[str]]:
    """Return memory row → which of *terms* it has, for the few *memories* given."""
    found: dict[int, set[str]] = {row: set() for row in memories}
    wanted = json.dumps(list(memories))
    for term in terms:
        for (row,) in db.execute(
            "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?"
            " AND rowid IN (SELECT value FROM json_each(?))",
            (match_expression([term]), wanted),
        ):
            found[row].add(term)
    return {row: frozenset(terms) for row, terms in found.items()}


def passage_texts(db: sqlite3.Connection, passages: Sequence[int]) -> dict[int, str]:
    """Return passage → its text."""
    wanted = json.dumps(list(passages))
    found = db.execute(
        "SELECT row, text FROM passages WHERE row IN (SELECT value FROM json_each(?))", (wanted,)
    )
    return dict(found.fetchall())
