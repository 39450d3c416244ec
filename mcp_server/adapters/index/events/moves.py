"""
A memory that moved to another vault: the ledger's lines about it count under its new name.

These are earlier lines, and later ones of another machine that did not know of the move yet.
"""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.adapters.index import events
from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.runs import UNDONE

TABLES = (Table("moved_refs", {"old": str, "new": str}, pk="old", indexes=(("new",),)),)
EVENTS = (EventRow("moved", "", alive=True, accepts=True),)
ALSO = frozenset({UNDONE})  # which may take a move back
_ANEW = frozenset({"remembered", "restored"})  # events that give a name to a memory, whichever had it before


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: each of `refs` had the name at the same position in `from`."""
    for new, old in zip(data.get("refs") or (), data.get("from") or (), strict=False):
        for table, column in _columns():
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (new, old))
        for module in events.modules():
            if hasattr(module, "rename"):
                module.rename(db, str(new), str(old))
        db.execute("DELETE FROM moved_refs WHERE old = ?", (new,))
        db.execute("UPDATE moved_refs SET new = ? WHERE new = ?", (new, old))
        db.execute("INSERT OR REPLACE INTO moved_refs VALUES (?, ?)", (old, new))


def under_new_names(db: sqlite3.Connection, event: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return *data*, of one event of the ledger, with the names that its memories have since they moved.

    A line may hold the old name: the machine that wrote it did not know of the move yet.
    """
    if "from" in data or db.execute("SELECT 1 FROM moved_refs LIMIT 1").fetchone() is None:
        return data
    if event in _ANEW:
        db.executemany(
            "DELETE FROM moved_refs WHERE old = ?", [(str(ref),) for ref in a_list(data.get("refs"))]
        )
        return data

    def renamed(value: Any) -> Any:
        if isinstance(value, str) and "/" in value:
            row = db.execute("SELECT new FROM moved_refs WHERE old = ?", (value,)).fetchone()
            return row[0] if row else value
        if isinstance(value, dict):
            return {name: renamed(item) for name, item in value.items()}
        return [renamed(item) for item in value] if isinstance(value, list) else value

    return {name: renamed(value) for name, value in data.items()}


@functools.cache
def _columns() -> Sequence[tuple[str, str]]:
    """Return (table, column) of all columns that name memories as the ledger does."""
    tables = [table for module in events.modules() for table in getattr(module, "TABLES", ())]
    return [(table.name, name) for table in tables for name, type in table.columns.items() if type is Ref]
