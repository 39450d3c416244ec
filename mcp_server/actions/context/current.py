"""current: which memories are still current, and in which order they are shown."""

import sqlite3
from collections.abc import Sequence

from mcp_server.adapters.index.events import deeds, usage
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.judge.ageing import AHEAD
from mcp_server.core.memory_parts import DAY
from mcp_server.core.worth import ratings


def days_since_touched(db: sqlite3.Connection, rows: Sequence[Row], now: int) -> dict[str, float]:
    """
    Return ref → days since the memory was updated, verified, or its words were changed by hand.

    People who edit a file seldom edit its date, and reading a file never rewrites it: the ledger has the day.
    """
    edited = deeds.last_done(db, [row.ref for row in rows], event="edited", until=now + AHEAD)
    return {row.ref: (now - max(row.updated, row.verified, edited.get(row.ref, 0))) / DAY for row in rows}


def timely(db: sqlite3.Connection, rows: Sequence[Row], now: int) -> list[Row]:
    """Return those of *rows* that have not faded, in their order."""
    ages = days_since_touched(db, [row for row in rows if row.type in ratings.CURRENCY_LIFE], now)
    return [row for row in rows if ratings.currency(row.type, ages.get(row.ref, 0.0)) >= ratings.FADED]


def ordered(db: sqlite3.Connection, rows: Sequence[Row], now: int) -> list[Row]:
    """Return those of *rows* that have not faded, by currency × (1 + accesses / 10), the newest first."""
    refs_and_rows = [(row.ref, row) for row in rows]  # there may be hundreds: build each ref once
    usages = usage.usage_of(db, [ref for ref, _ in refs_and_rows])
    ages = days_since_touched(db, [row for row in rows if row.type in ratings.CURRENCY_LIFE], now)
    ranked = []
    for place, (ref, row) in enumerate(refs_and_rows):
        current = ratings.currency(row.type, ages.get(ref, 0.0))
        if current >= ratings.FADED:
            accesses = usages[ref].accesses if ref in usages else 0
            ranked.append((-current * (1 + accesses / 10), -row.updated, place))
    return [rows[place] for _, _, place in sorted(ranked)]
