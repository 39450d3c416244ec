"""
Lexical search: BM25 over whole memories and over passages, with FTS5.

Each term is looked up by itself. FTS5's own sum over all terms counts how rare a term is in the whole
index, every project included; here it counts among the memories searched, where it may be another
(nDCG@10 +.017 on single turns, +.01 on documentation). It also tells which memories have which terms.
How often a term stands in a memory, and how short that is, counts less than in BM25: which terms a
memory has decides more.
"""

import functools
import heapq
import itertools
import json
import math
import sqlite3
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from mcp_server.adapters.index import scopes
from mcp_server.adapters.index.scopes import Searched
from mcp_server.core import ranking
from mcp_server.core.query import Filter
from mcp_server.core.words import match_expression, near_expression

CANDIDATES = 200  # memories


@dataclass(frozen=True, slots=True)
class Found:
    """
    What words find: the sum over its terms (larger is better) of the best memories, and of the best
    passage of each.

    `near` is the share of the neighbouring terms that a memory has near each other, 0 to 1;
    `weights` says how telling each term is among the memories searched.
    """

    memories: Mapping[int, float]
    passages: Mapping[int, tuple[float, int]]
    near: Mapping[int, float]
    weights: Mapping[str, float]
    having: Mapping[str, Container[int]]
    searched: int
    """How many memories were searched."""

    def best_coverage(self) -> float:
        """Return the largest share of the terms' weight that one of the memories has, 0 to 1."""
        every = sum(self.weights.values())
        found = [(self.weights[term], rows) for term, rows in self.having.items()]
        heaviest = max((sum(w for w, rows in found if row in rows) for row in self.memories), default=0.0)
        return heaviest / every if every > 0 else 0.0

    def terms_of(self, memory: int) -> frozenset[str]:
        """Return which of the terms *memory* has."""
        return frozenset(term for term, rows in self.having.items() if memory in rows)


def search(
    db: sqlite3.Connection, questions: Sequence[Sequence[str]], filter: Filter, vaults: Sequence[str]
) -> list[Found]:
    """
    Return what is found of each question's terms among the memories of *vaults* that *filter* lets through.

    What several questions have in common is looked up once.
    """
    db.execute("BEGIN")  # what is counted and what is read must be of one moment
    try:
        searched = scopes.searched(db, filter, vaults)
        documents, passages = scopes.size(db)
        count = functools.cache(lambda term: _count(db, "memories_fts", term))
        rows = functools.cache(lambda term: _in_memories(db, term, searched))
        together = functools.cache(lambda first, second: _together(db, first, second))
        heard = []
        for terms in questions:
            counts = {term: count(term) for term in terms}
            telling = ranking.telling_terms(counts, most_rows=ranking.MOST_ROWS // len(questions))
            having = {term: rows(term) for term in telling}
            weights = {term: ranking.idf(searched.count, len(having[term])) for term in having}
            rarity = {term: _fts_idf(documents, counts[term]) for term in having}
            sums = _sums(having, weights, rarity, ranking.MEMORY_DAMPING)
            best = dict(heapq.nlargest(CANDIDATES, sums.items(), key=lambda item: item[1]))
            heard.append((best, weights, having))
        read = _Read.of(db, {row for best, _, _ in heard for row in best}, passages)
        return [
            Found(best, read.best(best, weights), _near(best, weights, having, together), weights, having,
                  searched.count)
            for best, weights, having in heard
        ]  # fmt: skip
    finally:
        db.execute("COMMIT")


def passage_texts(db: sqlite3.Connection, passages: Sequence[int]) -> dict[int, str]:
    """Return passage → its text."""
    wanted = json.dumps(list(passages))
    found = db.execute(
        "SELECT row, text FROM passages WHERE row IN (SELECT value FROM json_each(?))", (wanted,)
    )
    return dict(found.fetchall())


def _in_memories(db: sqlite3.Connection, term: str, searched: Searched) -> dict[int, float]:
    """Return memory → FTS5's score of *term* in it."""
    found = db.execute(
        # CROSS JOIN keeps the order: from the other side the term is looked up once for each memory.
        f"SELECT f.rowid, -f.rank FROM memories_fts f CROSS JOIN {searched.table}"
        f" ON {searched.table}.row = f.rowid WHERE memories_fts MATCH ? AND {searched.where}",
        (match_expression([term]), *searched.values),
    )
    return dict(found.fetchall())


@dataclass(frozen=True, slots=True)
class _Read:
    """The passages of the memories that words found: whose each is, and FTS5's scores of each term."""

    owners: Mapping[int, int]
    scores: Callable[[str], Mapping[int, float]]
    rarity: Callable[[str], float]

    @classmethod
    def of(cls, db: sqlite3.Connection, memories: Collection[int], documents: int) -> Self:
        """Return what is read in *memories*; *documents* is how many passages the index holds."""
        db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (passage INTEGER PRIMARY KEY, memory INTEGER)")
        db.execute("DELETE FROM wanted")
        db.execute(
            "INSERT INTO wanted SELECT row, memory FROM passages"
            " WHERE memory IN (SELECT value FROM json_each(?))",
            (json.dumps(list(memories)),),
        )
        return cls(
            dict(db.execute("SELECT passage, memory FROM wanted").fetchall()),
            functools.cache(lambda term: _in_wanted(db, term)),
            functools.cache(lambda term: _fts_idf(documents, _count(db, "passages_fts", term))),
        )

    def best(self, memories: Container[int], weights: Mapping[str, float]) -> dict[int, tuple[float, int]]:
        """Return memory → (sum of its best passage, that passage)."""
        scores = {term: self.scores(term) for term in weights}
        rarity = {term: self.rarity(term) for term in weights}
        best: dict[int, tuple[float, int]] = {}
        for passage, score in sorted(_sums(scores, weights, rarity, ranking.PASSAGE_DAMPING).items()):
            memory = self.owners[passage]
            if memory in memories and score > best.get(memory, (0.0, 0))[0]:
                best[memory] = (score, passage)
        return best


def _in_wanted(db: sqlite3.Connection, term: str) -> dict[int, float]:
    """Return passage → FTS5's score of *term* in it, for those that are wanted."""
    found = db.execute(
        "SELECT f.rowid, -f.rank FROM passages_fts f CROSS JOIN wanted ON wanted.passage = f.rowid"
        " WHERE passages_fts MATCH ?",
        (match_expression([term]),),
    )
    return dict(found.fetchall())


def _near(
    memories: Container[int],
    weights: Mapping[str, float],
    having: Mapping[str, Mapping[int, float]],
    together: Callable[[str, str], Sequence[int]],
) -> dict[int, float]:
    """Return memory → which share of the question's neighbouring terms it has near each other."""
    shares: dict[int, float] = {}
    pairs = [(*pair, min(weights[pair[0]], weights[pair[1]])) for pair in itertools.pairwise(weights)]
    every = sum(weight for _, _, weight in pairs)
    for first, second, weight in pairs:
        for row in together(first, second) if having[first] and having[second] else ():
            if row in memories:
                shares[row] = shares.get(row, 0.0) + weight / every
    return shares


def _together(db: sqlite3.Connection, first: str, second: str) -> list[int]:
    """Return the memories that have two terms near each other."""
    expression = near_expression(first, second, ranking.NEAR_WORDS)
    found = db.execute("SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?", (expression,))
    return [row for (row,) in found.fetchall()]


def _sums(
    found: Mapping[str, Mapping[int, float]],
    weights: Mapping[str, float],
    rarity: Mapping[str, float],
    damping: float,
) -> dict[int, float]:
    """Return row → the sum of its terms; *rarity* is what FTS5 multiplied the scores *found* with."""
    sums: dict[int, float] = {}
    for term, scores in found.items():
        factor = weights[term] / rarity[term] ** damping
        for row, score in scores.items():
            sums[row] = sums.get(row, 0.0) + factor * score**damping
    return sums


def _count(db: sqlite3.Connection, table: str, term: str) -> int:
    found = db.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (match_expression([term]),))
    return int(found.fetchone()[0])


def _fts_idf(documents: int, frequency: int) -> float:
    """Return the factor that FTS5's bm25() puts on a term found in *frequency* of *documents* rows."""
    return max(1e-6, math.log((documents - frequency + 0.5) / (frequency + 0.5)))
