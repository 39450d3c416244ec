"""load: read a memory from its file; the one way from a file to what actions work on."""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.vault import Vault, kind_of, read_memory_file, stamp
from mcp_server.core.changes import Stamp
from mcp_server.core.errors import DaybookError, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A memory with its file: where it is, what bytes it has, and their digest."""

    memory: Memory
    vault: Vault
    path: Path
    data: bytes
    digest: str

    @property
    def ref(self) -> str:
        return self.vault.ref(self.memory.id)

    @property
    def place(self) -> str:
        """Return where the file is in its vault."""
        return self.path.relative_to(self.vault.root).as_posix()


def load(vault: Vault, path: Path, *, place: str = "", on_disk: Stamp | None = None) -> MemoryFile:
    """
    Return the memory that the file at *path* of *vault* holds now.

    *place* is the place in the vault of a file that lies elsewhere, in the trash. *on_disk* is its stamp, if
    known. Raises FileNotFoundError, Unreadable when it holds no memory.
    """
    on_disk = on_disk or stamp(path)
    data = files.read(path) if place else read_memory_file(vault, path)
    memory = parsed(vault, vault.root / place if place else path, data, on_disk)
    return MemoryFile(memory, vault, path, data, files.digest(data))


def bytes_at(path: Path) -> bytes:
    """Return the bytes of the file at *path*; b'' when it is gone or cannot be read."""
    with contextlib.suppress(OSError, Unreadable):
        return files.read(path)
    return b""


def memory_in(vault: Vault, path: Path, data: bytes) -> Memory | None:
    """
    Return the memory in *data*, which the file at *path* holds or held; None when they hold none.

    What lies outside the folders of *vault*, in its trash or in the history, counts as knowledge.
    """
    place = path if path.is_relative_to(vault.root) else vault.root / Kind.KNOWLEDGE.folder / path.name
    with contextlib.suppress(DaybookError):
        return parsed(vault, place, data) if data else None
    return None


def parsed(vault: Vault, path: Path, data: bytes, stamp: Stamp | None = None) -> Memory:
    """Parse *data*, the bytes of the file at *path* of *vault*, as a memory; raises Unreadable."""
    # Slow to load, and a sync mostly finds nothing to read.
    from mcp_server.adapters.memory_file import parse

    kind, archived = kind_of(vault, path)
    modified = datetime.fromtimestamp(stamp.mtime_ns // 1_000_000_000 if stamp else 0, UTC)
    return parse(data, path=str(path), kind=kind, archived=archived, modified=modified)
