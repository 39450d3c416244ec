"""A memory that moved to another vault: what the ledger had told of it goes on under its new name."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

EVENTS = frozenset({"moved"})
_NAMED = (
    ("usage", "ref"), ("used", "ref"), ("trust_events", "ref"), ("receipts", "ref"), ("touched", "ref"),
    ("injected", "ref"), ("pointed", "ref"), ("put_away", "ref"), ("imported", "ref"), ("life", "ref"),
    ("elsewhere", "ref"),
    ("kept", "ref"), ("accepted_bytes", "ref"),
    ("transitions", "first"), ("transitions", "second"),
)  # fmt: skip


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: each of `refs` was called as `from` says in the same place."""
    for new, old in zip(data.get("refs") or (), data.get("from") or (), strict=False):
        for table, column in _NAMED:
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (new, old))
        _rename_in_audit(db, str(new), str(old))
        _rename_in_resolved(db, str(new), str(old))


def _rename_in_audit(db: sqlite3.Connection, new: str, old: str) -> None:
    """Let what was done to the memory be found by its new name, and taken back under it."""
    said = json.dumps(old)
    db.execute(
        "UPDATE audit SET ref = iif(ref = '', '', ?), detail = replace(detail, ?, ?)"
        " WHERE ref = ? OR (ref = '' AND instr(detail, ?))",
        (new, said, json.dumps(new), old, said),
    )


def _rename_in_resolved(db: sqlite3.Connection, new: str, old: str) -> None:
    """Let two memories that were settled stay so; what each says stands in the order of their names."""
    found = db.execute("SELECT * FROM resolved WHERE ? IN (one, other)", (old,)).fetchall()
    db.execute("DELETE FROM resolved WHERE ? IN (one, other)", (old,))
    for *refs, said, telling in found:
        named = [new if ref == old else ref for ref in refs]
        step = 1 if named == sorted(named) else -1
        texts = [" ".join(each.split()[::step]) for each in (said, telling)]
        db.execute("INSERT OR REPLACE INTO resolved VALUES (?, ?, ?, ?)", (*sorted(named), *texts))
