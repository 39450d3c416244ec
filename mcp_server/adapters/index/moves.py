"""A memory that moved to another vault: what the ledger had told of it goes on under its new name."""

import sqlite3
from collections.abc import Mapping
from typing import Any

EVENTS = frozenset({"moved"})
_NAMED = (
    ("usage", "ref"), ("used", "ref"), ("trust_events", "ref"), ("receipts", "ref"), ("touched", "ref"),
    ("injected", "ref"), ("put_away", "ref"), ("imported", "ref"), ("life", "ref"), ("kept", "ref"),
    ("transitions", "first"), ("transitions", "second"),
)  # fmt: skip


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: each of `refs` was called as `from` says in the same place."""
    for new, old in zip(data.get("refs") or (), data.get("from") or (), strict=False):
        for table, column in _NAMED:
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (new, old))
