"""A memory that moved to another vault: what the ledger said of it counts under its new name."""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.adapters.index import events
from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.table import Ref
from mcp_server.core.runs import UNDONE

EVENTS = (EventRow("moved", "", alive=True, accepts=True),)
ALSO = frozenset({UNDONE})  # which may take a move back


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: each of `refs` had the name at the same position in `from`."""
    for new, old in zip(data.get("refs") or (), data.get("from") or (), strict=False):
        for table, column in _columns():
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (new, old))
        for module in events.modules():
            if hasattr(module, "rename"):
                module.rename(db, str(new), str(old))


@functools.cache
def _columns() -> Sequence[tuple[str, str]]:
    """Return (table, column) of all columns that name memories as the ledger does."""
    tables = [table for module in events.modules() for table in getattr(module, "TABLES", ())]
    return [(table.name, name) for table in tables for name, type in table.columns.items() if type is Ref]
