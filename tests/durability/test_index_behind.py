"""C4: an index that is behind its files, because somebody was killed or nobody watched, catches up."""

import os
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import files
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.store import Store

WRITTEN = b"---\nid: written-x\ntitle: Written\n---\nquokkas live on Rottnest\n"


@pytest.fixture
def memory_path(store: Store) -> Path:
    """The file of a memory that the index knows."""
    path = remember(store, Draft("Known", "herons are grey", level=Level.USER)).path
    assert recall(store, Query("herons")).hits
    return path


def test_a_memory_whose_writer_was_killed_before_it_told_the_index_is_found_by_its_id(
    store: Store, memory_path: Path
) -> None:
    files.write_new(memory_path.with_name("written-x.md"), WRITTEN)

    assert read(store, "written-x").memory.text == "quokkas live on Rottnest"
    revise(store, "written-x", Revision(text="quokkas smile"))
    assert [hit.text for hit in recall(store, Query("quokkas")).hits] == ["quokkas smile"]


def test_a_file_renamed_by_hand_is_found_by_its_id_without_a_sync(store: Store, memory_path: Path) -> None:
    renamed = memory_path.with_name("Birds.md")
    memory_path.rename(renamed)

    assert read(store, memory_path.stem).path == renamed
    assert forget(store, memory_path.stem).id == memory_path.stem
    assert not renamed.exists()


def test_a_file_deleted_by_hand_is_not_found_any_more(store: Store, memory_path: Path) -> None:
    memory_path.unlink()

    for verb in (read, forget):
        with pytest.raises(NotFound):
            verb(store, memory_path.stem)
    assert recall(store, Query("herons")).hits == ()


def test_the_copy_of_a_memory_is_reported_and_takes_its_place_when_the_memory_goes(
    store: Store, memory_path: Path
) -> None:
    copy = memory_path.with_name("a copy.md")
    copy.write_bytes(memory_path.read_bytes())

    (problem,) = sync(store).unreadable
    assert problem.path == str(copy)
    assert str(memory_path) in problem.reason
    forget(store, memory_path.stem)

    assert read(store, memory_path.stem).path == copy
    assert sync(store).unreadable == []


def test_two_files_that_swapped_their_ids_are_both_known(store: Store, memory_path: Path) -> None:
    other = remember(store, Draft("Other", "falcons are fast", level=Level.USER)).path
    first, second = memory_path.read_bytes(), other.read_bytes()
    memory_path.write_bytes(second)
    other.write_bytes(first)

    assert sync(store).unreadable == []
    assert read(store, memory_path.stem).path == other
    assert read(store, other.stem).path == memory_path


def test_a_deep_sync_finds_what_kept_size_and_time_and_what_the_index_says_wrongly(
    store: Store, memory_path: Path
) -> None:
    long_ago = 1_700_000_000_000_000_000
    os.utime(memory_path, ns=(long_ago, long_ago))
    sync(store)
    memory_path.write_bytes(memory_path.read_bytes().replace(b"grey", b"blue"))
    os.utime(memory_path, ns=(long_ago, long_ago))
    assert sync(store).changed == 0
    assert sync(store, deep=True).modified == 1
    assert recall(store, Query("herons")).hits[0].text == "herons are blue"

    with store.database.write() as db:
        db.execute("UPDATE memories SET type = 'gotcha'")

    assert sync(store, deep=True).modified == 1
    assert recall(store, Query("herons")).hits[0].type == "note"


def test_a_sync_of_one_vault_does_not_pass_for_one_of_all(store: Store, memory_path: Path) -> None:
    """The watcher may be the first to use an index rebuilt, and it syncs one vault at a time."""
    remember(store, Draft("Of the project", "wrens are small"))
    for path in store.home.glob("memory.db*"):
        path.unlink()
    sync(store, vaults=[store.vaults[-1]])

    assert recall(store, Query("herons")).hits[0].id == memory_path.stem


def test_what_is_forgotten_for_good_is_not_in_an_index_that_was_set_aside_either(
    store: Store, memory_path: Path
) -> None:
    remember(store, Draft("Secret", "zanzibarine", level=Level.USER))
    with store.database.write() as db:
        db.execute("UPDATE scopes SET held = held + 1")
    assert store.database.set_aside_if_damaged()
    assert recall(store, Query("zanzibarine")).hits

    forget(store, recall(store, Query("zanzibarine")).hits[0].id, forever=True)

    store.database.close()
    paths = [path for path in store.home.rglob("*") if path.is_file() and b"zanzibarine" in path.read_bytes()]
    assert paths == []
