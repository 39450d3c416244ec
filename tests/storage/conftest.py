"""The storages that the contract is tried on, each a way to open an empty one."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.storage.port import Storage
from mcp_server.core.team.team import Role
from tests.patience import PATIENCE
from tests.storage.minimal import MinimalStorage
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served

Opening = Callable[[Path], AbstractContextManager[Storage]]


@contextmanager
def minimal(_: Path) -> Iterator[Storage]:
    """Open the example."""
    seconds = itertools.count()
    yield MinimalStorage(
        "anna", lambda: datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=next(seconds))
    )


@contextmanager
def team_database(_: Path) -> Iterator[Storage]:
    """Open a team's database for one of its writers."""
    from tests.postgres import empty_database  # skips without PostgreSQL, before psycopg is needed

    # isort: split
    from mcp_server.adapters.team.database import open_database

    with empty_database() as url, open_database(url) as team:
        yield team.storage_for(team.member_of(team.issue("anna", Role.WRITER)))


@contextmanager
def team_server(_: Path) -> Iterator[Storage]:
    """Open a team's memory over HTTP, as a curator."""
    team = MinimalTeam()
    with served(team, each_minute=1_000_000) as address:
        yield TeamClient(address, team.issue("anna", Role.CURATOR), deadline=PATIENCE)


@contextmanager
def team_server_and_database(_: Path) -> Iterator[Storage]:
    """Open a team's database over HTTP, for one of its writers."""
    from tests.postgres import empty_database

    # isort: split
    from mcp_server.adapters.team.database import open_database

    with empty_database() as url, open_database(url) as team, served(team, each_minute=1_000_000) as address:
        yield TeamClient(address, team.issue("anna", Role.WRITER), deadline=PATIENCE)


OPENINGS: dict[str, Opening] = {
    "minimal": minimal,
    "team database": team_database,
    "team server": team_server,
    "team server and database": team_server_and_database,
}
"""Name → how an empty storage is opened, in a folder of its own; each storage has one row."""


@pytest.fixture(params=OPENINGS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """An empty storage, each there is in its turn."""
    with OPENINGS[request.param](tmp_path) as opened:
        yield opened
