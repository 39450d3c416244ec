"""What a team is: its members' roles, and the port of its storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Protocol

from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import PAGE, Results, Storage, Stored


class Role(StrEnum):
    """
    What a member may do; each may do what stands before it as well.

    A reader searches and reads. A writer remembers, and changes and forgets what they wrote themselves. A
    curator changes, forgets and restores what anybody wrote, and confirms it.
    """

    READER = "reader"
    WRITER = "writer"
    CURATOR = "curator"


@dataclass(frozen=True, slots=True)
class Member:
    """Who has a token for a team's memory, under a name that is theirs alone."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Team:
    """
    A team as one member sees it: its name, the member's own name and role, and who its curators are.

    `model` is the name of the embedder whose vectors the team stores, '' when it searches by words only.
    """

    name: str
    member: str
    role: Role
    curators: tuple[str, ...]
    model: str


class TeamStorage(Storage, Protocol):
    """
    The memory of a team, opened for one member.

    It refuses what the member's role does not allow with NotAllowed. A change takes the confirmation away: it
    was of the version before. What was forgotten is seen by its author and by curators only.
    """

    def team(self) -> Team:
        """Return the team."""

    def confirm(self, memory_id: str, *, digest: str) -> Stored:
        """
        Note that the member, a curator, vouches for that version: it may be told unasked.

        Raises Conflict when *digest* names another version, NotFound.
        """

    def confirmed(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        """Return the first *most* confirmed memories whose id is greater than *after*, by id."""


class TeamDatabase(Protocol):
    """What keeps a team's memory for all members, as a server sees it; calls may come from many threads."""

    def member_of(self, token: str) -> Member | None:
        """Return whose token that is, None for one that was never issued or is withdrawn."""

    def storage_for(self, member: Member) -> TeamStorage:
        """Return the team's memory as *member* may use it."""


class JoinedTeam(TeamStorage, Protocol):
    """A team's memory as the machine of a member reaches it: over a network that may be slow or gone."""

    def search(self, query: Query, *, patience: float = inf) -> Results:
        """
        Return what answers *query*, waiting for it at most *patience* seconds.

        Raises StorageUnavailable after that.
        """
