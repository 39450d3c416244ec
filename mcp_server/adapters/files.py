"""
Files as Daybook writes them: whole and on the disk before anyone is told so, or not at all.

Every effect on a memory's file goes through here.
The order is the one that survives a crash at any instruction: a temporary file with a random name,
every byte written, fsync, rename, fsync of the folder.
"""

import contextlib
import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from mcp_server.core.errors import Conflict, Unreadable

if sys.platform != "win32":
    import fcntl

FILE_MODE = 0o600
FOLDER_MODE = 0o700
MAX_MEMORY_FILE = 1024 * 1024  # bytes; a memory's text is at most 64 Ki characters
TEMPORARY_PREFIX = ".daybook-"
LOCK_NAME = ".daybook.lock"
WRITERS = 16  # threads that wait for the disk when many files are written
LOCK_POLL = 0.02  # seconds between two attempts at a lock that is not waited for for ever
STALE_TEMPORARY = 3600.0  # seconds after which an unfinished write is litter of a killed process


def digest(data: bytes) -> str:
    """Return the BLAKE2b digest of *data*, 32 hexadecimal characters."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def make_folder(folder: Path) -> None:
    """Create *folder* and its parents, readable by their owner alone; existing ones keep their mode."""
    if not folder.is_dir():
        make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=FOLDER_MODE)


def read(path: Path, limit: int = MAX_MEMORY_FILE) -> bytes:
    """
    Return the bytes of the regular file *path*.

    Raises Unreadable for links, devices, pipes, files over *limit* bytes and files that may not be
    read, FileNotFoundError when there is nothing. Never blocks on a pipe.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except ValueError as error:  # a NUL byte, half of a surrogate pair
        raise Unreadable(str(path), 0, "is no name of a file") from error
    except OSError as error:
        reason = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        raise Unreadable(str(path), 0, reason) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(str(path), 0, "is not a regular file")
        if status.st_size > limit:
            raise Unreadable(str(path), 0, f"has {status.st_size:,} bytes; {limit:,} is the most")
        parts = []
        left = limit + 1
        while left > 0 and (part := os.read(handle, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    except OSError as error:
        raise Unreadable(str(path), 0, f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    if left <= 0:
        raise Unreadable(str(path), 0, f"has more than {limit:,} bytes")
    return b"".join(parts)


def write_new(path: Path, data: bytes) -> None:
    """
    Create *path* with *data*, durably; raise FileExistsError when something is there.

    When this returns the file is on the disk; when it raises there is nothing under that name.
    """
    temporary = _write_temporary(path.parent, data)
    try:
        os.link(temporary, path, follow_symlinks=False)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_many_new(contents: Mapping[Path, bytes]) -> set[Path]:
    """
    Create each path with its bytes, durably; return those where something was already, which stays.

    The files become durable beside each other, which is four times as fast as one after the other.
    When it raises OSError while they are written there is nothing under any of the names.
    """
    from concurrent.futures import ThreadPoolExecutor  # only imports of thousands of files need it

    for folder in {path.parent for path in contents}:
        make_folder(folder)
    written: dict[Path, Path] = {}
    taken = set()
    try:
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = {
                path: pool.submit(_write_temporary, path.parent, data) for path, data in contents.items()
            }
        failed = [job for job in writing.values() if job.exception()]
        written = {path: job.result() for path, job in writing.items() if not job.exception()}
        for job in failed:
            job.result()
        for path, temporary in written.items():
            try:
                os.link(temporary, path, follow_symlinks=False)
            except FileExistsError:
                taken.add(path)
    finally:
        for temporary in written.values():
            temporary.unlink(missing_ok=True)
    for folder in {path.parent for path in contents}:
        sync_folder(folder)
    return taken


def replace(path: Path, data: bytes, *, expected: str) -> None:
    """
    Put *data* in the place of a file whose bytes have the digest *expected*, durably.

    Raises Conflict when the file says something else by now or is gone, and writes nothing then.
    The mode of the file stays.
    """
    with lock(path.parent / LOCK_NAME):
        try:
            current = read(path)
        except FileNotFoundError:
            raise Conflict(f"{path.name} was deleted or renamed meanwhile.") from None
        if digest(current) != expected:
            raise Conflict(f"{path.name} was changed meanwhile.")
        temporary = _write_temporary(path.parent, data, mode=stat.S_IMODE(path.stat().st_mode))
        try:
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def move(source: Path, target: Path) -> None:
    """
    Move a file to *target*, durably; raise FileExistsError when something is there.

    Nobody replaces the file meanwhile: what is moved is what it says last.
    """
    make_folder(target.parent)
    with lock(source.parent / LOCK_NAME):
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            write_new(target, read(source))
            said = source.stat()
            target.chmod(stat.S_IMODE(said.st_mode))
            os.utime(target, ns=(said.st_atime_ns, said.st_mtime_ns))  # it may be the date of the memory
        source.unlink()
    sync_folder(target.parent)
    sync_folder(source.parent)


def delete(path: Path) -> None:
    """Delete a file, durably; nothing happens when it is gone. Nobody replaces it meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        with lock(path.parent / LOCK_NAME):
            path.unlink()
        sync_folder(path.parent)


def set_date(path: Path, moment: datetime) -> None:
    """Let *moment* be the date of the file *path*: where the file says no date, it is the memory's."""
    os.utime(path, (moment.timestamp(), moment.timestamp()), follow_symlinks=False)


def append_line(path: Path, line: bytes, *, durable: bool) -> None:
    """
    Append *line* and a line feed to *path* with one write, so that lines of processes never mix.

    A line that a full disk or a kill cut short is ended first; readers skip it. A kill loses no line that
    was written whole; a power failure may lose the last seconds of those that are not *durable*.
    """
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        end = os.fstat(handle).st_size
        cut = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
        whole = (b"\n" if cut else b"") + line + b"\n"
        if os.write(handle, whole) != len(whole):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if durable:
            os.fsync(handle)
    finally:
        os.close(handle)
    if durable:
        sync_folder(path.parent)  # the file may be new


@contextlib.contextmanager
def lock(path: Path, *, patience: float | None = None) -> Iterator[None]:
    """
    Hold an exclusive lock of the operating system on *path* while the block runs; it dies with us.

    Raises BlockingIOError when another holds it for *patience* seconds; None waits for ever.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        if patience is None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        else:
            _lock_within(handle, patience)
        yield
    finally:
        os.close(handle)


def _lock_within(handle: int, patience: float) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
        time.sleep(LOCK_POLL)


def sweep_temporaries(folder: Path) -> int:
    """Delete what killed processes left unfinished in *folder* over an hour ago; return how many."""
    swept = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY_PREFIX):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_TEMPORARY:
                        os.unlink(entry.path)
                        swept += 1
    return swept


def sync_folder(folder: Path) -> None:
    """Make the names in *folder* durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_temporary(folder: Path, data: bytes, mode: int = FILE_MODE) -> Path:
    make_folder(folder)
    temporary = folder / f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        left = memoryview(data)
        while left:
            # A full disk writes less than it was given and raises only at the next attempt.
            left = left[os.write(handle, left) :]
        os.fchmod(handle, mode)
        os.fsync(handle)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    return temporary
