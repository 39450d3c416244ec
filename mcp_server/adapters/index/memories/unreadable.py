"""The files of memories that could not be taken into the index, and why."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Table
from mcp_server.core.changes import Stamp

TABLES = (
    Table(
        "unreadable",
        {"path": str, "vault": str, "size": int, "mtime_ns": int, "line": int, "reason": str},
        pk="path",
    ),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read as a memory; `line` counts from 1, 0 for the whole file."""

    path: str
    line: int
    reason: str


def put(db: sqlite3.Connection, *, vault: str, stamp: Stamp, problem: Problem) -> None:
    """
    Note a file that cannot be read; a memory that was read earlier from that path keeps its last good row.

    A size of -1 in *stamp*: the cause is in another file, so the next sync looks again.
    """
    db.execute(
        "INSERT OR REPLACE INTO unreadable (path, vault, size, mtime_ns, line, reason)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (stamp.path, vault, stamp.size, stamp.mtime_ns, problem.line, problem.reason),
    )


def waiting(db: sqlite3.Connection, vault: str) -> list[str]:
    """Return the paths of the files of *vault* that cannot be stored because of another file."""
    rows = db.execute("SELECT path FROM unreadable WHERE vault = ? AND size = -1 ORDER BY path", (vault,))
    return [str(row[0]) for row in rows]


def listed(db: sqlite3.Connection, vaults: Sequence[str]) -> list[Problem]:
    """Return what could not be read in *vaults*, by path."""
    sql = f"SELECT path, line, reason FROM unreadable WHERE vault IN ({marks(vaults)}) ORDER BY path"
    return [Problem(*row) for row in db.execute(sql, tuple(vaults))]


def leave(db: sqlite3.Connection, path: str) -> None:
    """Note that the file at *path* is read now, or gone."""
    db.execute("DELETE FROM unreadable WHERE path = ?", (path,))
