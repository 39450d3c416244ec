"""
A folder whose memories were all moved or forgotten is empty on each machine; one that vanished comes back.

So does what somebody deletes in the remote itself.
"""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.judge.candidate import approve, propose, reject, review_candidates
from mcp_server.actions.memory import repository
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.sessions.forget_session import forget_session
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.actions.remote.test_exchange import says
from tests.actions.remote.test_other_level import cloned
from tests.adapters.project.repositories import git
from tests.memories import stored

MANY = 8  # more than so few that a folder without them counts as emptied by the person in any case
SESSION = "11111111-2222-4333-8444-555555555555"


def two_that_know_much(machines: Machines, folder: Path) -> tuple[Store, Store, list[str]]:
    """Return two machines that have many memories of one project, and the ids of these."""
    desk = machines.joined("desk", cloned(folder / "here" / "shop"))
    texts = [f"Fact number {number} about a thing called {'x' * number}y." for number in range(MANY)]
    ids = [stored(desk, text, level=Level.PROJECT, session=SESSION) for text in texts]
    exchange(desk)
    laptop = machines.joined("laptop", cloned(folder / "there" / "shop"))
    assert len(says(laptop)) == MANY
    return desk, laptop, ids


def test_what_is_forgotten_one_by_one_until_none_is_left_does_not_come_back(
    machines: Machines, tmp_path: Path
) -> None:
    desk, laptop, ids = two_that_know_much(machines, tmp_path)

    for number, memory_id in enumerate(ids):
        forget(desk, memory_id, forever=number % 2 == 0)
    machines.meet(desk, laptop)

    assert says(desk) == says(laptop) == {}


def _forget_session(store: Store, _: list[str]) -> None:
    forget_session(store, SESSION, dry_run=False)


def _rename_and_forget(store: Store, ids: list[str]) -> None:
    for number, path in enumerate(sorted((store.home / "projects").rglob("knowledge/*.md"))):
        path.rename(path.with_name(f"Fact {number}.2.md"))
    _forget_session(store, ids)


def _archive(store: Store, ids: list[str]) -> None:
    archive(store, ids)


def _to_person(store: Store, ids: list[str]) -> None:
    for memory_id in ids:
        change_level(store, memory_id, Level.USER)


def _into_repository(store: Store, _: list[str]) -> None:
    repository.init(store)


def _by_hand(store: Store, _: list[str]) -> None:
    for path in (store.home / "projects").rglob("knowledge/*.md"):
        (store.home / "knowledge").mkdir(exist_ok=True)
        path.rename(store.home / "knowledge" / path.name)


@pytest.mark.parametrize(
    "empty", [_forget_session, _rename_and_forget, _archive, _to_person, _into_repository, _by_hand]
)
def test_what_leaves_a_folder_at_once_is_not_put_there_again(
    machines: Machines, tmp_path: Path, empty: Callable[[Store, list[str]], None]
) -> None:
    desk, laptop, ids = two_that_know_much(machines, tmp_path)

    empty(desk, ids)
    machines.meet(desk, laptop)

    knowledge = [path for path in says(desk) if path.startswith("projects/") and "/knowledge/" in path]
    assert knowledge == []
    assert says(laptop) == says(desk)


@pytest.mark.parametrize("settle", [approve, reject])
def test_candidates_that_were_all_settled_wait_nowhere(
    machines: Machines, settle: Callable[[Store, list[str]], object]
) -> None:
    desk = machines.joined("desk")
    keys = [f"key-{number}" for number in range(MANY)]
    for number, key in enumerate(keys):
        draft = Draft(f"Fact {number}", f"Fact {number} about {'x' * number}y.", level=Level.USER)
        propose(desk, draft, key=key, confidence=0.5, why="waits")
    laptop = machines.joined("laptop")
    machines.meet(desk, laptop)
    assert len([*(laptop.home / "candidates").glob("*.md")]) == MANY

    settle(desk, keys)
    machines.meet(desk, laptop)

    for store in (desk, laptop):
        assert not [*(store.home / "candidates").glob("*.md")]


def test_candidates_in_a_folder_that_cannot_be_read_go_on_waiting_elsewhere(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    draft = Draft("Lamps", "The lamps are green.", level=Level.USER)
    propose(desk, draft, key="key", confidence=0.5, why="waits")
    machines.meet(desk, laptop)
    closed, scandir = desk.home / "candidates", os.scandir

    def refusing(place: str | Path) -> object:
        if os.fspath(place) == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", str(closed))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refusing)
    machines.meet(desk, laptop)
    assert [candidate.memory.title for candidate in review_candidates(laptop)] == ["Lamps"]

    monkeypatch.undo()
    assert [candidate.memory.title for candidate in review_candidates(desk)] == ["Lamps"]


@pytest.mark.parametrize("folder", ["projects", "projects/*", "projects/*/knowledge"])
def test_what_vanished_beside_what_was_forgotten_comes_back(
    machines: Machines, tmp_path: Path, folder: str
) -> None:
    desk, laptop, ids = two_that_know_much(machines, tmp_path)

    forget(desk, ids[0])
    shutil.rmtree(next(desk.home.glob(folder)))
    machines.meet(desk, laptop)

    assert {Path(path).stem for path in says(laptop)} == {*ids[1:]}
    assert says(laptop) == says(desk)


def _push_nothing(remote: Path, folder: Path) -> None:
    """Delete every file of the remote in a clone of it, as somebody who cleans it up by hand does."""
    subprocess.run(["git", "clone", "-q", "-b", "daybook", remote, folder], check=True)
    git(folder, "rm", "-q", "-r", ".")
    git(folder, "commit", "-q", "-m", "clean up")
    git(folder, "push", "-q")


def _make_anew(remote: Path, _: Path) -> None:
    shutil.rmtree(remote)
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)


@pytest.mark.parametrize("empty", [_push_nothing, _make_anew])
def test_a_remote_that_was_emptied_deletes_nothing_and_is_filled_again(
    machines: Machines, tmp_path: Path, empty: Callable[[Path, Path], None]
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    memory_id = stored(desk, "Deploys start from release.")
    machines.meet(desk, laptop)
    before = says(desk)
    stored(laptop, "The port is 8080.")

    empty(machines.remote, tmp_path / "clone")
    reports = [exchange(desk), exchange(laptop), exchange(desk)]

    assert [report.refilled for report in reports] == [True, False, False]
    assert says(laptop) == says(desk) and says(desk).items() > before.items()
    forget(desk, memory_id)
    machines.meet(desk, laptop)
    assert before.keys().isdisjoint(says(laptop))


def test_what_somebody_deletes_in_the_remote_beside_the_ledgers_goes_to_the_trash(
    machines: Machines, tmp_path: Path
) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "Deploys start from release.")
    machines.meet(desk)
    subprocess.run(["git", "clone", "-q", "-b", "daybook", machines.remote, tmp_path / "clone"], check=True)
    git(tmp_path / "clone", "rm", "-q", "-r", "knowledge")
    git(tmp_path / "clone", "commit", "-q", "-m", "forget")
    git(tmp_path / "clone", "push", "-q")

    report = exchange(desk)

    assert report.forgotten == (memory_id,) and not report.refilled
    assert says(desk) == {}
