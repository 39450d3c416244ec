"""A team in memory: the minimal storage with members and roles, the fast one for tests of the server."""

import hashlib
import itertools
import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from mcp_server.core.errors import Conflict, NotAllowed, NotFound, StorageUnavailable
from mcp_server.core.memory import Memory
from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import PAGE, ChangeKind, ChangeRecord, Results, Stored
from mcp_server.core.team.team import Member, Role, Team, TeamStorage
from tests.storage.minimal import MinimalStorage

ORDER = list(Role)


class MinimalTeam:
    """A TeamDatabase; `issue` gives a token. While it is *away*, nothing can be asked of it."""

    def __init__(self, name: str = "Quaggas") -> None:
        self.name = name
        self.away = False
        self.kept = _Kept()
        self._members: dict[str, tuple[Member, bytes]] = {}

    def issue(self, name: str, role: Role) -> str:
        token = secrets.token_urlsafe(32)
        self._members[name] = Member(name, role), _hash(token)
        return token

    def withdraw(self, name: str) -> None:
        del self._members[name]

    def members(self) -> tuple[Member, ...]:
        return tuple(member for member, _ in self._members.values())

    def member_of(self, token: str) -> Member | None:
        self.look()
        member_by_digest = {digest: member for member, digest in self._members.values()}
        return member_by_digest.get(_hash(token))

    def storage_for(self, member: Member) -> TeamStorage:
        return _OfMember(self, member)

    def look(self) -> None:
        if self.away:
            raise StorageUnavailable("The team's database does not answer.")


class _Kept(MinimalStorage):
    """What all members wrote: each change by who calls."""

    def __init__(self) -> None:
        self._calls = threading.local()
        seconds = itertools.count()
        start = datetime(2026, 11, 20, tzinfo=UTC)
        super().__init__("", lambda: start + timedelta(seconds=next(seconds)))

    @property
    def _author(self) -> str:  # type: ignore[override]
        author: str = self._calls.author
        return author

    @_author.setter
    def _author(self, author: str) -> None:
        self._calls.author = author

    def by(self, author: str) -> None:
        self._author = author

    def is_there(self, memory_id: str) -> bool:
        return memory_id in self._kept

    def forgotten_by(self, memory_id: str) -> str:
        return self._forgotten[memory_id].author if memory_id in self._forgotten else ""

    def confirm(self, memory_id: str, digest: str, by: str) -> Stored:
        with self._lock:
            stored = self.load(memory_id)
            if stored.digest != digest:
                raise Conflict(f"{memory_id} was changed meanwhile.")
            if not stored.confirmed_by:
                self._note(memory_id, ChangeKind.CONFIRMED)
                self._kept[memory_id] = replace(stored, confirmed_by=by)
            return self._kept[memory_id]

    def keep_author(self, memory_id: str, author: str) -> Stored:
        self._kept[memory_id] = replace(self._kept[memory_id], author=author)
        return self._kept[memory_id]


class _OfMember:
    """The team's memory as one member may use it."""

    def __init__(self, team: MinimalTeam, member: Member) -> None:
        self._team, self._member = team, member

    def team(self) -> Team:
        self._may(Role.READER)
        curators = tuple(member.name for member in self._team.members() if member.role is Role.CURATOR)
        return Team(self._team.name, self._member.name, self._member.role, curators, "")

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        storage = self._may(Role.WRITER)
        author = storage.load(memory.id).author if storage.is_there(memory.id) else ""
        if author and replaces:
            self._own(author)
        stored = storage.save(memory, replaces=replaces)
        return storage.keep_author(memory.id, author) if author else stored

    def load(self, memory_id: str) -> Stored:
        return self._may(Role.READER).load(memory_id)

    def search(self, query: Query) -> Results:
        return self._may(Role.READER).search(query)

    def forget(self, memory_id: str, *, digest: str) -> None:
        storage = self._may(Role.WRITER)
        self._own(storage.load(memory_id).author)
        storage.forget(memory_id, digest=digest)

    def restore(self, memory_id: str) -> Stored:
        storage = self._may(Role.WRITER)
        if author := storage.forgotten_by(memory_id):
            self._own(author, hidden=memory_id)
        return storage.restore(memory_id)

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        return self._may(Role.READER).history(memory_id)

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        return self._may(Role.READER).page(after=after, most=most)

    def confirm(self, memory_id: str, *, digest: str) -> Stored:
        return self._may(Role.CURATOR).confirm(memory_id, digest, self._member.name)

    def confirmed(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        stored_memories = self._may(Role.READER).page(after=after, most=1_000_000)
        return tuple(stored for stored in stored_memories if stored.confirmed_by)[:most]

    def _may(self, role: Role) -> _Kept:
        """Return what the team keeps, if the member has *role*, or one that may do more."""
        self._team.look()
        if ORDER.index(self._member.role) < ORDER.index(role):
            raise NotAllowed(f"A {self._member.role} may not do this.")
        self._team.kept.by(self._member.name)
        return self._team.kept

    def _own(self, author: str, *, hidden: str = "") -> None:
        if self._member.role is not Role.CURATOR and author != self._member.name:
            raise NotFound(hidden) if hidden else NotAllowed(f"{author} wrote this.")


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
