"""
sync: make the index equal to the files, to all of them or to some.

Remember, edits made by hand, the watcher, git checkouts and rebuilds all come here. It is long because
comparing all files and taking in some of them (`take_in`) follow the same rules.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.between_vaults import complete_crossing, is_unfinished
from mcp_server.actions.files.conflict_copies import ledger_copies, why_not_taken_in
from mcp_server.actions.files.first_sight import Sight, note_seen
from mcp_server.actions.files.load import load
from mcp_server.actions.files.vanished_folders import note_lost, vanished_vault
from mcp_server.adapters import places
from mcp_server.adapters.index.database.known_before import ids_below
from mcp_server.adapters.index.events import replay
from mcp_server.adapters.index.memories import memories, selections, unreadable, writing
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.adapters.leftovers import remove_second_name
from mcp_server.adapters.vault import Vault, is_utf8, make_vault_folders, stamp, stamps
from mcp_server.core.batches import batches
from mcp_server.core.changes import BY_PATH, FileChange, Stamp, diff
from mcp_server.core.errors import IndexSetAside, IndexUnavailable, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Level, fingerprint
from mcp_server.core.remarks import IndexBehind
from mcp_server.store import Store

BATCH = 250  # files in one transaction: others wait a fraction of a second at most
LOCK = ".sync.lock"
RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime
CLOSED = "is a folder that cannot be read; its known memories stay"
PATIENCE = 0.4  # seconds that an answer waits for another process that writes the index

Progress = Callable[[int], None]


@dataclass(slots=True)
class SyncReport:
    """What a sync did: numbers of files, and what could not be read."""

    added: int = 0
    modified: int = 0
    removed: int = 0
    unreadable: list[Problem] = field(default_factory=list)

    @property
    def changed(self) -> int:
        return self.added + self.modified + self.removed


def sync(
    store: Store,
    *,
    vaults: Sequence[Vault] | None = None,
    deep: bool = False,
    progress: Progress = lambda _: None,
) -> SyncReport:
    """
    Take in what changed in *vaults* (all visible ones) and in the ledger since the last sync.

    *deep* reads every file, which finds changes that kept size and time, and checks that the index is intact
    and says what the files say.
    *progress* is called with the number of files done.
    Raises IndexUnavailable, also in a hook without our packages that would have to read a file.
    """
    store.database.require()
    try:
        with store.database.translated():
            return _sync(store, vaults, deep, progress)
    except IndexSetAside:
        return _sync(store, vaults, deep, progress)
    except ModuleNotFoundError as error:
        raise IndexUnavailable(f"Files cannot be read by this process: {error}.") from error


def _sync(store: Store, vaults: Sequence[Vault] | None, deep: bool, progress: Progress) -> SyncReport:
    report = SyncReport()
    vanished = vanished_vault(store) if vaults is None else None
    to_sync = (*store.vaults, *([vanished] if vanished else [])) if vaults is None else vaults
    with store.database.alone_among_processes(LOCK), store.database.trouble.making_up():
        if deep:
            store.database.set_aside_if_damaged()
        complete_crossing(store)
        lost_memories = [(vault, _sync_vault(store, vault, deep, report, progress)) for vault in to_sync]
        if (store.home / places.AUTO_MEMORY).is_dir():
            from mcp_server.actions.files.older_notes import carry_over  # an earlier version wrote them

            carry_over(store)
        catch_up(store)
        _keep_accepted(store, to_sync)
        for vault, paths in lost_memories:  # after all vaults: a memory may have moved to another
            note_lost(store, vault, paths)
        note_synced(store, to_sync)
    with store.database.read() as db:
        report.unreadable += unreadable.listed(db, [vault.key for vault in to_sync])
    report.unreadable += ledger_copies(store)
    return report


def rebuild(
    store: Store, *, vaults: Sequence[Vault] | None = None, progress: Progress = lambda _: None
) -> SyncReport:
    """
    Rebuild the index from the files and the ledger; vectors are computed again later.

    The old index answers until the new one is complete.
    """
    with store.database.rebuilt() as new_database:
        report = sync(store._replace(database=new_database), vaults=vaults, progress=progress)
    sync(store, vaults=vaults)  # take in what other processes did meanwhile
    return report


def catch_up(store: Store) -> None:
    """Take new events of the ledger into the index; raises IndexUnavailable."""
    store.database.require()
    if _replayed(store):
        _keep_accepted(store, store.vaults)


def _replayed(store: Store) -> bool:
    """Take new events of the ledger into the index, or what stands in for it; tell whether there were any."""
    with store.database.read() as db:
        is_behind = replay.behind(db, store.ledger)
    if is_behind:
        with store.database.write() as db:
            replay.catch_up(db, store.ledger)
    return is_behind


def _keep_accepted(store: Store, vaults: Iterable[Vault]) -> None:
    shared = [vault for vault in vaults if vault.in_repository and vault.level is Level.PROJECT]
    if shared:
        from mcp_server.actions.files.accepted import keep_accepted  # few projects have such a vault

        keep_accepted(store, shared)


def ensure_synced(store: Store) -> None:
    """
    Sync when the index has never seen the visible vaults, when this process failed to write it earlier, or
    when a process was killed while it moved a memory to another level.

    In the first case the index is new, or was deleted meanwhile; raises IndexUnavailable if it cannot sync.
    """
    with store.database.read() as db:
        synced = selections.facts(db)
    if not synced.issuperset(_synced_facts(store.vaults)):
        with store.database.patience.at_most(PATIENCE):
            sync(store)
    elif store.database.trouble or is_unfinished(store):
        sync_if_free(store)


def sync_if_free(store: Store, *, vaults: Sequence[Vault] | None = None) -> None:
    """Sync if the index can be written now; otherwise the answer comes from the index as it is."""
    with if_free(store):
        sync(store, vaults=vaults)


def catch_up_if_free(store: Store) -> None:
    """
    Take new events of the ledger into the index if it can be written now.

    What stands in for the index gets them too: without them it would answer that nothing was ever done.
    """
    with if_free(store):
        if store.database.stands_in:
            _replayed(store)
        else:
            catch_up(store)


def refresh_index(store: Store) -> None:
    """Sync if that is needed, and take in new events of the ledger if the index can be written now."""
    ensure_synced(store)
    catch_up_if_free(store)


@contextlib.contextmanager
def if_free(store: Store) -> Iterator[None]:
    """
    Let the block write the index, but wait for other processes no longer than an answer may take.

    A failure is noted, and a later sync makes up for it. It never fails the action: a written file is
    acknowledged, whatever is wrong with the index.
    """
    database = store.database
    try:
        with database.patience.at_most(PATIENCE):
            yield
    except IndexSetAside:
        database.trouble.miss()
    except IndexUnavailable as error:
        database.trouble.miss()
        if not database.stands_in:
            database.trouble.remark(IndexBehind(str(error)))


def _sync_vault(
    store: Store, vault: Vault, deep: bool, report: SyncReport, progress: Progress
) -> dict[str, str]:
    """
    Make the index say what the files of *vault* say.

    Return id → path of the memories that its emptied folders held; for a repository, of all that are gone.
    """
    with store.database.read() as db:
        indexed = memories.stamps(db, vault.key)
    if deep:
        indexed = [Stamp(stamp.path, -1, stamp.mtime_ns) for stamp in indexed]
    closed: list[str] = []
    copies: list[Stamp] = []
    on_disk = stamps(vault, closed, copies)
    if copies:  # they are named, and not read
        on_disk = sorted((*on_disk, *copies), key=BY_PATH)
    if closed:
        on_disk = sorted({*on_disk, *_behind(closed, indexed)})
    changes: Iterable[tuple[FileChange, Stamp]] = ()
    if on_disk != indexed:  # usually equal; a comparison is ten times as fast as a diff
        report.unreadable += [_misnamed(stamp.path) for stamp in on_disk if not is_utf8(stamp.path)]
        changes = diff((stamp for stamp in on_disk if is_utf8(stamp.path)), indexed)
    lost_memories = {} if vault.in_repository else _emptied(store, vault, indexed, on_disk)
    sights: dict[str, Sight] = {}
    for batch in batches(changes, BATCH):
        new = {stamp.path for change, stamp in batch if change is FileChange.ADDED}
        with store.database.write() as db:
            index_changes = take_in_files(store, db, vault, [Path(stamp.path) for _, stamp in batch])
        report.removed += len(index_changes.removed)
        report.added += len(new.intersection(index_changes.changed))
        report.modified += len(set(index_changes.changed) - new)
        sights |= index_changes.sights
        lost_memories |= index_changes.lost_paths
        progress(len(batch))
    with store.database.read() as db:
        waiting = unreadable.waiting(db, vault.key)
    if waiting:
        with store.database.write() as db:
            take_in_waiting(store, db, vault)
    if sights:
        with store.database.read() as db:
            is_known = selections.facts(db).issuperset(_synced_facts([vault]))
        note_seen(store, sights, first=not is_known)
    return lost_memories


def _emptied(store: Store, vault: Vault, indexed: Sequence[Stamp], stamps: Sequence[Stamp]) -> dict[str, str]:
    """
    Return id → path of the memories that were in folders of *vault* without any file left.

    Includes those known to an index that vanished with the folders while this process had it open.
    """
    lost_memories = store.database.known_before.take(vault.key)
    if stamps:
        lost_memories = {}
    if stamps == indexed:
        return lost_memories  # the usual case: looking into each folder takes as long as finding all files
    for folder in map(str, vault.folders()):
        had_files, has_files = (
            any(_below(stamp.path, folder) for stamp in side) for side in (indexed, stamps)
        )
        if had_files and not has_files:
            with store.database.read() as db:
                lost_memories |= ids_below(db, folder)
    return lost_memories


def _below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}{os.sep}")


def make_folders(store: Store, vault: Vault) -> None:
    """Create the missing folders of *vault*, after a sync has noted which memories vanished with them."""
    if not all(map(os.path.isdir, vault.folders())):
        sync_if_free(store, vaults=[vault])
    make_vault_folders(vault)


def _behind(closed: Sequence[str], indexed: Iterable[Stamp]) -> Iterator[Stamp]:
    """Yield the stamps of folders that cannot be read, and of the files that the index knows in them."""
    yield from filter(None, (stamp(Path(folder)) for folder in closed))
    beginnings = tuple(f"{folder}{os.sep}" for folder in closed)
    yield from (file_stamp for file_stamp in indexed if file_stamp.path.startswith(beginnings))


def _misnamed(path: str) -> Problem:
    readable = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Problem(readable, 0, "has a name that is not UTF-8; rename it")


def note_synced(store: Store, vaults: Iterable[Vault]) -> None:
    """Note that the index knows the files of *vaults*; writes nothing when that is noted already."""
    facts = _synced_facts(vaults)
    with store.database.read() as db:
        if selections.facts(db).issuperset(facts):
            return
    with store.database.write() as db:
        selections.note_facts(db, facts)


def _synced_facts(vaults: Iterable[Vault]) -> list[str]:
    # With the path: an index copied along with the store knows only the files at the old path.
    return [f"synced {vault.key} at {str(vault.root)!a}" for vault in vaults]


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


def take_across(store: Store, old: Vault, path: Path, new: Vault, target: Path) -> None:
    """Make the index say that a file moved to another vault, if it can be written now."""
    with if_free(store):
        take_in(store, new, target)  # first, so that the memory is known at every moment
        take_in(store, old, *([path] if path.is_relative_to(old.root) else []))
        catch_up(store)


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
        reading = _read(vault, on_disk)
        memory = reading.memory
        before = selections.fingerprint_of(db, vault.key, memory.id) if memory else None
        if not _put(store, db, vault, reading):
            continue
        index_changes.changed.append(str(path))
        if memory and not vault.in_repository:
            ref = f"{vault.key}/{memory.id}"
            if before is None:
                index_changes.sights[ref] = Sight.ARRIVED
            elif before != fingerprint(memory.title, memory.text):
                index_changes.sights[ref] = Sight.EDITED
    return index_changes


def _stamp(vault: Vault, path: Path) -> Stamp | None:
    """Return the stamp of a file of *vault*; None when it is gone, or is in the vault's former folder."""
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


def _read(vault: Vault, stamp: Stamp) -> _Reading:
    if reason := why_not_taken_in(stamp.path):
        return _Reading(stamp, problem=Problem(stamp.path, 0, reason))
    try:
        file = load(vault, Path(stamp.path), on_disk=stamp)
    except Unreadable as error:
        reason = CLOSED if os.path.isdir(stamp.path) and not os.path.islink(stamp.path) else error.reason
        return _Reading(stamp, problem=Problem(stamp.path, error.line, reason))
    except FileNotFoundError:
        return _Reading(stamp, problem=Problem(stamp.path, 0, "vanished while it was read"))
    if time.time_ns() - stamp.mtime_ns < RACY:
        stamp = Stamp(stamp.path, -1, stamp.mtime_ns)  # read again by the next sync
    return _Reading(stamp, digest=file.digest, memory=file.memory)


def _put(store: Store, db: sqlite3.Connection, vault: Vault, reading: _Reading) -> bool:
    """Put one reading into the index; return whether that changed what the index says."""
    if reading.problem or reading.memory is None:
        assert reading.problem
        unreadable.put(db, vault=vault.key, stamp=reading.stamp, problem=reading.problem)
        return False
    memory, stamp, digest = reading.memory, reading.stamp, reading.digest
    if writing.says(db, vault=vault.key, memory=memory, stamp=stamp, digest=digest, now=store.now()):
        writing.touch(db, stamp)
        return False
    holder = memories.path_of(db, vault.key, memory.id)
    rivals = [stamp.path]
    if holder not in ("", stamp.path) and _keeps_id(vault, holder, memory.id):
        # The file named after the id keeps it, whichever file was seen first.
        rivals = sorted((stamp.path, holder), key=lambda path: (Path(path).stem != memory.id, path))
    if rivals[0] == stamp.path:
        writing.put(db, vault=vault.key, memory=memory, stamp=stamp, digest=digest, now=store.now())
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
    memory = _read(vault, stamp).memory
    return memory is None or memory.id == memory_id
