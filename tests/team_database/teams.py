"""A team with a member of each role, in an empty database of a real PostgreSQL."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.postgres import administrator, empty_database, server  # skips without PostgreSQL

# isort: split
from mcp_server.adapters.team.database import PostgresTeam, open_database
from mcp_server.core.memory import Memory
from mcp_server.core.team.team import Role, TeamStorage

MOMENT = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)
MEMBERS = {"rita": Role.READER, "anna": Role.WRITER, "bert": Role.WRITER, "cleo": Role.CURATOR}

__all__ = ["administrator", "server"]


@dataclass(frozen=True, slots=True)
class Opened:
    """The database of a team, its address, and its memory as each member sees it."""

    url: str
    team: PostgresTeam
    by: dict[str, TeamStorage]


def memory(memory_id: str, text: str, **keys: object) -> Memory:
    """Return a memory of that id and text."""
    title = str(keys.pop("title", memory_id))
    return Memory(id=memory_id, title=title, text=text, created=MOMENT, updated=MOMENT, **keys)  # type: ignore[arg-type]


def storages(team: PostgresTeam) -> dict[str, TeamStorage]:
    """Issue a token to a member of each role and return the memory as each sees it."""
    storage_by_name: dict[str, TeamStorage] = {}
    for name, role in MEMBERS.items():
        member = team.member_of(team.issue(name, role))
        assert member
        storage_by_name[name] = team.storage_for(member)
    return storage_by_name


@pytest.fixture
def url() -> Iterator[str]:
    """The address of an empty database."""
    with empty_database() as address:
        yield address


@pytest.fixture
def opened(url: str) -> Iterator[Opened]:
    """A team of four, searched by words."""
    with open_database(url) as team:
        yield Opened(url, team, storages(team))
