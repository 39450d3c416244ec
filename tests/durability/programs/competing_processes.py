"""
Processes that want the same store at the same moment.

    python competing_processes.py remember FOLDER PROCESSES EACH      K1: everybody remembers and recalls
    python competing_processes.py same FOLDER PROCESSES EACH          everybody remembers the same
    python competing_processes.py revise FOLDER PROCESSES EACH        K2: everybody adds lines to one memory
    python competing_processes.py open FOLDER PROCESSES ROUNDS        K3: everybody opens an index to be made
    python competing_processes.py rebuild FOLDER PROCESSES ROUNDS     one rebuilds the index beside the others
    python competing_processes.py deferred FOLDER PROCESSES EACH      the planted bug: BEGIN, read, write
    python competing_processes.py immediate FOLDER PROCESSES EACH     the same with BEGIN IMMEDIATE

Forks the processes from this warmed one and lets them go at once. Prints one JSON object.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from endless_writers import warm_up

from mcp_server import bootstrap
from mcp_server.actions.files import commit
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise, version
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.stats import get_stats
from mcp_server.adapters import files
from mcp_server.core.errors import Conflict, DaybookError, IndexBusy
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.opened import opened_at
from tests.patience import PATIENCE

# A machine that stalls a writer for longer than the product waits is no fault of ours.
files.PATIENCE = PATIENCE
LONGEST_WAIT = 5  # seconds that the planted bug waits for a lock: as long as the product does


def at_once(processes: int, work: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Run *work* in so many forks at the same moment, and return what each answered."""
    gate, pipes = os.pipe(), []
    for number in range(processes):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(gate[1])
            os.read(gate[0], 1)
            try:
                answer = work(number)
            except BaseException as error:
                answer = {"errors": [f"{type(error).__name__}: {error}"]}
            with open(writing, "w", encoding="utf-8") as out:
                json.dump(answer, out)
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    os.close(gate[0])
    os.close(gate[1])
    answers = []
    for reading in pipes:
        with open(reading, encoding="utf-8") as answer_file:
            answers.append(json.load(answer_file))
        os.wait()
    return answers


def opened(folder: Path) -> Store:
    return opened_at(folder).store()


def remember_all(folder: Path, processes: int, each: int) -> dict[str, Any]:
    """Everybody remembers *each* memories, and recalls, counts and syncs between them."""

    def work(number: int) -> dict[str, Any]:
        store, ids, errors = opened(folder), [], []
        for count in range(each):
            try:
                draft = Draft(f"fact {number} {count}", f"said by {number}, the {count}th")
                ids.append(remember(store, draft).memory.id)
                if count % 10 == 0:
                    recall(store, Query(f"fact {number} {count}"), given_to="s")
                if count % 50 == 49:
                    get_stats(store)
                    sync_when_free(store)
            except (DaybookError, OSError) as error:
                errors.append(f"{type(error).__name__}: {error}")
        return {"ids": ids, "errors": errors}

    answers = at_once(processes, work)
    return {
        "ids": list(chain.from_iterable(answer.get("ids", []) for answer in answers)),
        "errors": list(chain.from_iterable(answer["errors"] for answer in answers)),
    }


def remember_the_same(folder: Path, processes: int, each: int) -> dict[str, Any]:
    """Everybody remembers the same *each* things."""
    commit.STORING_PATIENCE = PATIENCE  # as above

    def work(number: int) -> dict[str, Any]:
        store = opened(folder)
        for count in range(each):
            remember(store, Draft(f"fact {count}", "said by everybody"))
        return {"errors": []}

    return {"errors": list(chain.from_iterable(answer["errors"] for answer in at_once(processes, work)))}


def sync_when_free(store: Store) -> None:
    """Sync; a disk that stalls a writer for longer than we have patience is no fault of ours."""
    while True:
        try:
            sync(store)
            return
        except IndexBusy:
            continue


def revise_one(folder: Path, processes: int, each: int) -> dict[str, Any]:
    """Everybody adds *each* lines to one memory: reads it, and revises that version until it is accepted."""
    store = opened(folder)
    memory_id = remember(store, Draft("everybody's list", "begin")).memory.id
    store.database.close()

    def work(number: int) -> dict[str, Any]:
        store, conflicts = opened(folder), 0
        for count in range(each):
            while True:
                file = read(store, memory_id)
                revision = Revision(text=f"{file.memory.text}\nline {number} {count}")
                try:
                    revise(store, memory_id, revision, version=version(file))
                    break
                except Conflict:
                    conflicts += 1
        return {"conflicts": conflicts, "errors": []}

    answers = at_once(processes, work)
    return {
        "id": memory_id,
        "conflicts": sum(answer.get("conflicts", 0) for answer in answers),
        "errors": list(chain.from_iterable(answer["errors"] for answer in answers)),
    }


def open_together(folder: Path, processes: int, rounds: int) -> dict[str, Any]:
    """Everybody opens an index that is not there, or in every second round one of an older schema."""
    errors: list[str] = []
    for number in range(rounds):
        place = folder / str(number)
        if number % 2:
            place.mkdir(parents=True)
            old = sqlite3.connect(place / bootstrap.INDEX_NAME)
            old.executescript("CREATE TABLE memories (old); CREATE TABLE other (a); PRAGMA user_version = 0")
            old.close()

        def work(number: int, place: Path = place) -> dict[str, Any]:
            store = opened(place)
            own = store.database.path.parent == place
            memory_id = remember(store, Draft(f"fact {number}", "x")).memory.id
            recall(store, Query("fact"))
            return {"errors": [] if own else [f"{memory_id} went to a temporary index"]}

        for answer in at_once(processes, work):
            errors += answer["errors"]
        store = opened(place)
        sync(store)  # who found the index busy has left it to the next
        if get_stats(store).memories != processes:
            errors.append(f"round {number}: {get_stats(store).memories} memories")
        store.database.close()
    return {"errors": errors}


def rebuild_beside(folder: Path, processes: int, rounds: int) -> dict[str, Any]:
    """One makes the index anew again and again; the others open it, recall what was there, and remember."""
    store = opened(folder)
    for number in range(100):
        remember(store, Draft(f"kept {number}", f"the text of {number}"))
    store.database.close()

    def work(number: int) -> dict[str, Any]:
        ids, errors = [], []
        for count in range(rounds if number == 0 else 4 * rounds):
            store = opened(folder)
            try:
                if number == 0:
                    rebuild(store)
                    continue
                title_kept = f"kept {count % 100}"
                if title_kept not in [hit.title for hit in recall(store, Query(title_kept)).hits]:
                    errors.append(f"'{title_kept}' was not found")
                ids.append(remember(store, Draft(f"fact {number} {count}", "said meanwhile")).memory.id)
            except (DaybookError, OSError) as error:
                errors.append(f"{type(error).__name__}: {error}")
            store.database.close()
        return {"ids": ids, "errors": errors}

    answers = at_once(processes, work)
    return {
        "ids": list(chain.from_iterable(answer.get("ids", []) for answer in answers)),
        "errors": list(chain.from_iterable(answer["errors"] for answer in answers)),
    }


def count_up(folder: Path, processes: int, each: int, begin: str) -> dict[str, Any]:
    """Everybody adds one to a number: in a transaction that reads and then writes."""
    path = folder / "plain.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE n (n); INSERT INTO n VALUES (0)")
    connection.close()

    def work(number: int) -> dict[str, Any]:
        db, errors = sqlite3.connect(path, timeout=LONGEST_WAIT, isolation_level=None), []
        for _ in range(each):
            try:
                db.execute(begin)
                (n,) = db.execute("SELECT n FROM n").fetchone()
                db.execute("UPDATE n SET n = ?", (n + 1,))
                db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                errors.append(str(error))
                if db.in_transaction:
                    db.execute("ROLLBACK")
        return {"errors": errors}

    answers = at_once(processes, work)
    return {"errors": list(chain.from_iterable(answer["errors"] for answer in answers))}


if __name__ == "__main__":
    scenario, place, people, amount = sys.argv[1:]
    warm_up()
    arguments = (Path(place), int(people), int(amount))
    match scenario:
        case "remember":
            result = remember_all(*arguments)
        case "same":
            result = remember_the_same(*arguments)
        case "revise":
            result = revise_one(*arguments)
        case "open":
            result = open_together(*arguments)
        case "rebuild":
            result = rebuild_beside(*arguments)
        case _:
            result = count_up(*arguments, "BEGIN" if scenario == "deferred" else "BEGIN IMMEDIATE")
    print(json.dumps(result))
