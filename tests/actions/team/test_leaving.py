"""Leaving a team: nothing of it stays, also when the command is killed, and nothing goes to the next one."""

import os
import shutil
import signal

import pytest

from mcp_server.actions.team.give import remember_for_team
from mcp_server.actions.team.membership import leave
from mcp_server.actions.team.send import waiting
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.actions.team.people import Person
from tests.team_server.minimal_team import MinimalTeam


@pytest.fixture
def leaving(team: MinimalTeam, ben: Person) -> Person:
    """A member with something that waits for the team."""
    team.away = True
    remember_for_team(ben.store, Draft("Ports", "The port is 8080.", level=Level.TEAM))
    team.away = False
    assert waiting(ben.store)
    return ben


def test_what_waits_is_deleted(leaving: Person) -> None:
    leave(leaving.store)

    assert not (leaving.store.home / "team").exists()


@pytest.mark.parametrize("next_act", ["leave", "join"])
def test_what_a_killed_leaving_left_is_deleted_and_reaches_no_other_team(
    leaving: Person, next_act: str
) -> None:
    child = os.fork()
    if child == 0:
        shutil.rmtree = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        leave(leaving.store)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    folder = leaving.store.home / "team"
    assert list((folder / "waiting").glob("*.json"))

    if next_act == "join":
        leaving.join()
    else:
        with pytest.raises(Rejected, match="You are not in a team"):
            leave(leaving.store)

    assert not list(folder.glob("waiting/*.json"))
    assert folder.exists() == (next_act == "join")
