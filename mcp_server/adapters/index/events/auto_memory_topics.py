"""What Claude Code's own memory holds, by the ledger: which topic file says the same as a memory."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.table import Ref, Table

ELSEWHERE = "told_elsewhere"
TABLES = (
    Table(
        "elsewhere",
        {"origin": str, "place": str, "bytes": str, "ref": Ref, "digest": str},
        pk="origin",
    ),
)
EVENTS = (EventRow(ELSEWHERE, None, local=True),)


class Topic(NamedTuple):
    """
    A topic file that said the same as a memory when Daybook compared the two.

    `origin` names the file, `bytes` is the digest of its content, `digest` that of the memory's file.
    """

    origin: str
    bytes: str
    ref: str
    digest: str


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: all topic files of a folder that say the same as a memory."""
    place = str(data.get("place", ""))
    rows = [(str(topic[0]), place, *map(str, topic[1:4])) for topic in data.get("topics") or ()]
    db.execute("DELETE FROM elsewhere WHERE place = ?", (place,))
    db.executemany("INSERT OR REPLACE INTO elsewhere VALUES (?, ?, ?, ?, ?)", rows)


def is_empty(db: sqlite3.Connection) -> bool:
    """Tell whether no topic file of any folder says the same as a memory."""
    return db.execute("SELECT 1 FROM elsewhere LIMIT 1").fetchone() is None


def topics(db: sqlite3.Connection, place: str) -> Sequence[Topic]:
    """Return the topic files of the folder *place* that say the same as a memory."""
    rows = db.execute(
        "SELECT origin, bytes, ref, digest FROM elsewhere WHERE place = ? ORDER BY origin", (place,)
    )
    return [Topic._make(row) for row in rows]
