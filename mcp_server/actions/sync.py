"""
sync: make the index equal to the files.

Remember, edits made by hand, the watcher, git checkouts and rebuilds all take this road.
"""

import contextlib
import functools
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from mcp_server.adapters import files
from mcp_server.adapters.index import memories, replay, selections
from mcp_server.adapters.index.memories import Problem
from mcp_server.adapters.vault import Vault, is_utf8, kind_of, read_memory_file, stamp, stamps
from mcp_server.core.changes import Change, Stamp, diff
from mcp_server.core.errors import IndexSetAside, IndexUnavailable, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.store import Store

BATCH = 250  # files in one transaction: others wait a fraction of a second at most
RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime

Progress = Callable[[int], None]
P = ParamSpec("P")
T = TypeVar("T")


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
class _Reading:
    """What was found at a path: a memory and its digest, or the reason why there is none."""

    stamp: Stamp
    digest: str = ""
    memory: Memory | None = None
    problem: Problem | None = None


def self_healing(action: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Let *action*, which only reads or may be repeated, begin again when the index had to be set aside."""

    @functools.wraps(action)
    def healed(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return action(store, *args, **kwargs)
        except IndexSetAside:
            return action(store, *args, **kwargs)

    return healed


@self_healing
def sync(
    store: Store,
    *,
    vaults: Sequence[Vault] | None = None,
    deep: bool = False,
    progress: Progress | None = None,
) -> SyncReport:
    """
    Take in what changed in *vaults* (all visible ones) and in the ledger since the last sync.

    *deep* reads every file, which finds changes that kept size and time, and looks whether the index
    is whole and says what the files say.
    *progress* is called with the number of files done.
    Raises IndexUnavailable.
    """
    report = SyncReport()
    chosen = store.vaults if vaults is None else vaults
    with files.lock(_lock(store)):
        if deep:
            store.database.set_aside_if_damaged()
        for vault in chosen:
            _sync_vault(store, vault, deep, report, progress)
        catch_up(store)
        _note_synced(store, chosen)
    with store.database.read() as db:
        report.unreadable += memories.problems(db, [vault.key for vault in chosen])
    return report


def rebuild(
    store: Store, *, vaults: Sequence[Vault] | None = None, progress: Progress | None = None
) -> SyncReport:
    """
    Make the index anew from the files and the ledger; vectors are computed again later.

    The one that is there answers until the new one is whole.
    """
    with store.database.anew() as made:
        report = sync(replace(store, database=made), vaults=vaults, progress=progress)
    sync(store, vaults=vaults)  # what others did meanwhile
    return report


def catch_up(store: Store) -> None:
    """Add up what is new in the ledger."""
    with store.database.read() as db:
        behind = replay.behind(db, store.ledger)
    if behind:
        with store.database.write() as db:
            replay.catch_up(db, store.ledger)


def ensure_synced(store: Store) -> None:
    """Sync when the index has never seen the visible vaults: it is new, or was deleted under us."""
    with store.database.read() as db:
        synced = selections.facts(db)
    if not synced.issuperset(_synced_facts(store.vaults)):
        sync(store)


def take_in(store: Store, vault: Vault, *paths: Path) -> None:
    """Make the index say what the files at *paths* say now, or that they are gone."""
    with store.database.write() as db:
        changed, gone = _take_in(store, db, vault, paths)
        if changed or gone:
            _take_in_waiting(store, db, vault)


def written(
    store: Store,
    vault: Vault,
    path: Path,
    event: str,
    *,
    ref: str,
    accepted: str = "",
    session: str = "",
    **detail: object,
) -> None:
    """
    Follow up on a file just written: one ledger line, and the index.

    *accepted* is the digest of bytes that may be shown unasked from now on; *detail* stands in the line
    where it is not None.
    The file is the memory; a ledger or an index in trouble does not undo it, the next sync repairs them.
    """
    digests = [accepted] if accepted else []
    said = {name: value for name, value in detail.items() if value is not None}
    store.ledger.note(event, store.clock(), refs=[ref], digests=digests, session=session, **said)
    with contextlib.suppress(IndexUnavailable):
        take_in(store, vault, path)
        catch_up(store)


def _sync_vault(
    store: Store, vault: Vault, deep: bool, report: SyncReport, progress: Progress | None
) -> None:
    with store.database.read() as db:
        indexed = memories.stamps(db, vault.key)
    if deep:
        indexed = [Stamp(known.path, -1, known.mtime_ns) for known in indexed]
    there = stamps(vault)
    report.unreadable += [_misnamed(found.path) for found in there if not is_utf8(found.path)]
    changes = diff((found for found in there if is_utf8(found.path)), indexed)
    for batch in _batches(changes, BATCH):
        new = {found.path for change, found in batch if change is Change.ADDED}
        with store.database.write() as db:
            changed, gone = _take_in(store, db, vault, [Path(found.path) for _, found in batch])
        report.removed += len(gone)
        report.added += len(new.intersection(changed))
        report.modified += len(set(changed) - new)
        if progress:
            progress(len(batch))
    with store.database.read() as db:
        waiting = memories.waiting(db, vault.key)
    if waiting:
        with store.database.write() as db:
            _take_in_waiting(store, db, vault)


def _misnamed(path: str) -> Problem:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Problem(shown, 0, "has a name that is not UTF-8; rename it")


def _take_in_waiting(store: Store, db: sqlite3.Connection, vault: Vault) -> None:
    """Take in the files whose id another one had, as long as that makes another id free."""
    while waiting := memories.waiting(db, vault.key):
        changed, gone = _take_in(store, db, vault, map(Path, waiting))
        if not (changed or gone):
            return


def _take_in(
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
    from mcp_server.adapters import memory_file  # slow to load, and mostly no file has changed

    path = Path(found.path)
    try:
        data = read_memory_file(vault, path)
        kind, archived = kind_of(vault, path)
        modified = datetime.fromtimestamp(found.mtime_ns // 1_000_000_000, UTC)
        memory = memory_file.parse(data, path=found.path, kind=kind, archived=archived, modified=modified)
    except Unreadable as error:
        return _Reading(found, problem=Problem(found.path, error.line, error.reason))
    except FileNotFoundError:
        return _Reading(found, problem=Problem(found.path, 0, "vanished while it was read"))
    if time.time_ns() - found.mtime_ns < RACY:
        found = Stamp(found.path, -1, found.mtime_ns)  # read again by the next sync
    return _Reading(found, digest=files.digest(data), memory=memory)


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


def _note_synced(store: Store, vaults: Iterable[Vault]) -> None:
    with store.database.write() as db:
        selections.note_facts(db, _synced_facts(vaults))


def _synced_facts(vaults: Iterable[Vault]) -> list[str]:
    # With the place: an index that came along with a copy of the store tells of the files of another.
    return [f"synced {vault.key} at {str(vault.root)!a}" for vault in vaults]


def _lock(store: Store) -> Path:
    return store.database.path.parent / ".sync.lock"


def _batches(changes: Iterable[tuple[Change, Stamp]], size: int) -> Iterator[list[tuple[Change, Stamp]]]:
    iterator = iter(changes)
    while batch := list(islice(iterator, size)):
        yield batch
