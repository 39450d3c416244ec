"""A project is the same project on each machine: by its git remote, else by the person's word, asked once."""

from pathlib import Path

from mcp_server.actions.context.notice import offered
from mcp_server.actions.files.read import read
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.core.memory_parts import Level
from tests.actions.remote.conftest import Machines
from tests.adapters.project.repositories import git
from tests.memories import stored


def test_a_git_remote_makes_two_folders_one_project(machines: Machines, tmp_path: Path) -> None:
    folders = [tmp_path / "here" / "shop", tmp_path / "there" / "store"]
    for folder in folders:
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", "git@example.com:me/shop.git")
    desk = machines.joined("desk", folders[0])
    memory_id = stored(desk, "Deploys start from release.", level=Level.PROJECT)
    exchange(desk)

    laptop = machines.joined("laptop", folders[1])

    assert read(laptop, memory_id).vault.level is Level.PROJECT


def test_without_a_git_remote_the_person_is_asked_once(machines: Machines, tmp_path: Path) -> None:
    folders = [tmp_path / "here" / "shop", tmp_path / "there" / "shop"]
    for folder in folders:
        folder.mkdir(parents=True)
    desk = machines.joined("desk", folders[0])
    memory_id = stored(desk, "Deploys start from release.", level=Level.PROJECT)
    exchange(desk)
    laptop = machines.joined("laptop", folders[1])
    assert [former.elsewhere for former in offered(laptop)] == [True]

    adopt(laptop)

    laptop = machines.open("laptop", folders[1])
    assert read(laptop, memory_id).vault.level is Level.PROJECT
    assert not offered(laptop)
    other = stored(laptop, "The staging host is birch.", level=Level.PROJECT)
    machines.meet(laptop, desk)
    assert read(desk, other).vault.level is Level.PROJECT
    assert not offered(machines.open("desk", folders[0]))
