"""
size: how many bytes the memory takes, and what follows from MAX_MEMORY_SIZE_MB and MAX_HISTORY_SIZE_MB.

The limit never makes Daybook refuse a memory, nor delete any but those in the trash past their grace.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mcp_server.actions.files import trash
from mcp_server.actions.files.accepted import last_accepted
from mcp_server.actions.files.load import bytes_at, memory_in
from mcp_server.adapters import history, places
from mcp_server.adapters.history import Version
from mcp_server.adapters.vault import stamps
from mcp_server.core.authors import ELSEWHERE, PERSON
from mcp_server.core.judge.ageing import PERSONS
from mcp_server.core.render import MEGABYTE
from mcp_server.store import Store

NEAR = 0.8  # share of the limit from which a message says so


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes of the vaults, index, trash, history and ledger; the limit in bytes, 0 for none."""

    memories: int
    index: int
    trash: int
    history: int
    ledger: int
    limit: int

    @property
    def total(self) -> int:
        return self.memories + self.index + self.trash + self.history + self.ledger

    @property
    def is_near(self) -> bool:
        """Whether four fifths of the limit are reached."""
        return 0 < self.limit * NEAR <= self.total

    @property
    def is_over(self) -> bool:
        return 0 < self.limit < self.total


@dataclass(frozen=True, slots=True)
class Folder:
    """How many memory files all folders of one name hold, and their bytes."""

    name: str
    files: int
    size: int


def measure(store: Store, measured_folders: Sequence[Folder] | None = None) -> Size:
    """
    Return the size of the whole store, every project included; looks at each file's size.

    *measured_folders* are its `folders`, where they were looked at already.
    """
    return Size(
        memories=sum(folder.size for folder in measured_folders or folders(store)),
        index=index_size(store),
        trash=trash.size(store),
        history=history.size(store.home),
        ledger=sum(path.stat().st_size for path in store.ledger.paths()),
        limit=store.settings.max_memory_size_mb * MEGABYTE,
    )


def folders(store: Store) -> list[Folder]:
    """Return the folders of the whole store's vaults, those of the same name as one; looks at each file."""
    sizes_of: dict[str, list[int]] = {}
    for vault in places.all_vaults(store.home, store.vaults):
        for folder in vault.folders():
            sizes_of.setdefault(folder.name, [])
        for stamp in stamps(vault):
            sizes_of[stamp.path[len(os.fspath(vault.root)) + 1 :].partition(os.sep)[0]].append(stamp.size)
    return [Folder(name, len(sizes), sum(sizes)) for name, sizes in sizes_of.items()]


def index_size(store: Store) -> int:
    """Return the bytes of the index and of its write-ahead log."""
    size = 0
    for path in (store.database.path, Path(f"{store.database.path}-wal")):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


SLACK = 2  # seconds by which a file may be younger than it says, and be as Daybook wrote it


def prune(store: Store) -> int:
    """
    Delete the oldest versions of the history, a person's words last, until the rest is within its limit.

    Return how many; none without a limit.
    """
    limit = store.settings.max_history_size_mb * MEGABYTE
    if not limit:
        return 0
    versions = sorted(history.everything(store.home), key=lambda version: (version.ref, version.number))
    over = sum(version.size for version in versions) - limit
    if over <= 0:
        return 0
    ranked = []
    for ref, memory_versions in groupby(versions, lambda version: version.ref):
        before, accepted = None, last_accepted(store, ref)
        for version in memory_versions:
            if version == accepted:
                continue  # the repository's own file may be gone or changed
            ranked.append((_is_persons(store, version, before), version.at, version.path.name, version))
            before = version
    pruned = []
    for *_, version in sorted(ranked, key=lambda ranking: ranking[:3]):
        if over <= 0:
            break
        over -= version.size
        pruned.append(version)
    history.erase(pruned)
    store.try_record("history_pruned", versions=len(pruned))
    return len(pruned)


def _is_persons(store: Store, version: Version, before: Version | None) -> bool:
    """Tell whether a person may have written a version: true unless a machine must have written it."""
    memory = memory_in(store.user_vault, version.path, bytes_at(version.path))
    if memory is None or memory.source in PERSONS:
        return True
    if before:
        return before.by in (PERSON, ELSEWHERE) or before.now != version.was
    return version.path.lstat().st_mtime > memory.updated.timestamp() + SLACK
