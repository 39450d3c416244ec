"""take_in: make the index say what some files say now, or that they are gone."""

import os
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.gone import note_lost
from mcp_server.actions.files.load import load
from mcp_server.actions.files.sight import Sight, note_seen
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.adapters.index.memories.memories import Problem
from mcp_server.adapters.vault import Vault, is_utf8, stamp
from mcp_server.core.changes import Stamp
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory import Memory, fingerprint
from mcp_server.store import Store

RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime

CLOSED = "is a folder that cannot be looked into; what was known of its files stays"


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read at a path: a memory and its digest, or the problem that prevents one."""

    stamp: Stamp
    digest: str = ""
    memory: Memory | None = None
    problem: Problem | None = None


@dataclass(slots=True)
class Taken:
    """
    What taking files in changed in the index: the paths with new content, and those that are gone.

    `seen` is ref → whether it is new or has other words; not for a repository, where nothing ages. `lost` is
    id → path of the memories gone from a repository; elsewhere a deleted file counts as the person's wish.
    """

    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Sight] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


def take_in(store: Store, vault: Vault, *paths: Path, by_hand: bool = False) -> None:
    """
    Make the index say what the files at *paths* say now, or that they are gone.

    *by_hand*: they were changed outside Daybook, which is noted in the ledger.
    """
    with store.database.write() as db:
        taken = take_in_files(store, db, vault, paths)
        if taken:
            take_in_waiting(store, db, vault)
    if by_hand:
        note_seen(store, taken.seen)
        note_lost(store, vault, taken.lost)


def take_in_waiting(store: Store, db: sqlite3.Connection, vault: Vault) -> None:
    """Take in the files that wait because another file had their id, until no more ids become free."""
    while waiting := memories.waiting(db, vault.key):
        if not take_in_files(store, db, vault, map(Path, waiting)):
            return


def take_in_files(store: Store, db: sqlite3.Connection, vault: Vault, paths: Iterable[Path]) -> Taken:
    """
    Make the index say what the files at *paths* say now.

    The files are read inside the transaction, so that of two processes the one that writes the index
    last has also read last.
    """
    taken = Taken()
    found = [(path, _stamp(vault, path)) for path in paths if is_utf8(str(path))]
    # Missing files come first: a renamed file keeps its id, which only one row may have.
    for path, there in sorted(found, key=lambda one: one[1] is not None):
        if there is None:
            memory_id = memories.remove(db, str(path), store.now())
            if memory_id and vault.in_repository:
                taken.lost[memory_id] = str(path)
            taken.gone.append(str(path))
            continue
        reading = _read(vault, there)
        before = _words_known(db, vault, reading)
        if not _put(store, db, vault, reading):
            continue
        taken.changed.append(str(path))
        if reading.memory and not vault.in_repository:
            ref = f"{vault.key}/{reading.memory.id}"
            if before is None:
                taken.seen[ref] = Sight.ARRIVED
            elif before != fingerprint(reading.memory.title, reading.memory.text):
                taken.seen[ref] = Sight.EDITED
    return taken


def _words_known(db: sqlite3.Connection, vault: Vault, reading: _Reading) -> str | None:
    """Return the fingerprint that the index has for the memory that was read, None when it is new."""
    return selections.fingerprint_of(db, vault.key, reading.memory.id) if reading.memory else None


def _stamp(vault: Vault, path: Path) -> Stamp | None:
    """Return the stamp of a file of *vault*; None when it is gone, or lies in the vault's former folder."""
    return stamp(path) if path.is_relative_to(vault.root) and not _is_open_folder(path) else None


def _is_open_folder(path: Path) -> bool:
    """Tell whether *path* is a folder that can be read: then its files are taken in, not the folder."""
    if not os.path.isdir(path):
        return False
    try:
        os.scandir(path).close()
    except OSError:
        return False
    return not path.is_symlink()


def _read(vault: Vault, found: Stamp) -> _Reading:
    try:
        file = load(vault, Path(found.path), there=found)
    except Unreadable as error:
        reason = CLOSED if os.path.isdir(found.path) and not os.path.islink(found.path) else error.reason
        return _Reading(found, problem=Problem(found.path, error.line, reason))
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
    if memories.says(db, vault=vault.key, memory=memory, stamp=found, digest=digest, now=store.now()):
        memories.touch(db, found)
        return False
    holder = memories.path_of(db, vault.key, memory.id)
    rivals = [found.path]
    if holder not in ("", found.path) and _keeps_id(vault, holder, memory.id):
        # The file named after the id keeps it, whichever file was seen first.
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
