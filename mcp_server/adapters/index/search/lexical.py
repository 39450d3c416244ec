"""
Lexical search: BM25 over whole memories, with FTS5, and the passage of a memory that matches the words best.

Each term is looked up by itself. FTS5's own sum over all terms counts how rare a term is in the whole
index, every project included; here it counts among the memories searched, where it may be another
(nDCG@10 +.017 on single turns, +.01 on documentation). It also tells which memories have which terms.
The scores are computed in `core/search/matches.py`.
A term has forms (`words.word_forms`), each looked up alone: FTS5 would weigh a rare form as a rare term.
"""

import functools
import heapq
import itertools
import json
import math
import sqlite3
from collections.abc import Collection, Sequence

from mcp_server.adapters.index.memories import scopes
from mcp_server.adapters.index.memories.scopes import Searched
from mcp_server.core.memory_parts import OCCASIONS
from mcp_server.core.search import ranking
from mcp_server.core.search.matches import Matches, added, near, sums
from mcp_server.core.search.matches import best_passages as of_memories
from mcp_server.core.search.query import Filter
from mcp_server.core.text.languages import STEMMED, mark
from mcp_server.core.text.words import match_expression, near_expression, word_forms

CANDIDATES = 200  # memories


class Occurrences:
    """
    In how many memories and passages of the index *db* a word occurs, and which memories have two *together*.

    Each word and pair is looked up once, so this is made for one snapshot of the index and then dropped.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.in_memories = functools.cache(lambda word: _count(db, "memories_fts", word))
        self.in_passages = functools.cache(lambda word: _count(db, "passages_fts", word))
        self.together = functools.cache(lambda first, second: _together(db, first, second))


def search(
    occurrences: Occurrences,
    questions: Sequence[Sequence[str]],
    filter: Filter,
    vaults: Sequence[str],
    *,
    without: Collection[int] = frozenset(),
) -> list[Matches]:
    """
    Return the matches of each question's terms among the memories of *vaults* that *filter* lets through.

    The rows *without* are left out. Terms that several questions share are looked up once.
    """
    db, count = occurrences.db, occurrences.in_memories
    searched = scopes.searched(db, filter, vaults)
    number = searched.number - _held(db, searched, without)
    documents, _ = scopes.size(db)
    most = ranking.rows_for_each(len(questions))
    rows = functools.cache(
        lambda word: _in_memories(db, word, searched, _fts_idf(documents, count(word)), most, without)
    )
    languages = [language for language in STEMMED if count(mark(language))]
    answers = []
    for terms in questions:
        forms = {
            term: tuple(word for word in words if count(word))
            for term, words in word_forms(terms, languages).items()
        }
        counts = {term: sum(map(count, words)) for term, words in forms.items()}
        telling = ranking.telling_terms(counts, most_rows=most)
        having = {term: added(map(rows, forms[term])) for term in telling}
        frequencies = {
            term: len(scores) if len(scores) < most else counts[term] for term, scores in having.items()
        }
        weights = {term: ranking.idf(number, frequencies[term]) for term in having}
        totals = sums(having, weights)
        best = dict(heapq.nlargest(CANDIDATES, totals.items(), key=lambda item: item[1]))
        shares = near(best, weights, forms, occurrences.together)
        answers.append(Matches(best, shares, weights, having, forms, number))
    return answers


def best_passages(occurrences: Occurrences, matches: Matches, memories: Collection[int]) -> dict[int, int]:
    """Return memory → the passage of it that has most of the terms of *matches*, for those that have any."""
    db = occurrences.db
    db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (passage INTEGER PRIMARY KEY, memory INTEGER)")
    db.execute("DELETE FROM wanted")
    db.execute(
        "INSERT INTO wanted SELECT row, memory FROM passages"
        " WHERE memory IN (SELECT value FROM json_each(?)) AND position != ?",
        (json.dumps(list(memories)), OCCASIONS),
    )
    owners = dict(db.execute("SELECT passage, memory FROM wanted").fetchall())
    _, documents = scopes.size(db)

    def scores(word: str) -> dict[int, float]:
        return _in_wanted(db, word, _fts_idf(documents, occurrences.in_passages(word)))

    of_terms = {term: added(map(scores, matches.forms[term])) for term in matches.weights}
    return of_memories(sums(of_terms, matches.weights), owners)


def passage_texts(db: sqlite3.Connection, passages: Sequence[int]) -> dict[int, str]:
    """Return passage → its text; for the occasions of a memory, the beginning of its text."""
    numbers = json.dumps(list(passages))
    rows = db.execute(
        "SELECT p.row, t.text FROM passages p JOIN passages t"
        " ON t.memory = p.memory AND t.position = iif(p.position = ?, 0, p.position)"
        " WHERE p.row IN (SELECT value FROM json_each(?))",
        (OCCASIONS, numbers),
    )
    return dict(rows.fetchall())


def _in_memories(
    db: sqlite3.Connection,
    word: str,
    searched: Searched,
    rarity: float,
    most: int,
    without: Collection[int],
) -> dict[int, float]:
    """
    Return memory → how much it has of *word*: FTS5's score without its *rarity*.

    Only the newest *most* are read; the rows *without* take none of their places.
    """
    rows = db.execute(
        # CROSS JOIN keeps the order: from the other side the term is looked up once for each memory.
        f"SELECT f.rowid, -f.rank / ? FROM memories_fts f CROSS JOIN {searched.table}"
        f" ON {searched.table}.row = f.rowid WHERE memories_fts MATCH ? AND {searched.where}"
        " ORDER BY f.rowid DESC LIMIT ?",
        (rarity, match_expression([word]), *searched.values, most + len(without)),
    )
    if not without:
        return dict(rows.fetchall())
    return dict(itertools.islice((row for row in rows if row[0] not in without), most))


def _held(db: sqlite3.Connection, searched: Searched, rows: Collection[int]) -> int:
    """Return how many of *rows* are among the memories *searched*."""
    if not rows:
        return 0
    (count,) = db.execute(
        f"SELECT count(*) FROM {searched.table} WHERE {searched.where}"
        f" AND {searched.table}.row IN (SELECT value FROM json_each(?))",
        (*searched.values, json.dumps([*rows])),
    ).fetchone()
    return int(count)


def _in_wanted(db: sqlite3.Connection, word: str, rarity: float) -> dict[int, float]:
    """Return passage → how much it has of *word*, for those that are wanted."""
    rows = db.execute(
        "SELECT f.rowid, -f.rank / ? FROM passages_fts f CROSS JOIN wanted ON wanted.passage = f.rowid"
        " WHERE passages_fts MATCH ?",
        (rarity, match_expression([word])),
    )
    return dict(rows.fetchall())


def _together(db: sqlite3.Connection, first: Collection[str], second: Collection[str]) -> list[int]:
    """Return the memories that have two terms, each in one of its forms, near each other."""
    expression = near_expression(first, second, ranking.NEAR_WORDS)
    rows = db.execute("SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?", (expression,))
    return [row for (row,) in rows.fetchall()]


def _count(db: sqlite3.Connection, table: str, term: str) -> int:
    rows = db.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (match_expression([term]),))
    return int(rows.fetchone()[0])


def _fts_idf(documents: int, frequency: int) -> float:
    """Return the factor that FTS5's bm25() puts on a term found in *frequency* of *documents* rows."""
    return max(1e-6, math.log((documents - frequency + 0.5) / (frequency + 0.5)))
