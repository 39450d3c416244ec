"""Our own repository was damaged: it is said what to do, and after that the exchange goes on."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import exchange, repository_of
from mcp_server.actions.remote.set_up import add, look_ahead, remove, state_of
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.memories import stored


def objects_are_overwritten(repository: Path) -> None:
    for path in repository.glob("objects/??/*"):
        path.chmod(0o600)
        path.write_bytes(b"something else")


def objects_are_gone(repository: Path) -> None:
    shutil.rmtree(repository / "objects")


def head_is_overwritten(repository: Path) -> None:
    (repository / "HEAD").write_text("something else", encoding="ascii")


def trouble_of(store: Store) -> str:
    try:
        return exchange(store).trouble
    except RemoteUnavailable as error:
        return error.with_hint


@pytest.mark.parametrize("damage", [objects_are_overwritten, objects_are_gone, head_is_overwritten])
def test_it_is_said_what_to_do_and_done_it_helps(machines: Machines, damage: Callable[[Path], None]) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    stored(desk, "The port is 80.")
    machines.meet(desk, laptop)
    damage(repository_of(desk).folder)
    new = stored(desk, "The desk learned this afterwards.")

    trouble = trouble_of(desk)

    assert f"own repository {repository_of(desk).folder} cannot be used" in trouble
    assert "'daybook remote remove'" in trouble
    state = state_of(desk.home)
    assert state and state.last.trouble == trouble
    remove(desk)
    assert not add(desk, look_ahead(desk, str(machines.remote))).trouble
    assert exchange(laptop).added == (new,)
    assert says(desk) == says(laptop)


def test_a_remote_that_is_damaged_is_no_fault_of_ours(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    stored(desk, "The port is 80.")
    exchange(desk)
    objects_are_overwritten(machines.remote)

    assert "The remote could not be reached" in trouble_of(laptop)
