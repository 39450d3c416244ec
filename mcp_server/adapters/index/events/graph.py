"""The graph in the index: the memories stored with its tools, and what each session has seen of it."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index.events import EventRow, deeds
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.adapters.index.table import Table
from mcp_server.adapters.ledger import Watermark

TABLES = (
    Table(
        "graph_seen",
        {"session": str, "told": int, "seen": str},
        pk="session",
        defaults={"told": 0, "seen": "{}"},
    ),
)
EVENTS = (EventRow("graph_read", None, local=True),)
ALSO = frozenset({"session_started", "session_told"})


@dataclass(frozen=True, slots=True)
class ByHand:
    """A memory whose file is not as Daybook last wrote it; `path` is '' when the file is gone."""

    ref: str
    at: int
    path: str
    written: deeds.Written | None


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: from when changes are reported to a session, and what it read."""
    session = str(data.get("session") or "")
    if not session:
        return
    db.execute("INSERT OR IGNORE INTO graph_seen (session, told) VALUES (?, ?)", (session, at))
    if event == "session_told":
        db.execute("UPDATE graph_seen SET told = ? WHERE session = ?", (at, session))
    if event == "graph_read" and isinstance(data.get("watermark"), dict):
        db.execute(
            "UPDATE graph_seen SET seen = ? WHERE session = ?", (json.dumps(data["watermark"]), session)
        )


def nodes(db: sqlite3.Connection, vaults: Sequence[str]) -> list[Row]:
    """Return the active memories of *vaults* that were stored with the graph's tools."""
    from mcp_server.core.graph.graph import GRAPH  # slow to load, and adding up the ledger needs none of it

    where = f"vault IN ({marks(vaults)}) AND status = 'active' AND kind = 'knowledge' AND category = ?"
    return rows(db, where, (*vaults, GRAPH), "row")


def particulars(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, tuple[tuple[str, ...], int]]:
    """Return for the rows *numbers*: row → (notes, Unix seconds of the last use)."""
    rows = db.execute(
        "SELECT m.row, m.notes, max(coalesce(u.last_access, 0), coalesce(u.last_confirmed, 0))"
        " FROM memories m LEFT JOIN usage u ON u.ref = m.vault || '/' || m.id"
        " WHERE m.row IN (SELECT value FROM json_each(?)) GROUP BY m.row",
        (json.dumps(list(numbers)),),
    )
    return {row: (tuple(json.loads(notes)), last) for row, notes, last in rows}


def seen(db: sqlite3.Connection, session: str) -> tuple[int, Watermark]:
    """Return (when changes were last reported to *session*, 0 for never; how far it has read the graph)."""
    row = db.execute("SELECT told, seen FROM graph_seen WHERE session = ?", (session,)).fetchone()
    return (int(row[0]), json.loads(row[1])) if row else (0, {})


def by_hand(db: sqlite3.Connection, vaults: Sequence[str], *, since: int, before: int) -> list[ByHand]:
    """
    Return what changed from second *since* until *before* and is not as Daybook last wrote it.

    Each change is in one such window, so it is reported once. A rebuilt index logs every memory as
    added; of those, only memories dated since then count.
    """
    rows = db.execute(
        "SELECT c.vault || '/' || c.id, max(c.at), m.path, m.digest, m.fingerprint FROM changes c"
        " LEFT JOIN memories m ON m.vault = c.vault AND m.id = c.id"
        f" WHERE c.vault IN ({marks(vaults)}) AND c.at >= ? AND c.at < ?"
        " AND (m.row IS NULL AND c.change = 'removed' OR c.change = 'modified' OR m.updated >= ?)"
        " GROUP BY 1 ORDER BY max(c.generation)",
        (*vaults, since, before, since),
    ).fetchall()
    return [
        ByHand(ref, at, path or "", written)
        for ref, at, path, digest, fingerprint in rows
        if not _is_ours(written := deeds.last_written(db, ref), digest, fingerprint)
    ]


def _is_ours(written: deeds.Written | None, digest: str | None, words_hash: str | None) -> bool:
    """Tell whether a memory with that digest and fingerprint, None when deleted, is as Daybook wrote it."""
    if written is None:
        return False
    if digest is None:
        return written.is_away
    return digest == written.digest or words_hash in written.fingerprints


def count_sessions(db: sqlite3.Connection, since: int) -> int:
    """Return how many sessions were registered or active since that Unix second, and did not end."""
    rows = db.execute("SELECT count(*) FROM sessions WHERE short != '' AND last >= ? AND NOT ended", (since,))
    return int(rows.fetchone()[0])
