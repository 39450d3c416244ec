"""How many memories there are, by each of their properties and by age."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.adapters.index.memories.filters import marks


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories there are by each of their properties; `size` is the bytes of their files."""

    by_vault: dict[str, int]
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_status: dict[str, int]
    tags: dict[str, int]
    size: int


def counts(db: sqlite3.Connection, vaults: Sequence[str]) -> Counts:
    """Count the memories of *vaults*; the largest numbers come first."""

    def by(column: str, source: str = "memories", condition: str = "1") -> dict[str, int]:
        return dict(
            db.execute(
                f"SELECT {column}, count(*) FROM {source} WHERE vault IN ({marks(vaults)}) AND {condition}"
                " GROUP BY 1 ORDER BY 2 DESC, 1",
                vaults,
            ).fetchall()
        )

    size = db.execute(
        f"SELECT coalesce(sum(max(size, 0)), 0) FROM memories WHERE vault IN ({marks(vaults)})", vaults
    )
    return Counts(
        by_vault=by("vault"),
        by_kind=by("kind"),
        by_type=by("type", condition="kind = 'knowledge'"),
        by_status=by("status"),
        tags=by("tag", "tags JOIN memories ON memories.row = tags.memory"),
        size=int(size.fetchone()[0]),
    )


def ages(db: sqlite3.Connection, vaults: Sequence[str], *, now: int, limits: Sequence[int]) -> list[int]:
    """
    Count the knowledge of *vaults* by the seconds since its last change.

    The first number is of those below the first of the ascending *limits*, the last of those beyond them.
    """
    rows = db.execute(
        "SELECT (SELECT count(*) FROM json_each(?) WHERE value <= ? - updated), count(*) FROM memories"
        f" WHERE vault IN ({marks(vaults)}) AND kind = 'knowledge' GROUP BY 1",
        (json.dumps(list(limits)), now, *vaults),
    )
    numbers = dict(rows.fetchall())
    return [int(numbers.get(place, 0)) for place in range(len(limits) + 1)]


def active_knowledge(db: sqlite3.Connection, vaults: Sequence[str]) -> int:
    """Return how many active memories *vaults* have that are no conversations and no sessions."""
    rows = db.execute(
        f"SELECT count(*) FROM memories WHERE vault IN ({marks(vaults)}) AND status = 'active'"
        " AND kind = 'knowledge'",
        tuple(vaults),
    )
    return int(rows.fetchone()[0])
