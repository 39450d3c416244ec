"""
sync: make the index equal to the files.

Remember, edits made by hand, the watcher, git checkouts and rebuilds all take this road.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from mcp_server.adapters import files, memory_file
from mcp_server.adapters.index import memories, usage
from mcp_server.adapters.index.memories import Problem
from mcp_server.adapters.vault import Vault, kind_of, read_memory_file, stamp, stamps
from mcp_server.core.changes import Change, Stamp, diff
from mcp_server.core.errors import IndexUnavailable, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.store import Store

BATCH = 250  # files in one transaction: others wait a fraction of a second at most
RACY = 20_000_000  # nanoseconds within which a file can change again without a new mtime

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


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was found at a path: a memory and its digest, or the reason why there is none."""

    stamp: Stamp
    digest: str = ""
    memory: Memory | None = None
    problem: Problem | None = None


def sync(
    store: Store,
    *,
    vaults: Sequence[Vault] | None = None,
    deep: bool = False,
    progress: Progress | None = None,
) -> SyncReport:
    """
    Take in what changed in *vaults* (all visible ones) and in the ledger since the last sync.

    *deep* reads every file, which finds changes that kept size and time.
    *progress* is called with the number of files done.
    Raises IndexUnavailable.
    """
    report = SyncReport()
    chosen = store.vaults if vaults is None else vaults
    with files.lock(_lock(store)):
        for vault in chosen:
            _sync_vault(store, vault, deep, report, progress)
        catch_up(store)
        _note_synced(store)
    with store.database.read() as db:
        report.unreadable = memories.problems(db, [vault.key for vault in chosen])
    return report


def rebuild(
    store: Store, *, vaults: Sequence[Vault] | None = None, progress: Progress | None = None
) -> SyncReport:
    """Empty the index and make it anew from the files and the ledger; vectors are computed again later."""
    with files.lock(_lock(store)):
        store.database.set_aside()
    return sync(store, vaults=vaults, progress=progress)


def catch_up(store: Store) -> None:
    """Add up what is new in the ledger."""
    with store.database.read() as db:
        behind = usage.behind(db, store.ledger)
    if behind:
        with store.database.write() as db:
            usage.catch_up(db, store.ledger)


def ensure_synced(store: Store) -> None:
    """Sync when the index has never seen the visible vaults: it is new, or was deleted under us."""
    with store.database.read() as db:
        synced = {row[0] for row in db.execute("SELECT name FROM facts")}
    if not synced.issuperset(_synced_facts(store)):
        sync(store)


def take_in(store: Store, vault: Vault, *paths: Path) -> None:
    """Make the index say what the files at *paths* say now, or that they are gone."""
    found = [(path, stamp(path)) for path in paths]
    # Those that are gone come first: a renamed file keeps its id, which only one row may have.
    readings = [(path, _read(vault, there) if there else None) for path, there in found]
    readings.sort(key=lambda reading: reading[1] is not None)
    with store.database.write() as db:
        for path, reading in readings:
            if reading:
                _put(store, db, vault, reading)
            else:
                memories.remove(db, str(path), store.now())


def written(
    store: Store, vault: Vault, path: Path, event: str, *, ref: str, accepted: str = "", session: str = ""
) -> None:
    """
    Follow up on a file just written: one ledger line, and the index.

    *accepted* is the digest of bytes that may be shown unasked from now on.
    The file is the memory; a ledger or an index in trouble does not undo it, the next sync repairs them.
    """
    digests = [accepted] if accepted else []
    store.ledger.note(event, store.clock(), refs=[ref], digests=digests, session=session)
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
    changes = diff(stamps(vault), indexed)
    for batch in _batches(changes, BATCH):
        # Files that went are taken out first: a renamed file keeps its id, which only one row may have.
        batch.sort(key=lambda change: change[0] is not Change.REMOVED)
        readings = [
            (change, found, None if change is Change.REMOVED else _read(vault, found))
            for change, found in batch
        ]
        with store.database.write() as db:
            for change, found, reading in readings:
                if reading is None:
                    memories.remove(db, found.path, store.now())
                    report.removed += 1
                elif _put(store, db, vault, reading):
                    if change is Change.ADDED:
                        report.added += 1
                    else:
                        report.modified += 1
        if progress:
            progress(len(batch))


def _read(vault: Vault, found: Stamp) -> _Reading:
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
    if memories.digest_of(db, reading.stamp.path) == reading.digest:
        memories.touch(db, reading.stamp)
        return False
    holder = memories.path_of(db, vault.key, reading.memory.id)
    if holder not in ("", reading.stamp.path) and stamp(Path(holder)):
        reason = f"has the id '{reading.memory.id}', which {holder} has already; give one of them another"
        problem = Problem(reading.stamp.path, 0, reason)
        memories.put_problem(db, vault=vault.key, stamp=reading.stamp, problem=problem)
        return False
    memories.put(
        db,
        vault=vault.key,
        memory=reading.memory,
        stamp=reading.stamp,
        digest=reading.digest,
        now=store.now(),
    )
    return True


def _note_synced(store: Store) -> None:
    with store.database.write() as db:
        db.executemany(
            "INSERT OR REPLACE INTO facts VALUES (?, '1')", [(name,) for name in _synced_facts(store)]
        )


def _synced_facts(store: Store) -> list[str]:
    return [f"synced {vault.key}" for vault in store.vaults]


def _lock(store: Store) -> Path:
    return store.database.path.parent / ".sync.lock"


def _batches(changes: Iterable[tuple[Change, Stamp]], size: int) -> Iterator[list[tuple[Change, Stamp]]]:
    iterator = iter(changes)
    while batch := list(islice(iterator, size)):
        yield batch
