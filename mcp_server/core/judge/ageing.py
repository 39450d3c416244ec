"""
Which memories age, and how many of them one run may archive.

Only passing things age: the state of the work, its circumstances, what a pattern or a model noted, and kept
conversations and sessions. What the person wrote, said, imported or approved stays, whatever its type.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from mcp_server.core.memory_parts import DAY
from mcp_server.core.memory_types import ROWS
from mcp_server.core.provenance.provenance import MANUAL, OUTPUT
from mcp_server.core.worth.steady_clock import LONGEST_GAP

PASSING = tuple(row.name for row in ROWS if row.ages)
PERSONS = (MANUAL, "imported")  # sources whose memories never age
APART = OUTPUT  # a source whose knowledge is counted with conversations and sessions
AHEAD = LONGEST_GAP * DAY  # seconds; a date further ahead of now does not count

MOST_KNOWLEDGE = 50  # memories that one run archives for their age
MOST_APART = 500  # conversations, sessions and logged output of one run
SHARE = 5  # one run archives at most one in this many of a level's knowledge memories,
ALWAYS = 5  # but may always archive this many, however small the level is

T = TypeVar("T")


def within_bounds(oldest_first: Iterable[tuple[str, T]], knowledge: Mapping[str, int]) -> list[T]:
    """Return the memories that one run may archive; *knowledge* is level → its number of memories."""
    quota = {level: max(ALWAYS, number // SHARE) for level, number in knowledge.items()}
    memories: list[T] = []
    for level, memory in oldest_first:
        if len(memories) == MOST_KNOWLEDGE:
            break
        if quota.get(level, ALWAYS) > 0:
            quota[level] = quota.get(level, ALWAYS) - 1
            memories.append(memory)
    return memories
