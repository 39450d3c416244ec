"""
take_in: make the index say what some files say, and settle which of two files with one id has it.

Remember, edits made by hand, the watcher, git checkouts and rebuilds all come here.
"""

import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.conflict_copies import why_not_taken_in
from mcp_server.actions.files.first_sight import Sight, note_seen
from mcp_server.actions.files.load import load
from mcp_server.actions.files.vanished_folders import note_lost
from mcp_server.adapters import history
from mcp_server.adapters.index.memories import memories, unreadable, writing
from mcp_server.adapters.index.memories.memories import KnownFile
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.adapters.leftovers import remove_second_name
from mcp_server.adapters.vault import CLOSED, Vault, is_inside, is_open, is_utf8, stamp
from mcp_server.core.changes import Stamp
from mcp_server.core.errors import Barred, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import fingerprint
from mcp_server.store import Store

RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime
STAYS = f"{CLOSED}; its known memories stay"


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read at a path: a memory and its digest, or the problem that prevents one."""

    stamp: Stamp
    digest: str = ""
    memory: Memory | None = None
    problem: Problem | None = None


@dataclass(slots=True)
class IndexChanges:
    """
    What taking files in changed in the index: the paths with new content, and those of deleted files.

    `sights` is ref → whether it is new or has other words; not for a repository, where nothing ages.
    `lost_paths` is id → path of the memories gone from a repository; elsewhere a deleted file counts as the
    person's wish.
    """

    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    lost_paths: dict[str, str] = field(default_factory=dict)
    sights: dict[str, Sight] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def take_in(store: Store, vault: Vault, *paths: Path, by_hand: bool = False) -> None:
    """
    Make the index say what the files at *paths* say now, or that they are gone.

    *by_hand*: they were changed outside Daybook, which is noted in the ledger.
    """
    with store.database.write() as db:
        index_changes = take_in_files(store, db, vault, paths)
        if index_changes:
            take_in_waiting(store, db, vault)
    if by_hand:
        note_seen(store, index_changes.sights)
        note_lost(store, vault, index_changes.lost_paths)


def take_in_waiting(store: Store, db: sqlite3.Connection, vault: Vault) -> None:
    """Take in the files that wait because another file had their id, until no more ids become free."""
    while waiting := unreadable.waiting(db, vault.key):
        if not take_in_files(store, db, vault, map(Path, waiting)):
            return


def take_in_files(store: Store, db: sqlite3.Connection, vault: Vault, paths: Iterable[Path]) -> IndexChanges:
    """
    Make the index say what the files at *paths* say now.

    The files are read inside the transaction, so that of two processes the one that writes the index
    last has also read last.
    """
    index_changes = IndexChanges()
    stamps = [(path, _stamp(vault, path)) for path in paths if is_utf8(str(path))]
    # Missing files come first: a renamed file keeps its id, which only one row may have.
    for path, on_disk in sorted(stamps, key=lambda pair: pair[1] is not None):
        if on_disk is None:
            memory_id = writing.remove(db, str(path), store.now())
            if memory_id and vault.in_repository:
                index_changes.lost_paths[memory_id] = str(path)
            index_changes.removed.append(str(path))
            continue
        reading = _read(vault, path, on_disk)
        memory = reading.memory
        known = memories.known_files(db, vault.key, memory.id, on_disk.path) if memory else []
        if not _put(store, db, vault, reading, known):
            continue
        index_changes.changed.append(str(path))
        if memory and not vault.in_repository:
            ref, holder = vault.ref(memory.id), _holder(known)
            if holder is None:
                index_changes.sights[ref] = Sight.ARRIVED
            elif holder.fingerprint != fingerprint(memory.title, memory.text) and not _is_own_change(
                store, ref, was=holder.digest, now=reading.digest
            ):
                index_changes.sights[ref] = Sight.EDITED
    return index_changes


def _is_own_change(store: Store, ref: str, *, was: str, now: str) -> bool:
    """
    Tell whether Daybook made of the bytes *was* those that are there *now*.

    The history knows it before ledger and index do; the watcher or another process may look in between.
    """
    versions = history.versions(store.home, ref)
    return bool(versions) and versions[-1].now == now and was in (version.was for version in versions)


def _stamp(vault: Vault, path: Path) -> Stamp | None:
    """Return the stamp of a file of *vault*; None when it is gone, or is in the vault's former folder."""
    return stamp(path) if is_inside(vault, path) and not _is_open_folder(path) else None


def _is_open_folder(path: Path) -> bool:
    """Tell whether *path* is a folder that can be read: then its files are taken in, not the folder."""
    return os.path.isdir(path) and not path.is_symlink() and is_open(path)


def _read(vault: Vault, path: Path, stamp: Stamp) -> _Reading:
    if reason := why_not_taken_in(stamp.path):  # which depends on another file
        return _Reading(stamp.outdated(), problem=Problem(stamp.path, 0, reason))
    try:
        file = load(vault, path, on_disk=stamp)
    except Unreadable as error:
        reason = STAYS if os.path.isdir(stamp.path) and not os.path.islink(stamp.path) else error.reason
        if isinstance(error, Barred):  # a right that is given changes neither size nor time
            stamp = stamp.outdated()
        return _Reading(stamp, problem=Problem(stamp.path, error.line, reason))
    except FileNotFoundError:
        return _Reading(stamp, problem=Problem(stamp.path, 0, "vanished while it was read"))
    if time.time_ns() - stamp.mtime_ns < RACY:
        stamp = stamp.outdated()
    return _Reading(stamp, digest=file.digest, memory=file.memory)


def _holder(known: Sequence[KnownFile]) -> KnownFile | None:
    """Return the file that the index has under the id that was asked for, None when there is none."""
    return next((file for file in known if file.has_id), None)


def _put(
    store: Store, db: sqlite3.Connection, vault: Vault, reading: _Reading, known: Sequence[KnownFile]
) -> bool:
    """
    Put one reading into the index; return whether that changed what the index says.

    *known* are the `known_files` of its path and of the id that was read.
    """
    if reading.problem or reading.memory is None:
        assert reading.problem
        unreadable.put(db, vault=vault.key, stamp=reading.stamp, problem=reading.problem)
        return False
    memory, stamp, digest = reading.memory, reading.stamp, reading.digest
    holder = _holder(known)
    is_known = holder is not None and (holder.path, holder.digest) == (stamp.path, digest)
    if is_known and writing.says(
        db, vault=vault.key, memory=memory, stamp=stamp, digest=digest, now=store.now()
    ):
        writing.touch(db, stamp)
        return False
    rivals = [stamp.path]
    if holder and holder.path != stamp.path and _keeps_id(vault, holder.path, memory.id):
        # The file named after the id keeps it, whichever file was seen first.
        rivals = sorted((stamp.path, holder.path), key=lambda path: (Path(path).stem != memory.id, path))
    if rivals[0] == stamp.path:
        writing.put(
            db,
            vault=vault.key,
            memory=memory,
            stamp=stamp,
            digest=digest,
            now=store.now(),
            known=known,
            searchable=store.database.searchable,
        )
    for other in rivals[1:]:
        if remove_second_name(Path(other), Path(rivals[0])):
            writing.remove(db, other, store.now())
            continue
        reason = (
            f"has the id '{memory.id}', which {rivals[0]} also has; if one is a copy, delete it, else give it"
            " another id"
        )
        problem = Problem(other, 0, reason)
        writing.remove(db, other, store.now())
        unreadable.put(db, vault=vault.key, stamp=Stamp(other, -1, 0), problem=problem)
    return rivals[0] == stamp.path


def _keeps_id(vault: Vault, path: str, memory_id: str) -> bool:
    """Tell whether the file at *path* is still there with that id; one that cannot be read keeps it."""
    stamp = _stamp(vault, Path(path))
    if not stamp:
        return False
    memory = _read(vault, Path(path), stamp).memory
    return memory is None or memory.id == memory_id
