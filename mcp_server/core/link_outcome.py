"""What became of a memory that a link leads to, or led to."""

from dataclasses import dataclass
from enum import StrEnum, auto

from mcp_server.core.memory_parts import Status


class After(StrEnum):
    """What became of the memory that a link leads to, or led to."""

    SUPERSEDED = auto()
    WAITS = auto()
    """It is superseded once the person accepts the other."""
    SHADOWED = auto()
    AWAY = auto()
    """It was put away before, and stays so."""
    MARKED = auto()
    WAITS_MARKED = auto()
    """Nothing is marked before the person accepts the memory at which the link starts."""
    TRACE = auto()
    ACTIVE = auto()
    """It is active again."""
    HOLDS_HERE = auto()
    STAYS = auto()
    GONE = auto()
    SAYS_SO_TOO = auto()


@dataclass(frozen=True, slots=True)
class LinkOutcome:
    """What became of the memory *id*, its status before, and what had superseded it *by* then."""

    id: str
    after: After
    status: Status = Status.ACTIVE
    by: str = ""
