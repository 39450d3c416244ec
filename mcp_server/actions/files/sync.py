"""
sync: find which files changed since the index took them in, and make it equal to them and to the ledger.

Also when that is needed, and what an answer does while another process writes the index.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.between_vaults import complete_crossing, is_unfinished
from mcp_server.actions.files.conflict_copies import ledger_copies
from mcp_server.actions.files.first_sight import Sight, note_seen
from mcp_server.actions.files.take_in import take_in_files, take_in_waiting
from mcp_server.actions.files.vanished_folders import emptied_folders, note_lost, vanished_vault
from mcp_server.adapters import places
from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.events import replay
from mcp_server.adapters.index.memories import memories, selections, unreadable
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.adapters.vault import Vault, is_utf8, make_vault_folders, stamp, stamps
from mcp_server.core.batches import batches
from mcp_server.core.changes import BY_PATH, FileChange, Stamp, diff
from mcp_server.core.errors import IndexSetAside, IndexUnavailable
from mcp_server.core.memory_parts import Level
from mcp_server.core.remarks import IndexBehind
from mcp_server.store import Store

BATCH = 250  # files in one transaction: others wait a fraction of a second at most
LOCK = ".sync.lock"
PATIENCE = 0.4  # seconds that an answer waits for another process that writes the index


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


@dataclass(frozen=True, slots=True)
class _Listed:
    """The files of a vault, those that the index knows, and what differs."""

    vault: Vault
    on_disk: list[Stamp]
    indexed: list[Stamp]
    changes: Sequence[tuple[FileChange, Stamp]]


def sync(store: Store, *, vaults: Sequence[Vault] | None = None, deep: bool = False) -> SyncReport:
    """
    Take in what changed in *vaults* (all visible ones) and in the ledger since the last sync.

    *deep* reads every file, which finds changes that kept size and time, and checks that the index is intact
    and says what the files say.
    Raises IndexUnavailable, also in a hook without our packages that would have to read a file.
    """
    store.database.require()
    try:
        with store.database.translated():
            return _sync(store, vaults, deep)
    except IndexSetAside:
        return _sync(store, vaults, deep)
    except ModuleNotFoundError as error:
        raise IndexUnavailable(f"Files cannot be read by this process: {error}.") from error


def _sync(store: Store, vaults: Sequence[Vault] | None, deep: bool) -> SyncReport:
    """Take in what changed in *vaults*, or with None in the visible ones; *deep* reads every file."""
    report = SyncReport()
    vanished = vanished_vault(store) if vaults is None else None
    to_sync = (*store.vaults, *([vanished] if vanished else [])) if vaults is None else vaults
    with store.database.alone_among_processes(LOCK), store.database.trouble.making_up():
        if deep:
            store.database.set_aside_if_damaged()
        complete_crossing(store)
        listed = [_listed(store, vault, deep, report) for vault in to_sync]
        with store.reading(sum(len(files.changes) for files in listed)) as advance:
            lost_memories = [(files.vault, _take_in(store, files, report, advance)) for files in listed]
        if (store.home / places.AUTO_MEMORY).is_dir():
            from mcp_server.actions.files.older_notes import carry_over  # an earlier version wrote them

            carry_over(store)
        catch_up(store)
        _keep_accepted(store, to_sync)
        for vault, paths in lost_memories:  # after all vaults: a memory may have moved to another
            note_lost(store, vault, paths)
        note_synced(store, to_sync)
        if store.database.searchable and (deep or report.changed >= BATCH):
            with store.database.write() as db:
                full_text.merge(db)
    with store.database.read() as db:
        report.unreadable += unreadable.listed(db, [vault.key for vault in to_sync])
    report.unreadable += ledger_copies(store)
    return report


def rebuild(store: Store, *, vaults: Sequence[Vault] | None = None) -> SyncReport:
    """
    Rebuild the index from the files and the ledger; vectors are computed again later.

    The old index answers until the new one is complete.
    """
    with store.database.rebuilt() as new_database:
        report = sync(store._replace(database=new_database), vaults=vaults)
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


def _listed(store: Store, vault: Vault, deep: bool, report: SyncReport) -> _Listed:
    """Return which files of *vault* differ from what the index knows."""
    with store.database.read() as db:
        indexed = memories.stamps(db, vault.key)
    if deep:
        indexed = [stamp.outdated() for stamp in indexed]
    closed: list[str] = []
    copies: list[Stamp] = []
    on_disk = stamps(vault, closed, copies)
    if copies:  # they are named, and not read
        on_disk = sorted((*on_disk, *copies), key=BY_PATH)
    if closed:
        on_disk = sorted({*on_disk, *_behind(closed, indexed)})
    if on_disk == indexed:  # usual, and a comparison is ten times as fast as a diff
        return _Listed(vault, on_disk, indexed, ())
    report.unreadable += [_misnamed(stamp.path) for stamp in on_disk if not is_utf8(stamp.path)]
    changes = [*diff((stamp for stamp in on_disk if is_utf8(stamp.path)), indexed)]
    return _Listed(vault, on_disk, indexed, changes)


def _take_in(
    store: Store, listed: _Listed, report: SyncReport, advance: Callable[[int], None]
) -> dict[str, str]:
    """
    Make the index say what the files of a vault say; *advance* is told how many more are read.

    Return id → path of the memories that its emptied folders held; for a repository, of all that are gone.
    """
    vault = listed.vault
    lost_memories = (
        {} if vault.in_repository else emptied_folders(store, vault, listed.indexed, listed.on_disk)
    )
    sights: dict[str, Sight] = {}
    for batch in batches(listed.changes, BATCH):
        new = {stamp.path for change, stamp in batch if change is FileChange.ADDED}
        with store.database.write() as db:
            index_changes = take_in_files(store, db, vault, [Path(stamp.path) for _, stamp in batch])
        report.removed += len(index_changes.removed)
        report.added += len(new.intersection(index_changes.changed))
        report.modified += len(set(index_changes.changed) - new)
        sights |= index_changes.sights
        lost_memories |= index_changes.lost_paths
        advance(len(batch))
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


def make_folders(store: Store, vault: Vault) -> None:
    """
    Create the missing folders of *vault*, and note the project that has it.

    A sync notes first which memories vanished with those folders.
    """
    if store.project and vault.project == store.project.key:
        places.note_project(store.home, store.project)
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
    return [selections.synced(vault.key, str(vault.root)) for vault in vaults]


def take_across(store: Store, old: Vault, path: Path, new: Vault, target: Path) -> None:
    """Make the index say that a file moved to another vault, if it can be written now."""
    with if_free(store):
        with store.database.write() as db:  # at once: a kill between them would leave it twice
            for vault, moved in ((new, target), (old, path)):
                if moved.is_relative_to(vault.root) and take_in_files(store, db, vault, [moved]):
                    take_in_waiting(store, db, vault)
            replay.catch_up(db, store.ledger)
        _keep_accepted(store, store.vaults)
