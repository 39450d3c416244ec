"""A kill while a memory moves to another level leaves it at one level, with all that is known of it."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files import between_vaults
from mcp_server.actions.files.between_vaults import Crossing
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, rebuild, sync
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import files
from mcp_server.adapters.index.events import usage
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.remarks import NotRecorded
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped

MOVING = ("move_many", "_give_name", "_take_name", "take_away", "append_line", "write_new", "delete", "link")


def remembered(store: Store, number: int) -> str:
    """Return a memory of the project that was revised and recalled once."""
    word = f"fact{number}"
    memory_id = remember(store, Draft(f"Rule {word}", "Text.", level=Level.PROJECT)).memory.id
    revise(store, memory_id, Revision(text=f"The text of {word}."))
    recall(store, Query(f"rule {word}"), given_to=f"s{number}")
    catch_up(store)
    return memory_id


def moved(store: Store, memory_id: str) -> None:
    change_level(store, memory_id, Level.USER)


def taken_back(store: Store, memory_id: str) -> None:
    undo(store, last_change(store, memory_id))


def past(store: Store, memory_id: str) -> tuple[bytes, int, int]:
    """Return what a memory says, how many versions it has and how often it was used."""
    file = read(store, memory_id)
    with store.database.read() as db:
        used = usage.usage_of(db, [file.ref])
    versions = len(history_of(store, memory_id).versions)
    return file.data, versions, used[file.ref].accesses if file.ref in used else 0


def files_of(store: Store, memory_id: str) -> list[Path]:
    return [path for path in store.home.rglob(f"{memory_id}.md") if "history" not in path.parts]


@pytest.mark.parametrize("verb", [moved, taken_back])
def test_no_kill_leaves_a_memory_at_two_levels_or_without_its_past(
    store: Store, verb: Callable[[Store, str], None]
) -> None:
    def prepared(number: int) -> str:
        memory_id = remembered(store, number)
        if verb is taken_back:
            moved(store, memory_id)
        return memory_id

    verb(store, prepared(-1))  # which makes the folders
    first = prepared(0)
    names = stepped(lambda: verb(store, first), {})
    lines = [number for number, name in enumerate(names, start=1) if name in MOVING]
    lines = lines[::2]  # each makes a memory, and waits for the disk
    assert len(lines) > 40, "the lines of the road are not looked at"
    prior, levels, doubled = {}, [], 0
    for line in lines:
        memory_id = prepared(line)
        before, level = past(store, memory_id), read(store, memory_id).vault.level
        assert killed(lambda: verb(store, memory_id), {}, line), names[line - 1]  # noqa: B023
        doubled += len(files_of(store, memory_id)) == 2
        assert past(store, memory_id) == before, f"killed before line {line}"
        assert len(files_of(store, memory_id)) == 1, f"killed before line {line}"
        prior[memory_id] = before, level
        levels.append(read(store, memory_id).vault.level is level)

    assert doubled, "no kill fell between the two names"
    assert 5 < sum(levels) < len(lines) - 5
    assert not (store.home / "work" / between_vaults.NOTE).exists()
    rebuild(store)
    for memory_id, (before, level) in prior.items():
        assert past(store, memory_id) == before
        if read(store, memory_id).vault.level is not level:
            taken_back(store, memory_id)
            assert (past(store, memory_id), read(store, memory_id).vault.level) == (before, level)


def test_what_is_forgotten_after_a_kill_is_at_no_level(store: Store) -> None:
    memory_id = remembered(store, 1)
    assert killed(lambda: moved(store, memory_id), {}, _line_between_the_names(store))
    assert len(files_of(store, memory_id)) == 2

    forget(store, memory_id)

    (path,) = files_of(store, memory_id)
    assert path.is_relative_to(store.home / "trash")


def _line_between_the_names(store: Store) -> int:
    moved(store, remembered(store, 2))  # which makes the folders
    other = remembered(store, 3)
    return 1 + stepped(lambda: moved(store, other), {}).index("_take_name")


def test_a_sync_leaves_a_move_alone_that_is_under_way(store: Store) -> None:
    memory_id = remembered(store, 1)
    path = read(store, memory_id).path
    target = store.home / "knowledge" / path.name
    ref = f"user/{memory_id}"
    going = Crossing(read(store, memory_id).ref, ref, str(path), str(target), read(store, memory_id).digest)
    note = store.home / "work" / between_vaults.NOTE
    files.write_new(note, json.dumps({**asdict(going), "event": "moved", "data": {"change": "c"}}).encode())
    target.parent.mkdir(exist_ok=True)
    os.link(path, target)

    with files.lock(store.home / between_vaults.LOCK):
        sync(store)
        assert target.exists() and note.exists()
    sync(store)

    assert not target.exists() and not note.exists()
    assert read(store, memory_id).path == path


@pytest.mark.parametrize("edited", ["first", "second", "both"])
def test_what_was_saved_at_either_place_after_a_kill_stays(store: Store, edited: str) -> None:
    memory_id = remembered(store, 1)
    file = read(store, memory_id)
    target = store.home / "knowledge" / file.path.name
    going = Crossing(file.ref, f"user/{memory_id}", str(file.path), str(target), file.digest)
    note = store.home / "work" / between_vaults.NOTE
    files.write_new(note, json.dumps({**asdict(going), "event": "moved", "data": {"change": "c"}}).encode())
    target.parent.mkdir(exist_ok=True)
    os.link(file.path, target)
    place = target if edited == "second" else file.path
    saved = place if edited == "both" else place.with_name("saving")
    saved.write_bytes(file.data.replace(b"The text", b"Other text"))
    saved.replace(place)

    sync(store)

    assert b"Other text" in place.read_bytes()
    assert file.path.exists() and target.exists() is (edited == "second")


def test_a_move_that_the_ledger_could_not_take_is_told_by_the_next_sync(store: Store) -> None:
    memory_id = remembered(store, 1)
    before = past(store, memory_id)
    ledger = next((store.home / "ledger").iterdir())
    aside = ledger.rename(store.home / "aside")
    ledger.mkdir()

    change_level(store, memory_id, Level.USER)
    (remark,) = store.database.trouble.remarks()
    assert isinstance(remark, NotRecorded) and remark.later
    ledger.rmdir()
    aside.rename(ledger)
    sync(store)

    assert past(store, memory_id) == before
    taken_back(store, memory_id)
    assert read(store, memory_id).vault.level is Level.PROJECT
