"""Which memories a model was asked about, because they had few occasions (`use_when`), by the ledger."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.adapters.index.memories.selections import NEVER
from mcp_server.adapters.index.table import Ref, Table

ASKED = "occasions_asked"
TABLES = (Table("occasions_asked", {"ref": Ref}, pk="ref"),)
EVENTS = (EventRow(ASKED, None),)


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger: memories that need not be asked about again, whatever came of it."""
    refs = [(str(ref),) for ref in a_list(data.get("refs"))]
    db.executemany("INSERT OR IGNORE INTO occasions_asked VALUES (?)", refs)


def with_few(db: sqlite3.Connection, vaults: Sequence[str], enough: int, most: int) -> list[Row]:
    """
    Return the *most* first active memories of *vaults* with fewer than *enough* that were not asked about.

    Those that have none come first, then the newest.
    """
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND kind = 'knowledge' AND status = 'active'"
        f" AND source NOT IN ({marks(NEVER)})"
        " AND length(use_when) - length(replace(use_when, char(10), '')) < ? - 1"
        " AND NOT EXISTS (SELECT 1 FROM occasions_asked a WHERE a.ref = vault || '/' || id)",
        (*vaults, *NEVER, enough),
        f"use_when != '', created DESC, id LIMIT {int(most)}",
    )
