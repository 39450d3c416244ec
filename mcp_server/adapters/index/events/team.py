"""
Which bytes the curators of the person's team confirmed, by the ledger.

They count as accepted, in the table of `usage`, as long as they are confirmed and the person is in the team.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.table import Table

TABLES = (Table("confirmed_in_team", {"digest": str}, pk="digest"),)
CONFIRMED, WITHDRAWN = "team_confirmed", "team_withdrawn"
EVENTS = (
    EventRow(CONFIRMED, None, accepts=True, local=True),
    EventRow(WITHDRAWN, None, local=True),
    EventRow("team_joined", "a team was joined, whose curators are heeded", local=True),
    EventRow("team_left", "the team was left", local=True),
)


def confirmed(db: sqlite3.Connection) -> set[str]:
    """Return the digests of all bytes that count as accepted because a curator confirmed them."""
    return {str(row[0]) for row in db.execute("SELECT digest FROM confirmed_in_team")}


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event: what is confirmed, or no longer is."""
    digests = [(str(digest),) for digest in a_list(data.get("digests"))]
    if event == CONFIRMED:
        db.executemany("INSERT OR IGNORE INTO confirmed_in_team VALUES (?)", digests)
    elif event == WITHDRAWN:
        db.executemany("DELETE FROM confirmed_in_team WHERE digest = ?", digests)
