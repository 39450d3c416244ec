"""Which two memories that contradict each other were settled, and what they said then."""

import sqlite3
from typing import Any

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.table import Table
from mcp_server.core.memory import fingerprint

TABLES = (Table("resolved", {"one": str, "other": str, "said": str, "telling": str}, pk=("one", "other")),)
EVENTS = (EventRow("contradiction_resolved", ""),)
TAKEN_BACK = frozenset({"contradiction_resolved"})
AGAIN = "again"  # how two were settled that are a question again


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """
    Take in that somebody settled how two memories stand, as long as they say what they said then.

    `how` is "again" where that is taken back.
    """
    refs, said, telling = data.get("refs"), data.get("said"), data.get("telling")
    if isinstance(refs, list) and isinstance(said, list) and len(refs) == len(said) == 2:
        # A line of an earlier version has no telling words.
        telling = telling if isinstance(telling, list) and len(telling) == 2 else ["", ""]
        (one, *first), (other, *second) = sorted(zip(refs, said, telling, strict=True))
        if data.get("how") == AGAIN:
            db.execute("DELETE FROM resolved WHERE one = ? AND other = ?", (one, other))
            return
        pairs = [" ".join(map(str, pair)) for pair in zip(first, second, strict=True)]
        db.execute(
            "INSERT OR REPLACE INTO resolved VALUES (?, ?, ?, ?)", (one, other, *map(str.strip, pairs))
        )


def take_back(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take back that two memories were settled, so that they are a question again."""
    add(db, event, {**data, "how": AGAIN}, at)


def is_resolved(db: sqlite3.Connection, one: Row, other: Row) -> bool:
    """Tell whether somebody settled how two memories stand, and no telling word of either changed since."""
    first, second = sorted((one, other), key=lambda row: row.ref)
    found = db.execute(
        "SELECT said, telling FROM resolved WHERE one = ? AND other = ?", (first.ref, second.ref)
    ).fetchone()
    if not found:
        return False
    said, telling = found
    digest = fingerprint
    if telling:
        from mcp_server.core.provenance.telling import (
            telling_digest,  # slow to load, and few sessions start with such
        )

        digest = telling_digest
    return bool(" ".join(digest(row.title, row.text) for row in (first, second)) == (telling or said))


def rename(db: sqlite3.Connection, new: str, old: str) -> None:
    """Let two memories that were settled stay so; what each says stands in the order of their names."""
    found = db.execute("SELECT * FROM resolved WHERE ? IN (one, other)", (old,)).fetchall()
    db.execute("DELETE FROM resolved WHERE ? IN (one, other)", (old,))
    for *refs, said, telling in found:
        named = [new if ref == old else ref for ref in refs]
        step = 1 if named == sorted(named) else -1
        texts = [" ".join(each.split()[::step]) for each in (said, telling)]
        db.execute("INSERT OR REPLACE INTO resolved VALUES (?, ?, ?, ?)", (*sorted(named), *texts))
