"""
The words of a text as the full-text indexes have them: split, folded and stemmed by SQLite's own tokenizer.

A team's database stores these words, so that a search there matches as in the index.
"""

import sqlite3
import threading
from collections.abc import Sequence
from typing import NamedTuple

from mcp_server.adapters.index.table import TOKENIZER

BETWEEN = 10  # positions between two texts, so that no word of one is near one of the other


class Token(NamedTuple):
    """A word as it is indexed, and where it stands, from 0."""

    word: str
    position: int


class _OfThread(threading.local):
    """A database in memory for each calling thread; it holds only the text that is being split."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='{TOKENIZER}')")
        self.db.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, instance)")


_own = _OfThread()


def tokens(texts: Sequence[str]) -> list[Token]:
    """Return the words of *texts*, in the order in which they stand there."""
    words: list[Token] = []
    start = 0
    for text in texts:
        _own.db.execute("BEGIN")
        try:
            _own.db.execute("INSERT INTO texts (rowid, text) VALUES (1, ?)", (text,))
            rows = _own.db.execute("SELECT term, offset FROM tokens ORDER BY offset").fetchall()
        finally:
            _own.db.execute("ROLLBACK")
        words += [Token(word, start + offset) for word, offset in rows]
        start = words[-1].position + BETWEEN + 1 if words else start
    return words


def words_of_each(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each of *texts*, in order; for many short ones it is quicker than `tokens`."""
    words: list[list[str]] = [[] for _ in texts]
    _own.db.execute("BEGIN")
    try:
        _own.db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
        for at, word in _own.db.execute("SELECT doc, term FROM tokens ORDER BY doc, offset"):
            words[at].append(word)
    finally:
        _own.db.execute("ROLLBACK")
    return [*map(tuple, words)]
