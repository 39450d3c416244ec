"""
Shadows: a memory that replaces one of a farther level where it is visible: project, team, user.

The farther file does not mention it. It follows from the `supersedes` of the nearer file, and holds as long
as that memory is active. Between the team and another level the same id is enough: what was given to the
team under its id is shown once.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from mcp_server.adapters.index.memories.filters import counting, marks


class Shadow(NamedTuple):
    """The nearer memory that shadows a farther one: its row and id, and since when, in seconds."""

    row: int
    id: str
    since: int


_SINCE = "coalesce(nullif(s.valid_from, 0), s.created)"


def shadowed(
    db: sqlite3.Connection, levels: Sequence[Sequence[str]], *, team: Sequence[str], private: Sequence[str]
) -> dict[int, Shadow]:
    """
    Return row → its shadow, for memories that those of a nearer level supersede.

    *levels* are the keys of the vaults of each level, the farthest first; *team* are those of the team's. A
    memory that waits for the person shadows nothing. An id that a nearer level has, too, means that one.
    """
    shadows: dict[int, Shadow] = {}
    for place, far in enumerate(levels):
        near = [key for level in levels[place + 1 :] for key in level]
        if not far or not near:
            continue
        counts, values = counting("s", private)
        rows = db.execute(
            # CROSS JOIN keeps the order: few of the superseded memories are in the person's vault.
            f"SELECT u.row, s.row, s.id, {_SINCE} FROM links l"
            f" CROSS JOIN memories u ON u.vault IN ({marks(far)}) AND u.id = l.target"
            " CROSS JOIN memories s ON s.row = l.memory"
            f" WHERE l.rel = 'supersedes' AND s.vault IN ({marks(near)}) AND s.status = 'active'"
            f" AND u.status = 'active' AND {counts}"
            f" AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.vault IN ({marks(near)}) AND o.id = u.id)"
            " ORDER BY s.updated, s.row",
            (*far, *near, *values, *near),
        )
        shadows |= {row: Shadow(*by) for row, *by in rows}
        of_team = any(key in team for key in far)
        shadows |= _namesakes(db, far, near if of_team else [*team], private=private)
    return shadows


def _namesakes(
    db: sqlite3.Connection, far: Sequence[str], near: Sequence[str], *, private: Sequence[str]
) -> dict[int, Shadow]:
    """Return row → its shadow, for active memories of *far* whose id an active memory of *near* has."""
    if not far or not near:
        return {}
    counts, values = counting("s", private)
    rows = db.execute(
        f"SELECT u.row, s.row, s.id, {_SINCE} FROM memories s"
        f" CROSS JOIN memories u ON u.id = s.id AND u.vault IN ({marks(far)})"
        f" WHERE s.vault IN ({marks(near)}) AND s.status = 'active' AND u.status = 'active' AND {counts}",
        (*far, *near, *values),
    )
    return {row: Shadow(*by) for row, *by in rows}


def superseding(
    db: sqlite3.Connection, ids: Sequence[str], near: Sequence[str], *, private: Sequence[str]
) -> dict[str, str]:
    """Return id → id of the active memory of *near* that supersedes it or has its id, for some of *ids*."""
    if not ids or not near:
        return {}
    counts, values = counting("s", private)
    active = f"s.vault IN ({marks(near)}) AND s.status = 'active' AND {counts}"
    rows = db.execute(
        "SELECT l.target, s.id FROM links l CROSS JOIN memories s ON s.row = l.memory"
        f" WHERE l.rel = 'supersedes' AND l.target IN ({marks(ids)}) AND {active}"
        f" UNION ALL SELECT s.id, s.id FROM memories s WHERE s.id IN ({marks(ids)}) AND {active}",
        (*ids, *near, *values, *ids, *near, *values),
    )
    return {str(old): str(new) for old, new in rows}
