"""Memories of a project that move as a whole are in one place after a kill at any line and a second try."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, leave, untrusted
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped
from tests.opened import opened_at

MOVING = ("move_many", "_give_name", "_take_name", "take_away", "append_line", "write_new", "link")
FACTS = 3


class Place:
    """A person's store, and a project of theirs whose folder can be renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project = folder, folder / "shop"
        shutil.rmtree(folder, ignore_errors=True)
        self.project.mkdir(parents=True)
        for number in range(FACTS):
            remember(self.store(), Draft(f"Fact {number}", f"Fact {number} holds.", type="decision"))
        forget(self.store(), remember(self.store(), Draft("Trash", "It is in the trash.")).memory.id)

    def store(self) -> Store:
        return opened_at(self.folder / "memory", self.project).store()

    def files(self) -> list[str]:
        """Return where the memories' files are, without the endings of their ids."""
        paths = [path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*-*.md")]
        return sorted(path.rpartition("-")[0] for path in paths if "/history/" not in path)


def into_repository(place: Place) -> None:
    init(place.store())


def out_of_repository(place: Place) -> None:
    leave(place.store())


def adopted(place: Place) -> None:
    adopt(place.store())


def nothing(place: Place) -> None:
    del place


def renamed(place: Place) -> None:
    sync(place.store())
    place.project = place.project.rename(place.folder / "market")


@pytest.mark.parametrize(
    ("before", "verb"),
    [(nothing, into_repository), (into_repository, out_of_repository), (renamed, adopted)],
)
def test_what_moves_as_a_whole_is_whole_after_a_kill_and_a_second_try(
    quick_folder: Path, before: Callable[[Place], None], verb: Callable[[Place], None]
) -> None:
    place = Place(quick_folder / "place")
    before(place)
    names = stepped(lambda: verb(place), {})
    wanted = place.files()
    lines = [number for number, name in enumerate(names, start=1) if name in MOVING][::9]
    assert len(lines) > 10
    for line in lines:
        place = Place(quick_folder / "place")
        before(place)
        if not killed(lambda: verb(place), {}, line):  # noqa: B023
            break

        with contextlib.suppress(Rejected):  # all of it moved: no other project is offered any more
            verb(place)

        here = f"killed before line {line}, in {names[line - 1]}"
        assert place.files() == wanted, here
        sync(place.store())
        assert not untrusted(place.store()), here
