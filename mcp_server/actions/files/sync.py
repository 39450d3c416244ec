"""
sync: make the index equal to the files.

Remember, edits made by hand, the watcher, git checkouts and rebuilds all take this road.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from mcp_server.actions.files.gone import note_lost, vanished_vault
from mcp_server.actions.files.sight import Sight, note_seen
from mcp_server.actions.files.take_in import take_in_files, take_in_waiting
from mcp_server.adapters import places
from mcp_server.adapters.index.database.known_before import ids_below
from mcp_server.adapters.index.events import replay
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.adapters.index.memories.memories import Problem
from mcp_server.adapters.vault import Vault, is_utf8, make_vault_folders, stamp, stamps
from mcp_server.core.changes import FileChange, Stamp, diff
from mcp_server.core.errors import IndexSetAside, IndexUnavailable
from mcp_server.store import Store

BATCH = 250  # files in one transaction: others wait a fraction of a second at most
LOCK = ".sync.lock"
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
    progress: Progress | None = None,
) -> SyncReport:
    """
    Take in what changed in *vaults* (all visible ones) and in the ledger since the last sync.

    *deep* reads every file, which finds changes that kept size and time, and checks that the index is intact
    and says what the files say.
    *progress* is called with the number of files done.
    Raises IndexUnavailable.
    """
    store.database.require()
    try:
        with store.database.translated():
            return _sync(store, vaults, deep, progress)
    except IndexSetAside:
        return _sync(store, vaults, deep, progress)


def _sync(store: Store, vaults: Sequence[Vault] | None, deep: bool, progress: Progress | None) -> SyncReport:
    report = SyncReport()
    gone = vanished_vault(store) if vaults is None else None
    chosen = (*store.vaults, *([gone] if gone else [])) if vaults is None else vaults
    with store.database.alone_among_processes(LOCK), store.database.trouble.making_up():
        if deep:
            store.database.set_aside_if_damaged()
        lost = [(vault, _sync_vault(store, vault, deep, report, progress)) for vault in chosen]
        if (store.home / places.AUTO_MEMORY).is_dir():
            from mcp_server.actions.files.older_notes import carry_over  # an earlier version wrote them

            carry_over(store)
        catch_up(store)
        _keep_accepted(store, chosen)
        for vault, those in lost:  # after all vaults: a memory may have moved to another
            note_lost(store, vault, those)
        note_synced(store, chosen)
    with store.database.read() as db:
        report.unreadable += memories.problems(db, [vault.key for vault in chosen])
    return report


def rebuild(
    store: Store, *, vaults: Sequence[Vault] | None = None, progress: Progress | None = None
) -> SyncReport:
    """
    Rebuild the index from the files and the ledger; vectors are computed again later.

    The old index answers until the new one is complete.
    """
    with store.database.anew() as made:
        report = sync(replace(store, database=made), vaults=vaults, progress=progress)
    sync(store, vaults=vaults)  # take in what other processes did meanwhile
    return report


def catch_up(store: Store) -> None:
    """Take new events of the ledger into the index; raises IndexUnavailable."""
    store.database.require()
    with store.database.read() as db:
        behind = replay.behind(db, store.ledger)
    if behind:
        with store.database.write() as db:
            replay.catch_up(db, store.ledger)
        _keep_accepted(store, store.vaults)


def _keep_accepted(store: Store, vaults: Iterable[Vault]) -> None:
    shared = [vault for vault in vaults if vault.in_repository]
    if shared:
        from mcp_server.actions.files.accepted import keep_accepted  # few projects have such a vault

        keep_accepted(store, shared)


def ensure_synced(store: Store) -> None:
    """
    Sync when the index has never seen the visible vaults, or when this process failed to write it earlier.

    In the first case the index is new, or was deleted meanwhile; raises IndexUnavailable if it cannot sync.
    """
    with store.database.read() as db:
        synced = selections.facts(db)
    if not synced.issuperset(_synced_facts(store.vaults)):
        with store.database.patience.at_most(PATIENCE):
            sync(store)
    elif store.database.trouble:
        sync_if_free(store)


def sync_if_free(store: Store, *, vaults: Sequence[Vault] | None = None) -> None:
    """Sync if the index can be written now; else the answer rests on what it says already."""
    with if_free(store):
        sync(store, vaults=vaults)


def catch_up_if_free(store: Store) -> None:
    """Take new events of the ledger into the index if it can be written now."""
    with if_free(store):
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
            database.trouble.remark(f"{error} Your files have what is newest; the index follows by itself.")


def _sync_vault(
    store: Store, vault: Vault, deep: bool, report: SyncReport, progress: Progress | None
) -> dict[str, str]:
    """
    Make the index say what the files of *vault* say.

    Return id → path of the memories that its emptied folders held; for a repository, of all that are gone.
    """
    with store.database.read() as db:
        indexed = memories.stamps(db, vault.key)
    if deep:
        indexed = [Stamp(known.path, -1, known.mtime_ns) for known in indexed]
    closed: list[str] = []
    there = stamps(vault, closed)
    if closed:
        there = sorted({*there, *_behind(closed, indexed)})
    changes: Iterable[tuple[FileChange, Stamp]] = ()
    if there != indexed:  # usually equal; a comparison is ten times as fast as a diff
        report.unreadable += [_misnamed(found.path) for found in there if not is_utf8(found.path)]
        changes = diff((found for found in there if is_utf8(found.path)), indexed)
    lost = {} if vault.in_repository else _emptied(store, vault, indexed, there)
    seen: dict[str, Sight] = {}
    for batch in _batches(changes, BATCH):
        new = {found.path for change, found in batch if change is FileChange.ADDED}
        with store.database.write() as db:
            taken = take_in_files(store, db, vault, [Path(found.path) for _, found in batch])
        report.removed += len(taken.gone)
        report.added += len(new.intersection(taken.changed))
        report.modified += len(set(taken.changed) - new)
        seen |= taken.seen
        lost |= taken.lost
        if progress:
            progress(len(batch))
    with store.database.read() as db:
        waiting = memories.waiting(db, vault.key)
    if waiting:
        with store.database.write() as db:
            take_in_waiting(store, db, vault)
    if seen:
        with store.database.read() as db:
            known = selections.facts(db).issuperset(_synced_facts([vault]))
        note_seen(store, seen, first=not known)
    return lost


def _emptied(store: Store, vault: Vault, indexed: Sequence[Stamp], there: Sequence[Stamp]) -> dict[str, str]:
    """
    Return id → path of the memories that were in folders of *vault* without any file left.

    Includes those known to an index that vanished with the folders while this process had it open.
    """
    lost = store.database.known_before.take(vault.key)
    if there:
        lost = {}
    if there == indexed:
        return lost  # the usual case: looking into each folder takes as long as finding all files
    for folder in map(str, vault.folders()):
        held, holds = (any(_below(each.path, folder) for each in found) for found in (indexed, there))
        if held and not holds:
            with store.database.read() as db:
                lost |= ids_below(db, folder)
    return lost


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
    yield from (known for known in indexed if known.path.startswith(beginnings))


def _misnamed(path: str) -> Problem:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Problem(shown, 0, "has a name that is not UTF-8; rename it")


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


def _batches(
    changes: Iterable[tuple[FileChange, Stamp]], size: int
) -> Iterator[list[tuple[FileChange, Stamp]]]:
    iterator = iter(changes)
    while batch := list(islice(iterator, size)):
        yield batch
