"""Which memories in repositories have the bytes that the person accepted kept in the history."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.adapters.index.table import Ref, Table

TABLES = (Table("accepted_bytes", {"ref": Ref, "digest": str}, pk=("ref", "digest")),)
_KEPT = (
    "SELECT 1 FROM accepted_bytes WHERE ref = vault || '/' || id AND accepted_bytes.digest = memories.digest"
)


def not_kept(db: sqlite3.Connection, vaults: Sequence[str]) -> list[Row]:
    """Return the memories of *vaults* whose bytes are accepted and not yet kept in the history."""
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND digest IN (SELECT digest FROM accepted) AND NOT EXISTS ({_KEPT})",
        tuple(vaults),
        "path",
    )


def is_empty(db: sqlite3.Connection, vault: str) -> bool:
    """Tell whether nothing is noted for *vault*, as in a new index."""
    return not db.execute("SELECT 1 FROM accepted_bytes WHERE ref GLOB ? LIMIT 1", (f"{vault}/*",)).fetchone()


def note_kept(db: sqlite3.Connection, pairs: Iterable[tuple[str, str]]) -> None:
    """Note that the history has these bytes: pairs of ref and digest."""
    db.executemany("INSERT OR IGNORE INTO accepted_bytes VALUES (?, ?)", pairs)


def once_accepted(db: sqlite3.Connection, refs: Iterable[str]) -> set[str]:
    """Return those of *refs* for which the history has accepted bytes, whatever the file says now."""
    rows = db.execute(
        "SELECT DISTINCT ref FROM accepted_bytes WHERE ref IN (SELECT value FROM json_each(?))"
        " AND digest IN (SELECT digest FROM accepted)",
        (json.dumps(list(refs)),),
    )
    return {str(row[0]) for row in rows}
