"""
What keeps the index from being used: why and what helps, in words for a person; how long a thread waits for
others; what a process could not write to it, and what to tell the person about that.
"""

import contextlib
import errno
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters.lock_holders import holder_of_index
from mcp_server.adapters.open_files import free_bytes
from mcp_server.core.errors import IndexBusy, IndexUnavailable

if TYPE_CHECKING:
    from mcp_server.core.remarks import Remark

REFUSED = 1.0  # seconds without waiting, after a wait in vain: one answer waits once

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CLOSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN)
_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
NO_DAMAGE = (*_BUSY, *_CLOSED, *_DISK, sqlite3.SQLITE_INTERRUPT)
_LEAST_ROOM = 64 * 1024  # bytes; with less SQLite cannot even open an index


class Patience(threading.local):
    """How many seconds a thread waits for other processes: *most*, or 0 just after it waited in vain."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._gave_up = float("-inf")

    @property
    def left(self) -> float:
        return 0.0 if time.monotonic() - self._gave_up < REFUSED else self.most

    def give_up(self) -> None:
        self._gave_up = time.monotonic()

    @contextlib.contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Let the block wait no longer than *seconds*."""
        before = self.most
        self.most = min(before, seconds)
        try:
            yield
        finally:
            self.most = before


def is_busy(error: Exception) -> bool:
    """Tell whether *error* says that another process has locked the index."""
    return _code(error) in _BUSY


def unavailable(error: Exception, path: Path) -> IndexUnavailable:
    """Return the error for the index at *path*: why it cannot be used, and what helps."""
    code = _code(error)
    if code in _BUSY:
        return IndexBusy(holder_of_index(path))
    full = code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) == errno.ENOSPC
    if full or (code in (*_DISK, sqlite3.SQLITE_CANTOPEN) and _is_full(path.parent)):
        return IndexUnavailable(
            "The disk is full, so the index cannot be used.",
            f"Make room on the disk of {path.parent}; the index catches up automatically.",
        )
    if code in _CLOSED:
        return IndexUnavailable(
            f"The index {path} cannot be opened or written ({error}).",
            "It must be a file that you can read and write. You may move anything else there away: "
            "Daybook makes a new index from your files.",
        )
    if code == sqlite3.SQLITE_IOERR:
        return IndexUnavailable(f"The disk fails under the index {path} ({error}).", "Check the disk.")
    return IndexUnavailable(
        f"The index cannot be used: {error}.",
        "Try again. If this message comes again, 'daybook maintain all' rebuilds a damaged index.",
    )


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _is_full(folder: Path) -> bool:
    try:
        return free_bytes(folder) < _LEAST_ROOM
    except OSError:
        return False


def give_up_when_busy(status: int, _remaining: int, _total: int) -> None:
    """Stop a copy when another process writes for longer than we wait; SQLite itself would try for ever."""
    if status == sqlite3.SQLITE_BUSY:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error


class Trouble:
    """
    True while the index may lack something that was written; remarks are kept for each thread.

    It ends with the process: the next process compares the files with the index anyway.
    """

    def __init__(self) -> None:
        self._missed = 0
        self._made_up = 0
        self._threads = threading.local()

    def __bool__(self) -> bool:
        return self._missed > self._made_up

    def miss(self) -> None:
        """Note that something was not written to the index."""
        self._missed += 1

    @contextlib.contextmanager
    def making_up(self) -> Iterator[None]:
        """Count everything missed so far as made up for when the block succeeds."""
        missed = self._missed
        yield
        self._made_up = max(self._made_up, missed)

    def remark(self, remark: "Remark") -> None:
        """Keep *remark* for the end of this thread's answer."""
        # Two tuples of different classes are equal when their fields are.
        once = {(type(other), other): other for other in [*self._remarks(), remark]}
        self._threads.remarks = [*once.values()]

    def remarks(self) -> "list[Remark]":
        """Return the remarks for the end of this thread's answer, and forget them."""
        remarks = self._remarks()
        self._threads.remarks = []
        return remarks

    def _remarks(self) -> "list[Remark]":
        remarks: list[Remark] = getattr(self._threads, "remarks", [])
        return remarks
