"""
merged_files: the files that a merge reads and writes, by their git ids, and which may be shown unasked.

Merged bytes are the person's word if they were made only of the person's words.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from mcp_server.adapters import files, memory_file
from mcp_server.adapters.remote.repository import Repository, blob_id
from mcp_server.adapters.vault import FOLDERS
from mcp_server.core.errors import DaybookError, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, Kind
from mcp_server.core.remote.memory_merge import MergedMemory
from mcp_server.core.remote.paths import in_vault
from mcp_server.core.remote.text_merge import join_texts
from mcp_server.core.remote.tree_merge import Files, TreeFile


@dataclass(slots=True)
class Contents:
    """
    Bytes by their git ids: those in the *repository*, and `new` ones that are not in it yet.

    `origins_of` is digest of merged bytes → digests of the bytes that they were made of. *at* is the date of
    a file that states none.
    """

    repository: Repository
    at: datetime
    new: dict[str, bytes] = field(default_factory=dict)
    origins_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _cache: dict[str, bytes] = field(default_factory=dict)

    def files(self) -> Files:
        """Return how a merge gets at these bytes."""
        return Files(self.parse, self.write, self.create, self.data, self.keep)

    def fetch(self, blobs: Iterable[str]) -> None:
        """Read *blobs* at once, which is much faster than one after the other."""
        self._cache |= self.repository.data(
            blob for blob in blobs if blob not in self._cache and blob not in self.new
        )

    def data(self, blob: str) -> bytes:
        """Return the bytes with the id *blob*; raises RemoteUnavailable when they are missing."""
        if blob not in self.new and blob not in self._cache:
            self.fetch([blob])
        return self.new[blob] if blob in self.new else self._cache[blob]

    def keep(self, data: bytes) -> str:
        """Return the id of *data*, which the next commit writes."""
        blob = blob_id(data)
        self.new[blob] = data
        return blob

    def parse(self, path: str, blob: str) -> Memory | None:
        """Return the memory that the bytes *blob* hold at *path*, None when they hold none."""
        try:
            return parsed_at(path, self.data(blob), self.at)
        except Unreadable:
            return None

    def write(self, merged: MergedMemory, base: TreeFile | None, older: TreeFile, newer: TreeFile) -> str:
        """Return the id of the bytes that say *merged*: comments and keys of both states stay."""
        old, new = self.data(older.blob), self.data(newer.blob)
        base_data = self.data(base.blob) if base else b""
        for data in (*_joined(base_data, old, new), new):
            with contextlib.suppress(DaybookError):
                parsed_at(merged.path, data, self.at)
                merged_data = memory_file.rewrite(data, merged.memory, path=in_vault(merged.path))
                self.origins_of[files.digest(merged_data)] = (files.digest(old), files.digest(new))
                if merged.beside:
                    beside = memory_file.render(merged.beside)
                    self.origins_of[files.digest(beside)] = (files.digest(old),)
                return self.keep(merged_data)
        return newer.blob  # no room for both texts: the other machine's history keeps the older one

    def create(self, memory: Memory) -> str:
        """Return the id of the bytes of a new memory."""
        return self.keep(memory_file.render(memory))


def parsed_at(path: str, data: bytes, at: datetime) -> Memory:
    """Return the memory that *data* holds at *path* of the repository; raises Unreadable."""
    top = in_vault(path).split("/")[0]
    kind, archived = FOLDERS.get(top, Kind.KNOWLEDGE), top == ARCHIVE_FOLDER
    return memory_file.parse(
        data, path=PurePath(in_vault(path)).as_posix(), kind=kind, archived=archived, modified=at
    )


def _joined(base: bytes, old: bytes, new: bytes) -> Sequence[bytes]:
    """Return both texts as one, where that can be done: it has the keys and comments that are not ours."""
    if not base or any(b"\r" in data for data in (base, old, new)):
        return ()
    texts = [data.decode("utf-8", "replace") for data in (base, old, new)]
    return (join_texts(*texts).second.encode("utf-8"),)
