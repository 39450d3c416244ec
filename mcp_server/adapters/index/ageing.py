"""The choices of memories that upkeep makes by their age and their links, whatever they say."""

import sqlite3
from collections.abc import Sequence

from mcp_server.adapters.index.filters import marks
from mcp_server.adapters.index.memories import Row, rows
from mcp_server.core import dials
from mcp_server.core.memory import Status

LASTING = ("architecture", "decision", "pattern", "gotcha", "preference")
"""Types that age only when they were never used."""


def idle(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    before: int,
    now: int,
    limit: int,
    *,
    raw_and_unused: bool = False,
) -> list[Row]:
    """
    Return what was neither updated, verified nor used since *before*, and is neither pinned nor hot *now*.

    Conversations, sessions and notes come first, then the oldest; lasting types only if never used.
    Nodes of the graph do not age: each session reads them all, which counts as no use; compaction is theirs.
    *raw_and_unused*: only conversations that were never used at all.
    """
    only = ""
    if raw_and_unused:
        only = (
            " AND kind = 'conversation' AND NOT EXISTS (SELECT 1 FROM usage u"
            " WHERE u.ref = memories.vault || '/' || memories.id AND u.accesses > 0)"
        )
    lasting = ", ".join(f"'{name}'" for name in LASTING)
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = 'active' AND pinned = 0"
        " AND (kind != 'knowledge' OR category != 'graph')"
        " AND max(updated, verified) < ? AND NOT EXISTS (SELECT 1 FROM usage u"
        " WHERE u.ref = memories.vault || '/' || memories.id"
        " AND (max(u.last_access, u.last_confirmed, u.promoted) >= ?"
        " OR (u.accesses >= ? AND u.last_access > ?)"
        f" OR (memories.kind = 'knowledge' AND memories.type IN ({lasting}) AND u.accesses > 0)))"
        f"{only}",
        (*vaults, before, before, dials.HOT_AFTER, now - int(dials.COLD_AFTER * dials.DAY)),
        f"kind = 'knowledge' AND type != 'note', max(updated, verified), id LIMIT {int(limit)}",
    )


def unlinked(db: sqlite3.Connection, vaults: Sequence[str], status: Status) -> list[Row]:
    """
    Return what has *status* and no link from or to an active memory.

    An active memory of the same session counts as a link: it rests on what was said there. Not for a node
    of the graph, whose links say what it belongs to.
    """
    ends = "links l JOIN names n ON n.name = l.name JOIN memories a"  # l.memory is linked with n.memory
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = ?"
        f" AND row NOT IN (SELECT n.memory FROM {ends} ON a.row = l.memory WHERE a.status = 'active')"
        f" AND row NOT IN (SELECT l.memory FROM {ends} ON a.row = n.memory WHERE a.status = 'active')"
        " AND (session = '' OR category = 'graph' OR session NOT IN"
        " (SELECT a.session FROM memories a WHERE a.status = 'active' AND a.session != ''))",
        (*vaults, status.value),
        "row",
    )


def linked_orphans(db: sqlite3.Connection, vaults: Sequence[str]) -> list[str]:
    """Return the refs of the orphans that an active memory is linked with again."""
    alone = {row.ref for row in unlinked(db, vaults, Status.ORPHANED)}
    orphans = rows(db, f"vault IN ({marks(vaults)}) AND status = 'orphaned'", vaults, "row")
    return [row.ref for row in orphans if row.ref not in alone]


def put_away_within(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    start: int,
    end: int,
    *,
    status: str = "",
    reason: str = "",
) -> list[Row]:
    """Return what tidying put away from *start* to before *end*, with that *status* or for that *reason*."""
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status IN ('archived', 'orphaned')"
        " AND vault || '/' || id IN"
        " (SELECT ref FROM put_away WHERE at >= ? AND at < ?"
        " AND (status = ? OR (reason = ? AND reason != '')))",
        (*vaults, start, end, status, reason),
        "row",
    )
