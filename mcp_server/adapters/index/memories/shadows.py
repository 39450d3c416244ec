"""
Shadows: a project's memory that takes the place of one of the person's, in that project alone.

Nothing of it stands in the person's file. It follows from what the project's file says it supersedes, and
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
    db: sqlite3.Connection, user: str, here: Sequence[str], *, private: Sequence[str]
) -> dict[int, Shadow]:
    """
    Return row → what shadows it, for the memories of the vault *user* that the project's, *here*, supersede.

    What waits for the person shadows nothing. An id that a memory of the project has, too, means that one.
    """
    if not here:
        return {}
    counts, values = counting("s", private)
    found = db.execute(
        # CROSS JOIN keeps the order: of all that is superseded little lies in the person's vault.
        "SELECT u.row, s.row, s.id, coalesce(nullif(s.valid_from, 0), s.created) FROM links l"
        " CROSS JOIN memories u ON u.vault = ? AND u.id = l.target CROSS JOIN memories s ON s.row = l.memory"
        f" WHERE l.rel = 'supersedes' AND s.vault IN ({marks(here)}) AND s.status = 'active'"
        f" AND u.status = 'active' AND {counts}"
        f" AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.vault IN ({marks(here)}) AND o.id = u.id)"
        " ORDER BY s.updated, s.row",
        (user, *here, *values, *here),
    )
    return {row: Shadow(*by) for row, *by in found}
