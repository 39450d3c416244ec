"""
Answer without the index: when it cannot be used, an index in memory, filled from the files and the ledger,
stands in for it.

What is shown unasked and what stays on the disk never rest on it.
"""

import functools
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from mcp_server.actions.files.sync import PATIENCE, catch_up_if_free, note_synced, sync_if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.adapters.index.database.stand_in import StandIn
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.adapters.vault import Vault, is_utf8, stamp, stamps
from mcp_server.core.changes import FileChange, Stamp, diff
from mcp_server.core.errors import IndexSetAside, IndexUnavailable
from mcp_server.core.memory_parts import ID
from mcp_server.core.remarks import FromFiles
from mcp_server.store import NoEmbedding, Store

FILLING = 0.5  # seconds spent reading files before an answer: some 700 files
BATCH = 50  # files that are taken in between two looks at the clock

P = ParamSpec("P")
T = TypeVar("T")


def self_healing(action: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """
    Let *action*, which only reads or may be repeated, answer even when the index fails.

    It starts again when the index had to be set aside, and answers from the files when it cannot be used.
    """

    @functools.wraps(action)
    def healed(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            try:
                with store.database.translated():  # bad data may raise only where it is used
                    return action(store, *args, **kwargs)
            except IndexSetAside:
                return action(store, *args, **kwargs)
        except IndexUnavailable as error:
            if store.database.stands_in:
                raise
            return action(stand_in(store, error), *args, **kwargs)

    return healed


def usable(store: Store) -> Store:
    """Return *store*, or, when its index cannot be read, a store that answers from the files."""
    try:
        try:
            is_new = _looked_new(store)
        except IndexSetAside:
            is_new = _looked_new(store)
    except IndexUnavailable as error:
        return stand_in(store, error)
    if not is_new:  # else it is being made, and what stood in for it may have to again
        store.database.substitute = None
    return store


def stand_in(store: Store, reason: IndexUnavailable) -> Store:
    """
    Return *store* with an index in memory that has the ledger, and the files read in half a second, the
    newest first.

    The next answer of this process reads the remaining files. The person is told the *reason*.
    """
    store.database.trouble.miss()
    in_memory = _from_files(store, reason)
    catch_up_if_free(in_memory)  # the ledger alone tells what the person accepted
    files_left = _fill(in_memory, FILLING)
    store.database.trouble.remark(FromFiles(str(reason), files_left))
    return in_memory


def with_files_of(store: Store, memory_id: str) -> Store:
    """Return *store* with an index in memory that has the files named after *memory_id*, or the newest."""
    complete = store if store.database.stands_in else _from_files(store, IndexUnavailable(""))
    named_files = [
        (vault, path) for vault in complete.vaults for path in _named(vault, memory_id) if stamp(path)
    ]
    for vault, path in named_files:
        take_in(complete, vault, path)
    if named_files:
        note_synced(complete, complete.vaults)
    else:
        _fill(complete, FILLING)
    return complete


def _named(vault: Vault, memory_id: str) -> Iterator[Path]:
    if ID.fullmatch(memory_id):
        for kind in vault.kinds:
            for archived in (False, True):
                yield vault.path_for(memory_id, kind, archived=archived)


def look_again(store: Store) -> None:
    """Take in every file that changed, if the index can be written now; a stand-in then has all files."""
    if store.database.stands_in:
        _fill(store, math.inf)
    else:
        sync_if_free(store)


def _from_files(store: Store, reason: IndexUnavailable) -> Store:
    database = StandIn.of(store.database, reason)
    return store._replace(database=database, meaning=NoEmbedding())


def _looked_new(store: Store) -> bool:
    with store.database.patience.at_most(PATIENCE), store.database.read() as db:
        return selections.is_new(db)


def _fill(store: Store, seconds: float) -> int:
    """Take in files for *seconds*, or a batch: deleted ones, then the newest; return how many are left."""
    end = time.monotonic() + seconds
    waiting = sorted(
        _waiting(store), key=lambda change: (change[1] is not FileChange.REMOVED, -change[2].mtime_ns)
    )
    count = 0
    while count < len(waiting) and (not count or time.monotonic() < end):
        batch = waiting[count : count + BATCH]
        for vault in {vault.key: vault for vault, _, _ in batch}.values():
            take_in(
                store, vault, *(Path(file_stamp.path) for of, _, file_stamp in batch if of.key == vault.key)
            )
        count += len(batch)
    note_synced(store, store.vaults)
    return len(waiting) - count


def _waiting(store: Store) -> Iterator[tuple[Vault, FileChange, Stamp]]:
    for vault in store.vaults:
        with store.database.read() as db:
            indexed = memories.stamps(db, vault.key)
        changes = diff((file for file in stamps(vault) if is_utf8(file.path)), indexed)
        yield from ((vault, *change) for change in changes)
