"""A folder of memories that vanished is told once, and all is as before when it comes back."""

import json
import shutil
from pathlib import Path

import pytest

from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.vanished_folders import take_losses
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import places
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import NotHere
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.remarks import GoneMemories
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.store import Store
from tests.conftest import Open


def remember_lighthouses(store: Store, number: int, level: Level = Level.PROJECT) -> list[str]:
    return [
        remember(store, Draft(f"Lighthouse {number_of}", f"It has {number_of} lamps.", level=level)).memory.id
        for number_of in range(number)
    ]


def indexed_ids(store: Store) -> set[str]:
    return {row.id for row in list_memories(store, Filter()).rows}


@pytest.mark.parametrize("level", [Level.PROJECT, Level.USER])
def test_a_folder_that_vanished_is_told_once_with_what_to_do(store: Store, level: Level) -> None:
    remember_lighthouses(store, 3, level)
    folder = read(store, remember_lighthouses(store, 1, level)[0]).path.parent
    shutil.rmtree(folder)
    before = [path.read_bytes() for path in store.ledger.paths()]

    sync(store)

    assert [path.read_bytes() for path in store.ledger.paths()] == before
    (loss,) = take_losses(store.home)
    history = places.history_folder(store.home, store.vaults[0 if level is Level.USER else -1].key)
    assert loss == GoneMemories(str(folder), 3, 0, str(history))
    assert take_losses(store.home) == []
    sync(store)
    assert take_losses(store.home) == []


def test_a_vault_that_vanished_is_told_at_the_start_of_a_session(store: Store) -> None:
    remember_lighthouses(store, 2)
    revise(store, remember_lighthouses(store, 3)[2], Revision(text="It has many lamps."))
    root = store.vaults[-1].root
    shutil.rmtree(root)
    sync(store)

    notice_text = sentence(notice(store, identity=""))

    assert f"3 memories are gone from {root}" in notice_text
    assert "Earlier versions of 1 of them are in" in notice_text
    assert sentence(notice(store, identity="")) == ""


def test_when_the_folder_comes_back_all_is_as_before(store: Store, tmp_path: Path) -> None:
    ids = remember_lighthouses(store, 4)
    root = store.vaults[-1].root
    root.rename(tmp_path / "away")
    sync(store)
    assert indexed_ids(store) == set()
    (tmp_path / "away").rename(root)

    sync(store)

    assert indexed_ids(store) == set(ids)
    assert take_losses(store.home) == []
    assert recall(store, Query("lighthouse with 2 lamps")).hits


def test_what_is_written_first_into_a_new_folder_does_not_hide_what_is_gone(store: Store) -> None:
    remember_lighthouses(store, 2)
    shutil.rmtree(store.vaults[-1].root)

    remember(store, Draft("Harbour", "It is deep."))

    assert [loss.number for loss in take_losses(store.home)] == [2]


def test_an_emptied_folder_is_told_and_a_few_files_deleted_by_hand_are_the_persons_word(
    store: Store,
) -> None:
    few = remember_lighthouses(store, 3)
    for memory_id in few:
        read(store, memory_id).path.unlink()
    sync(store)
    assert take_losses(store.home) == []

    for path in [read(store, memory_id).path for memory_id in remember_lighthouses(store, 12)]:
        path.unlink()
    sync(store)
    assert [loss.number for loss in take_losses(store.home)] == [12]


def test_what_the_watcher_saw_a_person_delete_is_their_word(store: Store) -> None:
    paths = [read(store, memory_id).path for memory_id in remember_lighthouses(store, 12)]
    for path in paths[:8]:
        path.unlink()

    take_in(store, store.vaults[-1], *paths[:8], by_hand=True)

    assert take_losses(store.home) == []


def test_what_moved_or_was_forgotten_is_not_gone(store: Store) -> None:
    ids = remember_lighthouses(store, 8)
    for memory_id in ids[:4]:
        forget(store, memory_id)
    vault = store.vaults[-1]
    for path in (vault.root / "knowledge").glob("*.md"):
        path.rename(vault.root / "archive" / path.name)
    shutil.rmtree(vault.root / "knowledge")

    sync(store)

    assert take_losses(store.home) == []


def test_a_store_deleted_under_a_process_is_told_by_it(opened: Opened, store: Store) -> None:
    remember_lighthouses(store, 3, Level.USER)
    remember_lighthouses(store, 4)
    shutil.rmtree(store.home)

    recall(opened.store(), Query("lighthouse"))

    losses = {(loss.folder, loss.number) for loss in opened.remarks() if isinstance(loss, GoneMemories)}
    assert losses == {(str(store.home), 3), (str(store.vaults[-1].root), 4)}
    assert opened.remarks() == []


def test_an_index_that_alone_was_deleted_tells_nothing(opened: Opened) -> None:
    remember_lighthouses(opened.store(), 7)
    for path in opened.home.glob("memory.db*"):
        path.unlink()

    recall(opened.store(), Query("lighthouse"))

    assert opened.remarks() == []


@pytest.mark.parametrize("level", [Level.PROJECT, Level.USER])
def test_an_index_that_was_copied_without_the_files_tells_what_is_missing(
    store: Store, tmp_path: Path, project: Path, level: Level
) -> None:
    remember_lighthouses(store, 3, level)
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in store.home.glob("memory.db*"):
        shutil.copy(path, copied)
    shutil.rmtree(store.home)  # it is on another machine

    sync(Opened({"MEMORY_DIR": str(copied), "EMBEDDING_MODEL": "none"}, folder=project).store())

    (loss,) = take_losses(copied)
    assert isinstance(loss, GoneMemories)
    assert (Path(loss.folder).is_relative_to(copied), loss.number) == (True, 3)


def test_where_nobody_reads_it_nothing_is_used_up(open_here: Open, store: Store) -> None:
    remember_lighthouses(store, 2)
    shutil.rmtree(store.vaults[-1].root)
    sync(store)

    assert open_here(CLAUDE_CODE_ENTRYPOINT="sdk-cli").remarks() == []
    assert len(open_here(CLAUDE_CODE_ENTRYPOINT="cli").remarks()) == 1


def test_a_note_that_cannot_be_read_stops_nothing(store: Store) -> None:
    work = store.home / "work"
    work.mkdir(parents=True)
    for number, note in enumerate(["", "[]", "{}", json.dumps({"first": 3})]):
        (work / f"gone-{number}").write_text(note, encoding="utf-8")

    assert take_losses(store.home) == []


@pytest.mark.parametrize("watched", [False, True])
def test_a_memory_that_icloud_keeps_elsewhere_stays_known_until_its_file_is_back(
    store: Store, watched: bool
) -> None:
    (memory_id,) = remember_lighthouses(store, 1)
    path = read(store, memory_id).path
    data, placeholder = path.read_bytes(), path.with_name(f".{path.name}.icloud")
    path.rename(placeholder)
    placeholder.write_bytes(b"bplist00")

    if watched:
        take_in(store, store.vaults[-1], path, by_hand=True)
    reports = [sync(store) for _ in range(2)]

    assert [report.removed for report in reports] == [0, 0]
    assert all("is in iCloud" in problem.reason for report in reports for problem in report.unreadable)
    assert memory_id in indexed_ids(store) and recall(store, Query("lamps")).hits
    with pytest.raises(NotHere, match="is in iCloud, and not on this machine now"):
        revise(store, memory_id, Revision(text="It has two lamps."))
    assert take_losses(store.home) == []

    placeholder.unlink()
    path.write_bytes(data)
    assert sync(store).unreadable == []
    assert read(store, memory_id).data == data

    path.unlink()
    assert sync(store).removed == 1
    assert memory_id not in indexed_ids(store)
