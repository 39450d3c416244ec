"""A team with a writer, a curator and a member who only reads, and stores of some of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_server.actions.team import side_by_side
from mcp_server.core.team.team import Role
from tests.actions.team.people import Person, Reached, of
from tests.conftest import Open
from tests.patience import PATIENCE
from tests.team_server.minimal_team import MinimalTeam

Join = Callable[..., Person]


@pytest.fixture
def team() -> MinimalTeam:
    team_server = MinimalTeam()
    of(team_server, "anna", Role.WRITER)
    of(team_server, "carla", Role.CURATOR)
    return team_server


@pytest.fixture
def person(
    team: MinimalTeam, open_here: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Join]:
    """Return what gives a person of that name and role a store of their own."""
    monkeypatch.setattr(side_by_side, "PATIENCE", PATIENCE)  # a busy machine may need more than 300 ms
    reached: list[Reached] = []

    def make_person(name: str = "ben", role: Role = Role.WRITER) -> Person:
        reached.append(Reached(of(team, name, role)))
        home = str(tmp_path / f"memory-of-{name}")
        return Person(lambda: open_here(MEMORY_DIR=home).store(), reached[-1])

    yield make_person
    for opened_person in reached:
        opened_person.goes_on.set()


@pytest.fixture
def ben(person: Join) -> Person:
    """A writer who has joined."""
    ben = person()
    ben.join()
    return ben
