"""
What ages, and how much of it at once.

Only what passes: where the work stands, what surrounds it, what a pattern or a model noted, and what was said
and kept by itself. What the person wrote, said, imported or approved stays, whatever its type.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from mcp_server.core.memory import DAY
from mcp_server.core.memory_types import ROWS
from mcp_server.core.provenance.provenance import MANUAL, OUTPUT
from mcp_server.core.worth.steady_clock import LONGEST_GAP

PASSING = tuple(row.name for row in ROWS if row.ages)
PERSONS = (MANUAL, "imported")  # sources whose memories never age
APART = OUTPUT  # a source whose knowledge is counted with conversations and sessions
AHEAD = LONGEST_GAP * DAY  # seconds ahead of now from which on a date is no date

MOST_KNOWLEDGE = 50  # memories that one run archives for their age
MOST_APART = 500  # conversations, sessions and logged output of one run
SHARE = 5  # of a level's knowledge one run archives at most one in so many
ALWAYS = 5  # as many may go however small the level is

T = TypeVar("T")


def within_bounds(oldest_first: Iterable[tuple[str, T]], knowledge: Mapping[str, int]) -> list[T]:
    """Return which of (level, memory) one run may archive; *knowledge* is how much of it each level has."""
    left = {level: max(ALWAYS, number // SHARE) for level, number in knowledge.items()}
    chosen: list[T] = []
    for level, memory in oldest_first:
        if len(chosen) == MOST_KNOWLEDGE:
            break
        if left.get(level, ALWAYS) > 0:
            left[level] = left.get(level, ALWAYS) - 1
            chosen.append(memory)
    return chosen
