"""Which pairs of contradicting memories were settled, and what they said then."""

import sqlite3
from typing import Any

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.table import Table
from mcp_server.core.memory_parts import fingerprint

TABLES = (Table("resolved", {"one": str, "other": str, "said": str, "telling": str}, pk=("one", "other")),)
EVENTS = (EventRow("contradiction_resolved", ""),)
TAKEN_BACK = frozenset({"contradiction_resolved"})
_OPEN = "again"  # how a pair was settled that is open again


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """
    Take in that a pair of memories was settled; it stays so while both say the same as then.

    `how` is "again" where the pair is open again.
    """
    refs, hashes, telling = data.get("refs"), data.get("said"), data.get("telling")
    if isinstance(refs, list) and isinstance(hashes, list) and len(refs) == len(hashes) == 2:
        # A line of an earlier version has no telling words.
        telling = telling if isinstance(telling, list) and len(telling) == 2 else ["", ""]
        (first_ref, *first), (second_ref, *second) = sorted(zip(refs, hashes, telling, strict=True))
        if data.get("how") == _OPEN:
            db.execute("DELETE FROM resolved WHERE one = ? AND other = ?", (first_ref, second_ref))
            return
        pairs = [" ".join(map(str, pair)) for pair in zip(first, second, strict=True)]
        db.execute(
            "INSERT OR REPLACE INTO resolved VALUES (?, ?, ?, ?)",
            (first_ref, second_ref, *map(str.strip, pairs)),
        )


def take_back(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take back that a pair of memories was settled, so that it is open again."""
    add(db, event, {**data, "how": _OPEN}, at)


def is_resolved(db: sqlite3.Connection, memory: Row, other: Row) -> bool:
    """Tell whether this pair was settled, and no telling word of either memory changed since."""
    first, second = sorted((memory, other), key=lambda row: row.ref)
    entry = db.execute(
        "SELECT said, telling FROM resolved WHERE one = ? AND other = ?", (first.ref, second.ref)
    ).fetchone()
    if not entry:
        return False
    hashes, telling = entry
    digest = fingerprint
    if telling:
        # Slow to load, and few sessions start with settled pairs.
        from mcp_server.core.provenance.telling_words import telling_digest

        digest = telling_digest
    return bool(" ".join(digest(row.title, row.text) for row in (first, second)) == (telling or hashes))


def rename(db: sqlite3.Connection, new: str, old: str) -> None:
    """Keep settled pairs settled under the new ref; the digests are in the order of the refs."""
    rows = db.execute("SELECT * FROM resolved WHERE ? IN (one, other)", (old,)).fetchall()
    db.execute("DELETE FROM resolved WHERE ? IN (one, other)", (old,))
    for *refs, hashes, telling in rows:
        named = [new if ref == old else ref for ref in refs]
        step = 1 if named == sorted(named) else -1
        texts = [" ".join(digests.split()[::step]) for digests in (hashes, telling)]
        db.execute("INSERT OR REPLACE INTO resolved VALUES (?, ?, ?, ?)", (*sorted(named), *texts))
