"""A small team, and its server."""

from collections.abc import Iterator

import pytest

from mcp_server.core.team.team import Role
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served


@pytest.fixture
def team() -> MinimalTeam:
    return MinimalTeam()


@pytest.fixture
def address(team: MinimalTeam) -> Iterator[str]:
    """Where the server of the team is."""
    with served(team) as address:
        yield address


@pytest.fixture
def tokens(team: MinimalTeam) -> dict[Role, str]:
    """A token for each role: rosa reads, willi writes, carla is a curator."""
    names = {Role.READER: "rosa", Role.WRITER: "willi", Role.CURATOR: "carla"}
    return {role: team.issue(name, role) for role, name in names.items()}
