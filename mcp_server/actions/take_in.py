"""take_in: make the index say what some files say now, or that they are gone."""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.load import load
from mcp_server.adapters.index import memories
from mcp_server.adapters.index.memories import Problem
from mcp_server.adapters.vault import Vault, is_utf8, stamp
from mcp_server.core.changes import Stamp
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory import Memory
from mcp_server.store import Store

RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was found at a path: a memory and its digest, or the reason why there is none."""

    stamp: Stamp
    digest: str = ""
    memory: Memory | None = None
    problem: Problem | None = None


def take_in(store: Store, vault: Vault, *paths: Path) -> None:
    """Make the index say what the files at *paths* say now, or that they are gone."""
    with store.database.write() as db:
        changed, gone = take_in_files(store, db, vault, paths)
        if changed or gone:
            take_in_waiting(store, db, vault)


def take_in_waiting(store: Store, db: sqlite3.Connection, vault: Vault) -> None:
    """Take in the files whose id another one had, as long as that makes another id free."""
    while waiting := memories.waiting(db, vault.key):
        changed, gone = take_in_files(store, db, vault, map(Path, waiting))
        if not (changed or gone):
            return


def take_in_files(
    store: Store, db: sqlite3.Connection, vault: Vault, paths: Iterable[Path]
) -> tuple[list[str], list[str]]:
    """
    Make the index say what the files at *paths* say now; return (what changed in it, what is gone).

    The files are read inside the transaction, so that of two processes the one that writes the index
    last has also read last.
    """
    changed, gone = [], []
    found = [(path, _stamp(vault, path)) for path in paths if is_utf8(str(path))]
    # Those that are gone come first: a renamed file keeps its id, which only one row may have.
    for path, there in sorted(found, key=lambda one: one[1] is not None):
        if there is None:
            memories.remove(db, str(path), store.now())
            gone.append(str(path))
        elif _put(store, db, vault, _read(vault, there)):
            changed.append(str(path))
    return changed, gone


def _stamp(vault: Vault, path: Path) -> Stamp | None:
    """Return the stamp of a file of *vault*, None when it is gone, or lies where the vault was before."""
    return stamp(path) if path.is_relative_to(vault.root) else None


def _read(vault: Vault, found: Stamp) -> _Reading:
    try:
        file = load(vault, Path(found.path), there=found)
    except Unreadable as error:
        return _Reading(found, problem=Problem(found.path, error.line, error.reason))
    except FileNotFoundError:
        return _Reading(found, problem=Problem(found.path, 0, "vanished while it was read"))
    if time.time_ns() - found.mtime_ns < RACY:
        found = Stamp(found.path, -1, found.mtime_ns)  # read again by the next sync
    return _Reading(found, digest=file.digest, memory=file.memory)


def _put(store: Store, db: sqlite3.Connection, vault: Vault, reading: _Reading) -> bool:
    """Put one reading into the index; return whether that changed what the index says."""
    if reading.problem or reading.memory is None:
        assert reading.problem
        memories.put_problem(db, vault=vault.key, stamp=reading.stamp, problem=reading.problem)
        return False
    memory, found, digest = reading.memory, reading.stamp, reading.digest
    if memories.says(db, vault=vault.key, memory=memory, stamp=found, digest=digest):
        memories.touch(db, found)
        return False
    holder = memories.path_of(db, vault.key, memory.id)
    rivals = [found.path]
    if holder not in ("", found.path) and _keeps_id(vault, holder, memory.id):
        # The one that is named after the id has it, whichever was seen first.
        rivals = sorted((found.path, holder), key=lambda path: (Path(path).stem != memory.id, path))
    if rivals[0] == found.path:
        memories.put(db, vault=vault.key, memory=memory, stamp=found, digest=digest, now=store.now())
    for other in rivals[1:]:
        reason = f"has the id '{memory.id}', which {rivals[0]} has already; give one of them another"
        problem = Problem(other, 0, reason)
        memories.remove(db, other, store.now())
        memories.put_problem(db, vault=vault.key, stamp=Stamp(other, -1, 0), problem=problem)
    return rivals[0] == found.path


def _keeps_id(vault: Vault, path: str, memory_id: str) -> bool:
    """Tell whether the file at *path* is still there with that id; one that cannot be read keeps it."""
    there = _stamp(vault, Path(path))
    if not there:
        return False
    memory = _read(vault, there).memory
    return memory is None or memory.id == memory_id
