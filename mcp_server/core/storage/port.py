"""
The port of a storage: a team's database and a team's server are two of them.

What each promises is told in `tests/storage/test_contract.py`; CONTRIBUTING.md says how to add one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from mcp_server.core.memory import Memory
from mcp_server.core.search.query import Confidence, Query
from mcp_server.core.search.ranking import Score

PAGE = 200  # memories of a page, unless another number is asked for


class ChangeKind(StrEnum):
    """What was done to a memory."""

    CREATED = "created"
    REVISED = "revised"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True)
class Stored:
    """
    One version of a memory in a storage.

    `digest` names the version: it changes with every word and key. `author` is who wrote it, and
    `confirmed_by` the curator who confirmed exactly this version; '' where nobody is known.
    """

    memory: Memory
    digest: str
    author: str = ""
    confirmed_by: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A memory that answers a question: its best passage, its score, and how far it can be relied on."""

    stored: Stored
    passage: str
    score: Score
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Results:
    """What answers a question, best first; `semantic` tells whether meaning was searched."""

    results: tuple[Result, ...]
    semantic: bool


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """What was done to a memory, when and by whom; `before` is what it said until then, None at first."""

    kind: ChangeKind
    at: datetime
    author: str
    before: Memory | None


class Storage(Protocol):
    """
    Keeps memories and finds them; one memory has one id.

    Who calls it is known to the storage: it was opened for that person. Each call may raise NotAllowed when
    they may not do it, and StorageUnavailable when it cannot be reached; then nothing was changed, or what
    was asked for is done when it is asked for again.
    """

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        """
        Keep *memory*; when this returns, it survives a crash.

        *replaces* is the digest of the version that was read before, '' for a new memory. Saving the version
        that is there changes nothing. Raises Conflict when another version is there, NotFound when there is
        none to replace, Rejected when the memory cannot be kept.
        """

    def load(self, memory_id: str) -> Stored:
        """Return the memory of that id; raise NotFound when there is none, or it was forgotten."""

    def search(self, query: Query) -> Results:
        """Return what answers *query*, at most its limit; what was forgotten never does."""

    def forget(self, memory_id: str, *, digest: str) -> None:
        """Take a memory away, restorable; raise Conflict when *digest* names another version, NotFound."""

    def restore(self, memory_id: str) -> Stored:
        """Bring a forgotten memory back as it was; raise NotFound when none of that id was forgotten."""

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        """Return what was done to a memory, the oldest first; raise NotFound for an id that never was."""

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        """Return the first *most* memories whose id is greater than *after*, by id; () at the end."""


def all_pages(page: Callable[..., Sequence[Stored]], most: int = PAGE) -> Iterator[Sequence[Stored]]:
    """
    Yield all memories in pages of *most*; *page* is `Storage.page`, or another that takes the same arguments.

    It ends where a server that errs gives a page that goes no further.
    """
    after = ""
    while (stored := page(after=after, most=most)) and stored[-1].memory.id > after:
        yield stored
        if len(stored) < most:
            return
        after = stored[-1].memory.id
