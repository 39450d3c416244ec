"""
The SQLite file: connections, transactions, and what happens when the file is damaged or gone.

Every write is a BEGIN IMMEDIATE: a deferred transaction that reads and then writes fails under
concurrency whatever the timeout.
The file is never opened by other means in a process that holds a connection: closing such a handle
would drop SQLite's POSIX locks and can lose a committed row.
It is long because what may happen to the file has to be met by each connection and each transaction.
"""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters import files
from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.database import integrity, schema
from mcp_server.adapters.index.database.known_before import KnownBefore
from mcp_server.adapters.index.database.trouble import (
    Patience,
    Trouble,
    give_up_when_busy,
    is_busy,
    unavailable,
)
from mcp_server.core.errors import Held, IndexBusy, IndexOfNewer, IndexSetAside, IndexUnavailable, Rejected

HOOK_PATIENCE = 0.05  # seconds that a process that only reads waits for others
CACHE = 500
"""
Kilobytes of the file that a connection keeps, of which a server has one in each thread; SQLite keeps 2,000.

The system keeps the rest: recall among 10,000 memories takes as long with 500, 2,000 and 8,000.
"""
_SIDE_FILES = ("", "-wal", "-shm")
_LOCK = ".index.lock"
_inherited: list[sqlite3.Connection] = []  # connections of a parent process: closing them here would harm it


class _OwnConnection(NamedTuple):
    """A thread's connection, the inode of the file that it has open, and the process that opened it."""

    connection: sqlite3.Connection
    inode: int
    pid: int


class Database:
    """
    One index file, with a connection for each thread.

    A connection follows its file: when the file was deleted or replaced, the next use opens the new one.
    """

    def __init__(self, path: Path, *, read_only: bool = False, searchable: bool = True) -> None:
        self.path = path
        self.read_only = read_only
        self.searchable = searchable  # whether each row must be found by its words at once
        self.rebuild_folder = path.parent / ".rebuild"
        self.patience = Patience(HOOK_PATIENCE if read_only else files.PATIENCE)
        self.trouble = Trouble()
        self.substitute: Database | None = None  # answers while this one cannot be used
        self.known_before = KnownBefore()
        self._threads = threading.local()

    def require(self) -> None:
        """Do nothing: this is the index itself."""

    @property
    def stands_in(self) -> bool:
        """Whether this is a stand-in, filled from the files, and not the index itself."""
        return False

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; raise IndexUnavailable when it cannot be made."""
        own = self._own()
        if own and own.pid == os.getpid():
            if own.connection.in_transaction or own.inode == _inode(self.path):
                self._wait_no_longer(own.connection)
                return own.connection
            self.known_before.keep(own.connection, own.inode)
        elif own:
            _inherited.append(own.connection)
        self.close()
        self._threads.waits = self.patience.left
        connection = self._open()
        self._threads.own = _OwnConnection(connection, _inode(self.path), os.getpid())
        return connection

    def _own(self) -> _OwnConnection | None:
        own: _OwnConnection | None = getattr(self._threads, "own", None)
        return own

    def _wait_no_longer(self, connection: sqlite3.Connection) -> None:
        """Let SQLite wait for other processes no longer than this thread's patience."""
        seconds = self.patience.left
        if self._threads.waits != seconds:
            connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            self._threads.waits = seconds

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """
        Run the block in one immediate transaction; roll back when it raises.

        Raises IndexUnavailable when the index is locked, read-only or damaged.
        """
        with self.translated():
            connection = self._begun("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """
        Run the block on one snapshot of the index, whatever other processes write meanwhile.

        A nested block uses the snapshot of the outer one. Raises IndexUnavailable.
        """
        with self.translated():
            connection = self.connection()
            if connection.in_transaction:
                yield connection
                return
            connection = self._begun("BEGIN")
            try:
                yield connection
            finally:
                with contextlib.suppress(sqlite3.Error):  # it was closed when damage was found
                    connection.execute("COMMIT")

    def _begun(self, begin: str) -> sqlite3.Connection:
        """Return this thread's connection in a transaction that the statement *begin* begins."""
        connection = self.connection()
        connection.execute(begin)
        if schema.number(connection) != schema.SCHEMA:
            # Another Daybook made its own tables in the file after this connection had been opened.
            connection.execute("ROLLBACK")
            self.close()
            connection = self.connection()
            connection.execute(begin)
        return connection

    @contextlib.contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Run the block outside a transaction, for code that makes its own; raises IndexUnavailable."""
        with self.translated():
            yield self.connection()

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's errors into IndexUnavailable; a damaged file is set aside first."""
        try:
            yield
        except UnicodeEncodeError as error:
            raise Rejected("The text contains half a character.", "Give it as valid Unicode text.") from error
        except sqlite3.Error as error:
            if integrity.may_tell_damage(error) and self.set_aside_if_damaged():
                raise IndexSetAside from error
            raise self._unavailable(error) from error
        except integrity.ODD as error:
            # SQLite returned a value that we never stored.
            if self.set_aside_if_damaged():
                raise IndexSetAside from error
            raise

    def close(self) -> None:
        """Close this thread's connection."""
        own = self._own()
        if own and own.pid == os.getpid():
            own.connection.close()
        self._threads.own = None

    def _open(self) -> sqlite3.Connection:
        try:
            return self._open_once()
        except (sqlite3.Error, *integrity.ODD) as error:
            if not (integrity.may_tell_damage(error) and self.set_aside_if_damaged()):
                raise self._unavailable(error) from error
        try:
            return self._open_once()
        except (sqlite3.Error, *integrity.ODD) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        if is_busy(error):
            self.patience.give_up()
        return unavailable(error, self.path)

    def _open_once(self) -> sqlite3.Connection:
        connection = _connect(self.path, self.patience.left, read_only=self.read_only)
        try:
            if schema.number(connection) != schema.SCHEMA:
                if self.read_only:
                    raise IndexUnavailable("The index does not exist yet.")
                if schema.is_of_others(connection):
                    connection.close()
                    self._move_others_away()
                    return self._open_once()
                self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables while no other process does; tables of another schema are dropped first."""
        schema.tables()  # loads the modules that define them, so before taking the lock that others wait for
        with self.alone_among_processes(_LOCK):
            number = schema.number(connection)
            if number == schema.SCHEMA:
                return
            if number > schema.SCHEMA:
                raise IndexOfNewer(number)
            connection.execute("PRAGMA journal_mode = WAL")
            schema.drop(connection)
            schema.create(connection, searchable=self.searchable)

    def _move_others_away(self) -> None:
        """Give the database that another tool keeps under our name another one, so that both go on."""
        with self.alone_among_processes(_LOCK):
            with contextlib.closing(_connect(self.path, self.patience.left, read_only=False)) as connection:
                if not schema.is_of_others(connection):
                    return  # another process was faster
                # Empty, so that a kill between two of the new names loses nothing.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            names = (f"{self.path}.other-tool{number}" for number in ("", *(f"-{n}" for n in range(2, 1000))))
            away = next(name for name in names if not os.path.lexists(name))
            try:
                self._rename(away)
                Path(away).chmod(files.FILE_MODE)
            except OSError as error:
                raise unavailable(error, self.path) from error

    @contextlib.contextmanager
    def rebuilt(self) -> Iterator["Database"]:
        """
        Rebuild the index: yield an empty one to fill; when the block succeeds, copy it over this one.

        The copy is one transaction. Until then other processes read the old index, may write it except during
        the copy, and keep their connections (tests/durability/test_rebuilt_index.py). The yielded one is
        searchable only when it was copied. First deletes what a killed process left of a rebuild.
        Raises IndexUnavailable.
        """
        with self._rebuilding() as folder:
            self.connection()  # raises, before the work, for the index of a newer Daybook
            files.make_folder(folder)
            new_index = Database(folder / self.path.name, searchable=False)
            for setting in ("journal_mode = MEMORY", "synchronous = OFF"):
                new_index.connection().execute(f"PRAGMA {setting}")
            try:
                yield new_index
                with new_index.write() as connection:
                    schema.make_searchable(connection)
                    full_text.merge(connection)
                try:
                    self._become(new_index)
                except IndexSetAside:
                    self._become(new_index)
            finally:
                new_index.close()

    @contextlib.contextmanager
    def _rebuilding(self) -> Iterator[Path]:
        """Hold the lock of a rebuild; yield the path of its folder, which is deleted before and after."""
        import shutil  # slow to load, and rebuilds are rare

        with self.alone_among_processes(".rebuild.lock"):
            shutil.rmtree(self.rebuild_folder, ignore_errors=True)
            try:
                yield self.rebuild_folder
            finally:
                shutil.rmtree(self.rebuild_folder, ignore_errors=True)

    def _become(self, new_index: "Database") -> None:
        with self.translated():
            connection = self.connection()
            new_index.connection().backup(connection, progress=give_up_when_busy)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def set_aside_if_damaged(self) -> bool:
        """
        Set the file aside when a full check, under the lock, finds damage.

        Return whether the next use finds another file, also when another process was faster.
        """
        own = self._own()
        inode = own.inode if own else _inode(self.path)
        self.close()
        if self.read_only:
            return False
        with contextlib.suppress(OSError, IndexBusy), self.alone_among_processes(_LOCK):
            if _inode(self.path) == inode:
                if inode == 0 or _is_sound(self.path, self.patience.left):
                    return False
                self._rename(f"{self.path}.old")
            return True
        return False

    def delete_copies(self) -> None:
        """Delete the index that was set aside, and the leftovers of a killed rebuild."""
        with self._rebuilding():
            for suffix in _SIDE_FILES:
                Path(f"{self.path}.old{suffix}").unlink(missing_ok=True)

    def _rename(self, name: str) -> None:
        for suffix in _SIDE_FILES:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").replace(f"{name}{suffix}")

    @contextlib.contextmanager
    def alone_among_processes(self, name: str) -> Iterator[None]:
        """Hold the lock file *name* beside the index; raises IndexBusy when another process does."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(files.lock(self.path.parent / name, patience=self.patience.left))
            except Held as error:
                self.patience.give_up()
                raise IndexBusy(error.holder) from None
            except OSError as error:
                raise unavailable(error, self.path) from error
            yield


def _connect(path: Path, patience: float, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        # SQLite reads a log of changes by a file beside it, which a folder that is only read cannot get.
        # Without a log nobody writes the index.
        is_fixed = not os.access(path.parent, os.W_OK) and not os.path.exists(f"{path}-wal")
        where = f"{path.as_uri()}?mode=ro{'&immutable=1' if is_fixed else ''}"
        connection = sqlite3.connect(where, uri=True, timeout=patience, isolation_level=None)
    else:
        files.make_folder(path.parent)
        existed = path.exists()
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
        if not existed:
            path.chmod(files.FILE_MODE)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    return connection


def _is_sound(path: Path, patience: float) -> bool:
    try:
        connection = _connect(path, patience, read_only=False)
    except (sqlite3.Error, *integrity.ODD) as error:
        return not integrity.may_tell_damage(error)
    try:
        return integrity.is_sound(connection)
    finally:
        connection.close()


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
