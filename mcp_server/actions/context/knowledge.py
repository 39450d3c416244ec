"""
knowledge: the knowledge that may be shown unasked here, and which of it bears on the work at hand.

Runs before every session, so it stays light: it only reads the index, and stats files without reading them.
"""

import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

from mcp_server.actions.context.current import ordered
from mcp_server.actions.context.hot import allowed_unasked
from mcp_server.actions.context.open_questions import fuller
from mcp_server.adapters.git import git_state
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.vault import stamp
from mcp_server.core.context.brief import BriefEntry
from mcp_server.core.context.current_work import MOST, WORKED_ON, branch_pattern, of_branch
from mcp_server.store import Store

INDEXED = 400  # newest memories whose titles may be shown


def known_here(store: Store, db: sqlite3.Connection) -> list[Row]:
    """Return the knowledge that may be shown unasked here, most important first."""
    rows = selections.newest(db, store.keys, limit=INDEXED, private=store.private)
    return ordered(db, rows, store.now())


def pushable(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> set[int]:
    """Return the rows that may be shown unasked and whose files still say what the index says."""
    allowed = allowed_unasked(store, db, rows)
    stamped = memories.stamps_of(db, [row.row for row in rows])
    may = set()
    for row in rows:
        on_disk = stamp(row.path)
        unchanged = on_disk is not None and stamped.get(row.row) == on_disk.mtime_ns
        if row.row in allowed and unchanged:
            may.add(row.row)
    return may


def bearing(store: Store, rows: Sequence[Row], folder: Path | None) -> set[str]:
    """Return the refs of those *rows* that bear on the current branch or on files changed lately."""
    refs = set[str]()
    state = git_state(folder or store.project.root) if store.project else None
    if pattern := branch_pattern(state.branch) if state else None:
        refs = {row.ref for row in rows if of_branch(pattern, row.title, row.tags, row.touches)}
    if about := [row for row in rows if row.touches]:
        from mcp_server.actions.recall.staleness import worked_on  # most memories are about no file

        new = worked_on(store, about, store.now() - WORKED_ON)
        if len(new) <= max(1, MOST * len(about)):
            refs |= new
    return refs


def titles(
    store: Store, db: sqlite3.Connection, rows: Sequence[Row], first: Collection[str]
) -> list[BriefEntry]:
    """Return those of *rows* that may be shown by title, first those whose refs are among *first*."""
    whole = fuller(store, db)
    rows = sorted(rows, key=lambda row: row.ref not in first) if first else rows
    by_ref = {row.ref: row for row in (whole.get(row.row, row) for row in rows)}
    pushable_rows = pushable(store, db, [*by_ref.values()])
    shown_rows = [row for row in by_ref.values() if row.row in pushable_rows]
    gone_refs = _gone(store, db, shown_rows)
    # By title alone: hundreds of texts and days would not be read.
    return [
        BriefEntry(row.id, row.ref, row.digest, row.type, row.title, "")
        for row in shown_rows
        if row.ref not in gone_refs
    ]


def _gone(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> set[str]:
    """Return the refs of those *rows* that are about files that are all gone."""
    about = [row for row in rows if row.touches]
    if not about:
        return set()
    from mcp_server.actions.recall.staleness import gone  # most memories are about no file

    return gone(store, db, about)
