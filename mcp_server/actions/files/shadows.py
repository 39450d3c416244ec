"""
shadows: which vaults are visible here, which of the person's memories another one shadows, and what may be
shown unasked.

Light, because the start of a session asks for it.
"""

import contextlib
import sqlite3
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from mcp_server.adapters.index.memories import memories, selections, shadows
from mcp_server.adapters.index.memories.shadows import Shadow
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import may_be_pushed
from mcp_server.store import Store

if TYPE_CHECKING:  # slow to load, and the start of a session needs no queries
    from mcp_server.adapters.index.memories.memories import Row
    from mcp_server.core.search.query import Filter


def visible(store: Store, db: sqlite3.Connection, filter: "Filter") -> list[str]:
    """Return the keys of the vaults to search: the person's and this project's, unless *filter* says more."""
    if filter.all_projects:
        in_use = selections.vaults_in_use(db)
        levels = {vault.key: vault.level for vault in store.vaults}
        return [key for key in in_use if filter.level in (None, levels.get(key, Level.PROJECT))]
    return [vault.key for vault in store.vaults if filter.level in (None, vault.level)]


def is_pushable(row: "Row", private: Collection[str], *, accepted: bool) -> bool:
    """Tell whether a memory may be shown unasked; *private* are the vaults in which no stranger writes."""
    return may_be_pushed(
        source=row.source,
        in_repository=row.vault not in private,
        accepted=accepted,
        instructing=row.instructing,
    )


def shadowed(store: Store, db: sqlite3.Connection) -> Mapping[int, Shadow]:
    """Return row of a memory of the person, or of the team → what shadows it here."""
    levels = ((store.user_vault.key,), store.of_team, store.of_project)
    return shadows.shadowed(db, levels, team=store.of_team, private=store.private)


def superseding(store: Store, db: sqlite3.Connection, ids: Collection[str]) -> Mapping[str, str]:
    """Return id → id of this project's memory that shadows the team's memory of that id here."""
    return shadows.superseding(db, [*ids], store.of_project, private=store.private)


def covered_by(store: Store, refs: Collection[str]) -> tuple[str, ...]:
    """
    Return the ids of the person's memories that the memories *refs* shadow in this project.

    None is known where the index cannot be used: this is said beside a change, which it must not stop.
    """
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        shadows = shadowed(store, db) if refs else {}
        by = memories.by_rows(db, {shadow.row for shadow in shadows.values()})
        rows = [row for row, shadow in shadows.items() if shadow.row in by and by[shadow.row].ref in refs]
        return tuple(sorted(row.id for row in memories.by_rows(db, rows).values()))
    return ()


def uncovered(store: Store, ids: Collection[str]) -> tuple[str, ...]:
    """Return which of *ids* of `covered_by` are not shadowed in this project now, as far as is known."""
    if ids:
        with contextlib.suppress(IndexUnavailable), store.database.read() as db:
            rows = memories.by_rows(db, shadowed(store, db))
            return tuple(sorted(set(ids) - {row.id for row in rows.values()}))
    return ()


def out_of_sight(shadows: Mapping[int, Shadow], *, as_of: datetime | None) -> frozenset[int]:
    """Return the rows in *shadows* that are shadowed here now, or were at *as_of*."""
    moment = int(as_of.timestamp()) if as_of else None
    return frozenset(row for row, shadow in shadows.items() if moment is None or shadow.since <= moment)
