"""
The SQLite file: connections, transactions, and what happens when the file is damaged or gone.

Every write is a BEGIN IMMEDIATE: a deferred transaction that reads and then writes fails under
concurrency whatever the timeout.
The file is never opened by other means in a process that holds a connection: closing such a handle
would drop SQLite's POSIX locks and can lose a committed row.
"""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.index import schema
from mcp_server.core.errors import IndexUnavailable

BUSY_TIMEOUT = 5.0  # seconds
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SIDE_FILES = ("", "-wal", "-shm")


class Database:
    """
    One index file, with a connection for each thread.

    A connection follows its file: when the file was deleted or replaced, the next use opens it anew.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._threads = threading.local()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; raise IndexUnavailable when there can be none."""
        held: tuple[sqlite3.Connection, int, int] | None = getattr(self._threads, "held", None)
        inode = _inode(self.path)
        if held and held[1] == inode and held[2] == os.getpid():
            return held[0]
        if held and held[2] == os.getpid():
            held[0].close()
        self._threads.held = None
        connection = self._open()
        self._threads.held = (connection, _inode(self.path), os.getpid())
        return connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """
        Run the block in one immediate transaction; nothing of it remains when it raises.

        Raises IndexUnavailable when the index is locked, read-only or damaged.
        """
        with self.translated():
            connection = self.connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Run the block with a connection for reading; raises IndexUnavailable."""
        with self.translated():
            yield self.connection()

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's errors into IndexUnavailable; a damaged file is set aside first."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE:
                self._set_aside_if_damaged()
                raise IndexUnavailable(
                    "The index was damaged and has been set aside; the memories are safe.",
                    "Ask again: it is made anew from the files.",
                ) from error
            raise IndexUnavailable(f"The index cannot be used: {error}.") from error

    def close(self) -> None:
        """Close this thread's connection."""
        held = getattr(self._threads, "held", None)
        if held and held[2] == os.getpid():
            held[0].close()
        self._threads.held = None

    def _open(self) -> sqlite3.Connection:
        try:
            return self._open_once()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGE or self.read_only:
                raise IndexUnavailable(f"The index {self.path} cannot be opened: {error}.") from error
            self._set_aside_if_damaged()
        try:
            return self._open_once()
        except sqlite3.DatabaseError as error:
            raise IndexUnavailable(f"The index {self.path} cannot be opened: {error}.") from error

    def _open_once(self) -> sqlite3.Connection:
        connection = _connect(self.path, read_only=self.read_only)
        try:
            if _schema_number(connection) != schema.SCHEMA:
                if self.read_only:
                    raise IndexUnavailable("The index has not been made yet.")
                self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables while no other process does; another schema's tables go first."""
        with files.lock(self._lock_path()):
            number = _schema_number(connection)
            if number == schema.SCHEMA:
                return
            if number > schema.SCHEMA:
                raise IndexUnavailable(
                    f"The index was made by a newer Daybook (schema {number}).",
                    "Update Daybook, or end the sessions that run the newer one.",
                )
            connection.execute("PRAGMA journal_mode = WAL")
            schema.drop(connection)
            schema.create(connection)

    def set_aside(self) -> None:
        """Rename the file, so that the next use makes an empty index; the one set aside before is lost."""
        self.close()
        with files.lock(self._lock_path()):
            self._rename()

    def _set_aside_if_damaged(self) -> None:
        """Set the file aside when a second look under the lock confirms the damage."""
        self.close()
        if self.read_only:
            return
        with files.lock(self._lock_path()):
            if self.path.exists() and not _is_sound(self.path):
                self._rename()

    def _rename(self) -> None:
        for suffix in _SIDE_FILES:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").replace(f"{self.path}.old{suffix}")

    def _lock_path(self) -> Path:
        return self.path.parent / ".index.lock"


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0.05, isolation_level=None)
    else:
        files.make_folder(path.parent)
        existed = path.exists()
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None)
        if not existed:
            path.chmod(files.FILE_MODE)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA cache_size = -16000")
    return connection


def _schema_number(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_sound(path: Path) -> bool:
    try:
        connection = _connect(path, read_only=True)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        # Busy or unreadable for another reason is not damage.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGE


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
