"""What upkeep put away in unattended runs, and whether the person was told since."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Table

TABLES = (Table("unattended", {"run": str, "at": int, "told": int}, pk="run", defaults={"told": 0}),)
EVENTS = (EventRow("upkeep_told", None, local=True),)
ALSO = frozenset({"tidied"})
AWAY = ("ageing", "compaction", "drops", "trash")  # steps after which a memory is no longer shown


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger."""
    if event == "upkeep_told":
        rows = [(str(run), at) for run in a_list(data.get("runs"))]
        db.executemany(
            "INSERT INTO unattended VALUES (?, ?, 1) ON CONFLICT (run) DO UPDATE SET told = 1", rows
        )
    elif data.get("unattended"):
        db.execute("INSERT OR IGNORE INTO unattended VALUES (?, ?, 0)", (str(data.get("run", "")), at))


class PutAway(NamedTuple):
    """
    What upkeep put away in runs whose report no one read: `runs` from the first to the last, how many
    memories, and on which day, as a Unix second, the first run was.
    """

    runs: tuple[str, ...]
    memories: int
    since: int


def changed_in(vaults: Sequence[str]) -> str:
    """
    Return the SQL condition that a change `t` of tidying was to a memory of *vaults*; bind *vaults* twice.

    A project's folder may have been renamed since; then the memory is in another vault.
    """
    return (
        f"(t.vault IN ({marks(vaults)}) OR EXISTS"
        f" (SELECT 1 FROM memories m WHERE m.vault IN ({marks(vaults)})"
        " AND json_extract(t.changes, '$[0].ref') = t.vault || '/' || m.id))"
    )


def untold(db: sqlite3.Connection, vaults: Sequence[str]) -> PutAway | None:
    """Return what unattended runs put away in *vaults* that was not undone and the person was not told."""
    rows = db.execute(
        "SELECT u.run, u.at, count(*) FROM unattended u JOIN tidied t ON t.run = u.run"
        f" WHERE NOT u.told AND NOT t.undone AND t.step IN ({marks(AWAY)}) AND {changed_in(vaults)}"
        " GROUP BY u.run ORDER BY u.at, u.run",
        (*AWAY, *vaults, *vaults),
    ).fetchall()
    if not rows:
        return None
    return PutAway(tuple(str(row[0]) for row in rows), sum(row[2] for row in rows), int(rows[0][1]))
