"""
Shadows: a project's memory that replaces one of the person's, in that project only.

The person's file does not mention it. It follows from the `supersedes` of the project's file, and
holds as long as that memory is active.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from mcp_server.adapters.index.memories.filters import counting, marks


class Shadow(NamedTuple):
    """The project's memory that shadows one of the person's: its row and id, and since when, in seconds."""

    row: int
    id: str
    since: int


def shadowed(
    db: sqlite3.Connection, user: str, project: Sequence[str], *, private: Sequence[str]
) -> dict[int, Shadow]:
    """
    Return row → its shadow, for memories of the vault *user* that those of *project* supersede.

    A memory that waits for the person shadows nothing. An id that the project has, too, means the project's.
    """
    if not project:
        return {}
    counts, values = counting("s", private)
    rows = db.execute(
        # CROSS JOIN keeps the order: few of the superseded memories are in the person's vault.
        "SELECT u.row, s.row, s.id, coalesce(nullif(s.valid_from, 0), s.created) FROM links l"
        " CROSS JOIN memories u ON u.vault = ? AND u.id = l.target CROSS JOIN memories s ON s.row = l.memory"
        f" WHERE l.rel = 'supersedes' AND s.vault IN ({marks(project)}) AND s.status = 'active'"
        f" AND u.status = 'active' AND {counts}"
        f" AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.vault IN ({marks(project)}) AND o.id = u.id)"
        " ORDER BY s.updated, s.row",
        (user, *project, *values, *project),
    )
    return {row: Shadow(*by) for row, *by in rows}
