"""
Whether the clock can be believed when it says that something is old.

A clock that is wrong for an hour must not archive or delete what took months to gather. So nothing ages
until Daybook was used on three different days, at most thirty days apart, the last of them at most thirty
days ago. Days in the future do not count: they were recorded while a clock was ahead.
"""

from collections.abc import Iterable
from typing import NamedTuple

from mcp_server.core.memory_parts import DAY

DAYS_OF_USE = 3  # different days, in UTC
LONGEST_GAP = 30  # days between two days of use, and between the last one and now


class Doubt(NamedTuple):
    """
    Why the clock is not believed at `now`, and how many days of use are `missing` until it is.

    `before` is the last day of use before these, or the first one in the future, as a Unix second; None
    when there is neither: then Daybook is new here, and the person is not told.
    """

    now: int
    missing: int
    before: int | None


def doubt_of(now: int, used: Iterable[int]) -> Doubt | None:
    """Return why *now* is not believed, None when it is; *used* are times of use in Unix seconds."""
    days = {moment - moment % DAY for moment in used}
    rows = _rows(day for day in days if day <= now)
    current = rows.pop() if rows and now - rows[-1][-1] <= LONGEST_GAP * DAY else []
    if len(current) >= DAYS_OF_USE:
        return None
    future = [day for day in days if day > now + LONGEST_GAP * DAY]
    before = rows[-1][-1] if rows else min(future, default=None)
    return Doubt(now, DAYS_OF_USE - len(current), before)


def known_since(used: Iterable[int]) -> int | None:
    """
    Return the first believed day as a Unix second, None without one; earlier dates in the ledger are void.

    After a clock once fell back to 1970, what was deleted on that day must not count as old.
    """
    rows = _rows({moment - moment % DAY for moment in used})
    return next((row[0] for row in rows if len(row) >= DAYS_OF_USE), None)


def _rows(days: Iterable[int]) -> list[list[int]]:
    """Return *days* sorted, in runs that are split where two days are too far apart."""
    rows: list[list[int]] = []
    for day in sorted(days):
        if rows and day - rows[-1][-1] <= LONGEST_GAP * DAY:
            rows[-1].append(day)
        else:
            rows.append([day])
    return rows
