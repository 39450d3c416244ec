"""The graph in the index: which memories are nodes, what links them, and what each session has seen of it."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index.events import Event, audit
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Table
from mcp_server.adapters.ledger import Watermark
from mcp_server.core.graph.graph import GRAPH, OWN_LABELS
from mcp_server.core.links import as_name
from mcp_server.core.memory import Status

TABLES = (
    Table(
        "graph_seen",
        {"session": str, "told": int, "seen": str},
        pk="session",
        defaults={"told": 0, "seen": "{}"},
    ),
)
EVENTS = (Event("graph_read", None),)
ALSO = frozenset({"session_started", "session_told"})


@dataclass(frozen=True, slots=True)
class Point:
    """A memory of kind knowledge as far as links need to know it; `names` is all that links may call it."""

    row: int
    vault: str
    id: str
    title: str
    names: frozenset[str]
    status: Status
    own: bool


@dataclass(frozen=True, slots=True)
class Arrow:
    """A link as it stands in a file: from the memory in *row* to whatever *target* names."""

    row: int
    rel: str
    target: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ByHand:
    """A memory that is not as Daybook wrote it last; `path` is '' when it is there no more."""

    ref: str
    at: int
    path: str
    written: audit.Written | None


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: since when a session is told of changes, and what it read."""
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


def arrows(db: sqlite3.Connection, vaults: Sequence[str], *, around: str = "") -> list[Arrow]:
    """
    Return the links between knowledge of *vaults* that make the graph.

    Those from and to what was put through the graph's tools or has the id *around*, and those with notes
    or a label that Daybook does not set by itself.
    """
    found = db.execute(
        "WITH marked AS MATERIALIZED (SELECT row FROM memories"
        f" WHERE vault IN ({marks(vaults)}) AND kind = 'knowledge' AND (category = ? OR id = ?))"
        " SELECT l.memory, l.rel, l.target, l.notes FROM links l JOIN memories m ON m.row = l.memory"
        f" WHERE m.vault IN ({marks(vaults)}) AND m.kind = 'knowledge'"
        f" AND (l.rel NOT IN ({marks(OWN_LABELS)}) OR l.notes != '[]'"
        "  OR l.memory IN (SELECT row FROM marked)"
        "  OR l.name IN (SELECT name FROM names WHERE memory IN (SELECT row FROM marked)))"
        " ORDER BY l.memory, l.rowid",
        (*vaults, GRAPH, around, *vaults, *sorted(OWN_LABELS)),
    )
    return [Arrow(row, rel, target, tuple(json.loads(notes))) for row, rel, target, notes in found]


def points(
    db: sqlite3.Connection, vaults: Sequence[str], arrows: Sequence[Arrow] = (), *, around: str = ""
) -> list[Point]:
    """Return what of *vaults* was put through the graph's tools, is *around*, or at an end of *arrows*."""
    starts = json.dumps([arrow.row for arrow in arrows])
    ends = json.dumps([as_name(arrow.target) for arrow in arrows])
    found = db.execute(
        "SELECT row, vault, id, title, (SELECT json_group_array(name) FROM names WHERE memory = row), status,"
        f" category = ? FROM memories WHERE vault IN ({marks(vaults)}) AND kind = 'knowledge'"
        " AND (category = ? OR id = ? OR row IN (SELECT value FROM json_each(?))"
        "  OR row IN (SELECT memory FROM names WHERE name IN (SELECT value FROM json_each(?)))) ORDER BY row",
        (GRAPH, *vaults, GRAPH, around, starts, ends),
    )
    return [
        Point(row, vault, memory_id, title, frozenset(json.loads(names)), Status(status), bool(own))
        for row, vault, memory_id, title, names, status, own in found
    ]


def ids(db: sqlite3.Connection, vaults: Sequence[str]) -> list[str]:
    """Return the ids of all knowledge of *vaults*."""
    found = db.execute(
        f"SELECT id FROM memories WHERE vault IN ({marks(vaults)}) AND kind = 'knowledge'", tuple(vaults)
    )
    return [str(row[0]) for row in found]


def arrows_of(db: sqlite3.Connection, row: int) -> list[Arrow]:
    """Return the links of one memory."""
    found = db.execute("SELECT rel, target, notes FROM links WHERE memory = ? ORDER BY rowid", (row,))
    return [Arrow(row, rel, target, tuple(json.loads(notes))) for rel, target, notes in found]


def particulars(db: sqlite3.Connection, rows: Iterable[int]) -> dict[int, tuple[tuple[str, ...], int]]:
    """Return row → (notes, Unix seconds of the last use)."""
    found = db.execute(
        "SELECT m.row, m.notes, max(coalesce(u.last_access, 0), coalesce(u.last_confirmed, 0))"
        " FROM memories m LEFT JOIN usage u ON u.ref = m.vault || '/' || m.id"
        " WHERE m.row IN (SELECT value FROM json_each(?)) GROUP BY m.row",
        (json.dumps(list(rows)),),
    )
    return {row: (tuple(json.loads(notes)), last) for row, notes, last in found}


def linking_to(db: sqlite3.Connection, vaults: Sequence[str], target: str) -> list[str]:
    """Return the refs of the memories of *vaults* that have a link to *target*."""
    found = db.execute(
        "SELECT DISTINCT m.vault || '/' || m.id FROM links l JOIN memories m ON m.row = l.memory"
        f" WHERE l.target = ? AND m.vault IN ({marks(vaults)}) ORDER BY 1",
        (target, *vaults),
    )
    return [str(row[0]) for row in found]


def seen(db: sqlite3.Connection, session: str) -> tuple[int, Watermark]:
    """Return (when *session* was last told of changes, 0 for never; how far it has read the graph)."""
    found = db.execute("SELECT told, seen FROM graph_seen WHERE session = ?", (session,)).fetchone()
    return (int(found[0]), json.loads(found[1])) if found else (0, {})


def replayed(db: sqlite3.Connection) -> Watermark:
    """Return how far the ledger was taken in: what this transaction knows."""
    return dict(db.execute("SELECT path, offset FROM ledger_files").fetchall())


def by_hand(db: sqlite3.Connection, vaults: Sequence[str], *, since: int, before: int) -> list[ByHand]:
    """
    Return what changed from second *since* until *before* and is not what Daybook wrote there last.

    Each change lies in one such window, so it is told once. An index made anew logs every memory as
    added; only what is dated since then counts.
    """
    found = db.execute(
        "SELECT c.vault || '/' || c.id, max(c.at), m.path, m.digest, m.fingerprint FROM changes c"
        " LEFT JOIN memories m ON m.vault = c.vault AND m.id = c.id"
        f" WHERE c.vault IN ({marks(vaults)}) AND c.at >= ? AND c.at < ?"
        " AND (m.row IS NULL AND c.change = 'removed' OR c.change = 'modified' OR m.updated >= ?)"
        " GROUP BY 1 ORDER BY max(c.generation)",
        (*vaults, since, before, since),
    ).fetchall()
    return [
        ByHand(ref, at, path or "", written)
        for ref, at, path, digest, said in found
        if not _is_ours(written := audit.last_written(db, ref), digest, said)
    ]


def _is_ours(written: audit.Written | None, digest: str | None, said: str | None) -> bool:
    """Tell whether a memory with that digest and fingerprint, None when it is gone, is as it was written."""
    if written is None:
        return False
    if digest is None:
        return written.is_away
    return digest == written.digest or said in written.said


def count_sessions(db: sqlite3.Connection, since: int) -> int:
    """Return how many sessions were registered or heard of since that Unix second, and did not end."""
    found = db.execute(
        "SELECT count(*) FROM sessions WHERE short != '' AND last >= ? AND NOT ended", (since,)
    )
    return int(found.fetchone()[0])
