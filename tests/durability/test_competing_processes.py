"""K1, K2, K3: many processes on one store lose nothing, overwrite nothing and show no lock."""

import sqlite3
import threading
from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters import files, ledger, vault
from mcp_server.adapters.index.memories import memories
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.conftest import Run, Wait
from tests.opened import opened_at

PROCESSES = 8
EACH = 100  # that a process remembers


def test_eight_processes_remember_hundreds_of_things_and_none_is_lost_or_refused(
    run_program: Run, tmp_path: Path
) -> None:
    report = run_program("competing_processes", "remember", tmp_path, PROCESSES, EACH)

    assert report["errors"] == []
    assert len(report["ids"]) == len(set(report["ids"])) == PROCESSES * EACH
    store = opened_at(tmp_path).store()
    sync(store)
    ids_on_disk = {Path(stamp.path).stem for stamp in vault.stamps(store.user_vault)}
    with store.database.read() as db:
        indexed = [row.id for row in memories.rows(db, "1", ())]
    assert ids_on_disk == set(indexed) == set(report["ids"])
    assert len(indexed) == PROCESSES * EACH
    store.database.close()


def test_what_several_processes_remember_at_once_is_one_memory(run_program: Run, tmp_path: Path) -> None:
    assert run_program("competing_processes", "same", tmp_path, 4, 20) == {"errors": []}

    store = opened_at(tmp_path).store()
    assert len(vault.stamps(store.user_vault)) == 20
    store.database.close()


def test_eight_processes_revise_one_memory_and_every_accepted_revision_is_in_it(
    run_program: Run, tmp_path: Path
) -> None:
    report = run_program("competing_processes", "revise", tmp_path, PROCESSES, 10)

    assert report["errors"] == []
    assert report["conflicts"] > 0, "nobody was in anybody's way, so this told nothing"
    store = opened_at(tmp_path).store()
    with store.database.read() as db:
        indexed = memories.rows(db, "1", ())[0]
    file = read(store, report["id"])
    assert sorted(file.memory.text.split("\n")[1:]) == sorted(
        f"line {number} {count}" for number in range(PROCESSES) for count in range(10)
    )
    accepted = [
        event.event for path in store.ledger.paths() for event, _ in ledger.read_events(path, 0)
    ].count("revised")
    assert accepted == PROCESSES * 10
    assert indexed.digest == file.digest, "the index says something older than the file"
    store.database.close()


def test_eight_processes_open_an_index_that_is_not_there_or_is_old(run_program: Run, tmp_path: Path) -> None:
    assert run_program("competing_processes", "open", tmp_path, PROCESSES, 20) == {"errors": []}


def test_a_rebuild_beside_others_hides_nothing_from_them_and_shows_no_lock(
    run_program: Run, tmp_path: Path
) -> None:
    report = run_program("competing_processes", "rebuild", tmp_path, 4, 20)

    assert report["errors"] == []
    store = opened_at(tmp_path).store()
    sync(store)  # who found the index busy has left it to the next
    with store.database.read() as db:
        indexed = {row.id for row in memories.rows(db, "1", ())}
    assert indexed.issuperset(report["ids"])
    assert len(report["ids"]) == 3 * 4 * 20
    store.database.close()


def test_what_is_taken_in_is_what_the_file_says_when_the_index_is_written(
    store: Store, wait_until_in: Wait
) -> None:
    """A process that waits for the lock must not put down what it read before it waited."""
    remembered = remember(store, Draft("Deploys", "happen on Monday", level=Level.USER))
    other = sqlite3.connect(store.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = threading.Thread(target=take_in, args=(store, store.user_vault, remembered.path))
    waiting.start()
    wait_until_in(waiting, "_begun")
    data = remembered.path.read_bytes()
    files.replace(remembered.path, data.replace(b"Monday", b"Friday"), expected=files.digest(data))
    other.execute("COMMIT")
    other.close()
    waiting.join()

    with store.database.read() as db:
        assert "Friday" in memories.rows(db, "1", ())[0].text


def test_the_checker_catches_transactions_that_read_and_then_write(run_program: Run, tmp_path: Path) -> None:
    assert "database is locked" in run_program("competing_processes", "deferred", tmp_path, 4, 25)["errors"]


def test_the_same_transactions_succeed_when_they_begin_as_ours_do(run_program: Run, tmp_path: Path) -> None:
    assert run_program("competing_processes", "immediate", tmp_path, 4, 25) == {"errors": []}
