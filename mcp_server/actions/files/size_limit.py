"""
size: how many bytes the memory takes, and what follows from MAX_MEMORY_SIZE_MB.

The limit never makes Daybook refuse a memory, nor delete any but those in the trash past their grace.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files import trash
from mcp_server.adapters import history, places
from mcp_server.adapters.vault import stamps
from mcp_server.store import Store

MEGABYTE = 1024 * 1024
NEAR = 0.8  # share of the limit from which the person is told


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

    @property
    def said(self) -> str:
        """What the person should know and can do, in one or two sentences; '' while there is room."""
        if not self.is_near:
            return ""
        limit, total = self.limit // MEGABYTE, self.total / MEGABYTE
        helps = "'daybook maintain clean' and 'daybook forget ID --forever' make room"
        helps += ", MAX_MEMORY_SIZE_MB allows more"
        if not self.is_over:
            return f"The memory takes {total:,.1f} of {limit:,} MB: {helps}."
        return (
            f"The memory takes {total:,.1f} MB, more than the {limit:,} it should. Nothing is lost or"
            f" refused, but unused conversations are archived early: {helps}."
        )


def measure(store: Store) -> Size:
    """Return the size of the whole store, every project included; looks at each file's size."""
    vaults = places.all_vaults(store.home, store.vaults)
    return Size(
        memories=sum(found.size for vault in vaults for found in stamps(vault)),
        index=index_size(store),
        trash=trash.size(store),
        history=history.size(store.home),
        ledger=sum(path.stat().st_size for path in store.ledger.paths()),
        limit=store.settings.max_memory_size_mb * MEGABYTE,
    )


def index_size(store: Store) -> int:
    """Return the bytes of the index and of its write-ahead log."""
    size = 0
    for path in (store.database.path, Path(f"{store.database.path}-wal")):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
