"""list_trash: what is in the trash, listed, filtered and found by its words; `restore` brings it back."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.files.load import load
from mcp_server.actions.files.trash import forgotten, in_trash
from mcp_server.adapters import files, places
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import DaybookError
from mcp_server.core.links import as_name
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import vault_in
from mcp_server.core.search.query import Filter, fits
from mcp_server.store import Store

LOOKED_INTO = 1000  # files, those put away last, that are read where that tells whether they are meant


@dataclass(frozen=True, slots=True)
class TrashedMemory:
    """
    A memory that is in the trash, and since when as far as that is known.

    `memory` is None where the file holds none that can be read; `restore` moves it all the same.
    """

    id: str
    vault: Vault
    path: Path
    memory: Memory | None
    since: datetime | None = None

    @property
    def ref(self) -> str:
        return self.vault.ref(self.id)

    @property
    def title(self) -> str:
        return self.memory.title if self.memory else self.id


@dataclass(frozen=True, slots=True)
class TrashListing:
    """A page of what is in the trash, how many there are in all, and how many more were not looked into."""

    rows: tuple[TrashedMemory, ...]
    total: int
    left_out: int = 0


def list_trash(store: Store, filter: Filter, words: str, *, limit: int, offset: int) -> TrashListing:
    """
    Return what is in the trash, the last put there first: what *filter* lets through and has all *words*.

    The filter's status counts for nothing. Where files must be read for it, the first LOOKED_INTO are.
    """
    vaults = (store.everywhere() if filter.all_projects else store).vaults
    vaults_by_key = {vault.key: vault for vault in vaults if filter.level in (None, vault.level)}
    entries = forgotten(store, vaults_by_key.values())
    wanted_words = as_name(words).split()
    everything = Filter(level=filter.level, all_projects=filter.all_projects, statuses=filter.statuses)
    narrowed = bool(wanted_words) or filter != everything
    looked_into = entries[:LOOKED_INTO] if narrowed else entries[offset : offset + limit]

    def read() -> Iterator[TrashedMemory]:
        for trashed, since in looked_into:
            vault = vaults_by_key[vault_in(trashed.ref)]
            if not narrowed or _may_have(trashed.path, wanted_words):
                yield _read(store, vault, trashed.path, trashed.id, datetime.fromtimestamp(since, UTC))

    if not narrowed:
        return TrashListing(tuple(read()), len(entries))
    rows = [
        trashed
        for trashed in read()
        if trashed.memory and fits(trashed.memory, trashed.vault.level, filter, wanted_words)
    ]
    return TrashListing(tuple(rows[offset : offset + limit]), len(rows), len(entries) - len(looked_into))


def find_trashed(store: Store, memory_id: str) -> TrashedMemory | None:
    """Return the memory that `restore` would bring back from the trash, None when none has that id."""
    for vault, path in in_trash(store, memory_id):
        return _read(store, vault, path, memory_id)
    return None


def _may_have(path: Path, words: Sequence[str]) -> bool:
    """Tell whether the bytes of a file have all *words*, which takes a tenth of reading it as a memory."""
    try:
        text = as_name(files.read(path).decode("utf-8", "replace"))
    except (OSError, DaybookError):
        return False
    return all(word in text for word in words)


def _read(
    store: Store, vault: Vault, path: Path, memory_id: str, since: datetime | None = None
) -> TrashedMemory:
    place = path.relative_to(places.trash_folder(store.home, vault)).as_posix()
    memory = None
    with contextlib.suppress(OSError, DaybookError):
        memory = load(vault, path, place=place).memory
    return TrashedMemory(memory_id, vault, path, memory, since)
