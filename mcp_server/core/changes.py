"""The difference between what is on disk and what is indexed: the heart of sync."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple


class Stamp(NamedTuple):
    """
    What tells whether a file changed without reading it: size in bytes, mtime in nanoseconds.

    A tuple, because two are made of every file and compared whenever a command begins.
    """

    path: str
    size: int
    mtime_ns: int


BY_PATH = itemgetter(0)  # texts alone are sorted three times as fast as whole stamps; each path is there once


class FileChange(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"


def diff(on_disk: Iterable[Stamp], indexed: Iterable[Stamp]) -> Iterator[tuple[FileChange, Stamp]]:
    """
    Yield what must change in the index for it to equal the disk.

    Both sides are sorted by path, each path at most once; the stamp given is the one on disk,
    or the indexed one when the file is gone.
    A file counts as modified when its size or mtime differs; whether its bytes did is for the reader.
    """
    disk, index = iter(on_disk), iter(indexed)
    ours, theirs = next(disk, None), next(index, None)
    while ours or theirs:
        if theirs is None or (ours and ours.path < theirs.path):
            assert ours is not None
            yield FileChange.ADDED, ours
            ours = next(disk, None)
        elif ours is None or theirs.path < ours.path:
            yield FileChange.REMOVED, theirs
            theirs = next(index, None)
        else:
            if ours != theirs:
                yield FileChange.MODIFIED, ours
            ours, theirs = next(disk, None), next(index, None)
