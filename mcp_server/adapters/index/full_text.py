"""
The full-text indexes: what makes one for a table that is searched by words, and how words enter and leave it.

Whoever inserts a row calls `put`: a trigger that did it would make FTS5 write to the file at each row and not
once in a transaction. Only the index that a rebuild fills gets the words of all rows at the end. The words
of 10,000 memories take 2.6 s of the processor by a trigger, 1.2 by `put`, and .7 at the end.
A row leaves by a trigger, which knows its texts; none is changed in place.

What each transaction adds is a segment of its own, until SQLite merges it with others. A search looks every
word up in each segment. Some ten gather in a store of a thousand memories, 24 in one of ten thousand that was
filled at once, and looking words up in them was a fifth of a recall by words.
"""

import sqlite3
from collections.abc import Iterable, Mapping

from mcp_server.adapters.index.table import TOKENIZER, Table

INDEXES = ("memories_fts", "passages_fts")


def create(db: sqlite3.Connection, tables: Iterable[Table]) -> None:
    """Make the full-text indexes of *tables*, with the words of the rows that are there."""
    for table in tables:
        if table.searched:
            index, columns = f"{table.name}_fts", ", ".join(table.searched)
            texts = ", ".join(f"old.{column}" for column in table.searched)
            db.execute(
                f"CREATE VIRTUAL TABLE {index} USING fts5"
                f"({columns}, tokenize='{TOKENIZER}', content='{table.name}')"
            )
            db.execute(
                f"CREATE TRIGGER {table.name}_leave AFTER DELETE ON {table.name} BEGIN"
                f" INSERT INTO {index} ({index}, rowid, {columns}) VALUES ('delete', old.rowid, {texts}); END"
            )
            db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")


def put(db: sqlite3.Connection, table: str, row: int, texts: Mapping[str, object]) -> None:
    """Let the new *row* of *table* be found by the words in its searched columns, *texts*."""
    db.execute(
        f"INSERT INTO {table}_fts (rowid, {', '.join(texts)}) VALUES (?{', ?' * len(texts)})",
        (row, *texts.values()),
    )


def merge(db: sqlite3.Connection) -> None:
    """
    Make one segment of those of each full-text index, in the transaction of *db*.

    It takes a fiftieth of the time in which the index is made.
    """
    for index in INDEXES:
        db.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
