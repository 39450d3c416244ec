"""
Files as Daybook writes them: complete and on the disk before the write is acknowledged, or not at all.

The order survives a crash at any instruction: a temporary file with a random name, every byte written, fsync,
rename, fsync of the folder. A file that people write, too, is exchanged (`guarded_replace`).
"""

import contextlib
import errno
import math
import os
import stat
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from mcp_server.adapters import guarded_replace, locks
from mcp_server.adapters.exchange import give_name, move
from mcp_server.adapters.lock_holders import holder_of_lock, note_holder
from mcp_server.adapters.open_files import free_bytes, open_file, read_at, set_mode, take_after
from mcp_server.adapters.open_files import sync_folder as sync_folder
from mcp_server.core.errors import Barred, Conflict, Held, NotHere, Unreadable

FILE_MODE = 0o600
FOLDER_MODE = 0o700
MAX_MEMORY_FILE = 1024 * 1024  # bytes; a memory's text is at most 64 Ki characters
LEAST_FREE = 64 * 1024  # bytes of a disk on which a memory, its event and its row in the index find room
LOCK_NAME = ".daybook.lock"
PLACEHOLDER = ".icloud"  # the ending of a file that stands for another
WRITERS = 16  # threads that wait for the disk when many files are written
PATIENCE = 3.5  # seconds to wait for a lock: a slow disk stalls a writer for more than two
SHORTEST_POLL, LONGEST_POLL = 0.001, 0.02  # seconds between two attempts at a lock, first and later


def digest(data: bytes) -> str:
    """Return the BLAKE2b digest of *data*, 32 hexadecimal characters."""
    return guarded_replace.DIGEST(data).hexdigest()


def make_folder(folder: Path) -> None:
    """
    Create *folder* and its parents, durably, readable by their owner alone; existing folders keep their mode.

    Durably: a power failure that removes a folder also removes the files written into it.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=FOLDER_MODE)
            if folder.stat().st_mode & FOLDER_MODE != FOLDER_MODE:
                folder.chmod(FOLDER_MODE)  # for a umask that shuts out the owner
        sync_folder(folder.parent)


def has_placeholder(path: Path | str) -> bool:
    """Tell whether iCloud took the file *path* away to make room: then it leaves `.NAME.icloud` there."""
    folder, name = os.path.split(path)
    return os.path.lexists(os.path.join(folder, f".{name}{PLACEHOLDER}"))


def read(path: Path, limit: int = MAX_MEMORY_FILE) -> bytes:
    """
    Return the bytes of the regular file *path*.

    Raises Unreadable for links, devices, pipes, files over *limit* bytes and files that we may not read,
    NotHere for one of which a placeholder is there, FileNotFoundError when there is no file. Never blocks on
    a pipe.
    """
    try:
        handle = open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        if has_placeholder(path):
            raise NotHere(str(path), 0, "is in iCloud, and not on this machine now") from None
        raise
    except ValueError as error:  # a NUL byte, an unpaired surrogate
        raise Unreadable(str(path), 0, "is not a valid file name") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable(str(path), 0, "is a symbolic link") from error
        raise Barred(str(path), 0, f"cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(str(path), 0, "is not a regular file")
        if status.st_size > limit:
            raise Unreadable(str(path), 0, f"has {status.st_size:,} bytes; {limit:,} is the limit")
        remaining, parts = limit + 1, list[bytes]()
        while remaining > 0 and (part := os.read(handle, min(remaining, 1 << 20))):
            parts.append(part)
            remaining -= len(part)
    except OSError as error:
        raise Barred(str(path), 0, f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    if remaining <= 0:
        raise Unreadable(str(path), 0, f"has more than {limit:,} bytes")
    return b"".join(parts)


def write_new(path: Path, data: bytes) -> None:
    """
    Create *path* with *data*, durably; raise FileExistsError when it exists.

    When this returns, the file is on the disk; when it raises, there is no file under that name.
    """
    temporary = _write_temporary(path.parent, data)
    try:
        give_name(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def try_writing(folder: Path) -> None:
    """Write 4 KiB into *folder*, and delete them; raises OSError when that cannot be done."""
    _write_temporary(folder, b"x" * 4096).unlink()


def refuses_writing(folder: Path) -> str:
    """
    Return why nothing can be written into *folder* now, a clause about it; '' when nothing speaks against it.

    It only looks, so it is quick and misses what a real attempt would meet.
    """
    try:
        if not os.access(folder, os.W_OK) and folder.is_dir():
            return "may not be written to"
        return "is on a full disk" if free_bytes(folder) < LEAST_FREE else ""
    except OSError:
        return ""


def write_over(path: Path, data: bytes) -> None:
    """Write the whole of *path*, durably and for the person alone; nothing else writes it meanwhile."""
    move(_write_temporary(path.parent, data), path)
    sync_folder(path.parent)


def write_many_new(contents: Mapping[Path, bytes]) -> set[Path]:
    """
    Create each path with its bytes, durably; return the paths that existed already, whose files stay.

    The files become durable in parallel, which is four times as fast as one after the other.
    When it raises OSError while it writes them, none of the paths exists.
    """
    from concurrent.futures import ThreadPoolExecutor  # only imports of thousands of files need it

    for folder in {path.parent for path in contents}:
        make_folder(folder)
    written: dict[Path, Path] = {}
    existing = set()
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
                give_name(temporary, path)
            except FileExistsError:
                existing.add(path)
    finally:
        for temporary in written.values():
            temporary.unlink(missing_ok=True)
    for folder in {path.parent for path in contents}:
        sync_folder(folder)
    return existing


def replace(path: Path, data: bytes, *, expected: str, former: tuple[Path, bytes] | None = None) -> None:
    """
    Replace a file whose bytes have the digest *expected* with *data*, durably.

    *former*, a new file and its bytes, is on the disk before the file changes; a Conflict deletes it again.
    Raises Conflict when the file was changed or deleted meanwhile or a program is writing it, and Held; then
    the file stays as its author left it. Its mode, owner and extended attributes stay.
    """
    with lock(path.parent / LOCK_NAME):
        try:
            if digest(read(path)) != expected:
                raise Conflict(f"{path.name} was changed meanwhile.")
            temporary = _write_temporary(path.parent, data, like=path)
        except FileNotFoundError:
            raise Conflict(f"{path.name} was deleted or renamed meanwhile.") from None
        try:
            if former:
                write_new(*former)
            guarded_replace.swap_in(temporary, path, expected=expected, mine=digest(data))
        except BaseException as error:
            temporary.unlink(missing_ok=True)
            if former and isinstance(error, Conflict):
                former[0].unlink(missing_ok=True)
            raise


def delete(path: Path, *, expected: str = "") -> None:
    """
    Delete a file, durably; do nothing when it is gone. No other Daybook process replaces it meanwhile.

    With *expected* it deletes the file only while its bytes have that digest, else raises Conflict: its
    author may save it while Daybook decides about it.
    """
    with contextlib.suppress(FileNotFoundError):
        with lock(path.parent / LOCK_NAME):
            if expected:
                guarded_replace.take_away(path, expected=expected)
            else:
                path.unlink()
        sync_folder(path.parent)


def set_date(path: Path, moment: datetime) -> None:
    """Set the date of the file *path*: a memory whose file states no date has this one."""
    os.utime(path, (moment.timestamp(), moment.timestamp()), follow_symlinks=False)


def is_old(path: Path, *, seconds: float, now: float) -> bool:
    """Tell whether *path* was not written in the *seconds* before *now*, in Unix seconds, or is missing."""
    try:
        return path.stat().st_mtime <= now - seconds
    except OSError:
        return True


def append_line(path: Path, line: bytes, *, durable: bool) -> None:
    """
    Append *line* and a line feed to *path* with one write, so that lines of processes never mix.

    A line that a full disk or a kill cut short is ended first; readers skip it. A kill loses no complete
    line; a power failure may lose the last seconds of the lines that are not *durable*.
    """
    handle = open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, FILE_MODE)
    try:
        with locks.appending(handle):
            end = os.fstat(handle).st_size
            if end == 0:
                set_mode(handle, FILE_MODE)  # the file may be new: a mode whatever the umask says
            cut = end > 0 and read_at(handle, 1, end - 1) != b"\n"
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
def lock(path: Path, *, patience: float = PATIENCE, handed_on: bool = False) -> Iterator[None]:
    """
    Hold an exclusive lock of the operating system on *path* while the block runs; it ends with this process.

    If it is *handed_on*, the programs that the block starts `apart` hold it, too: should this process be
    killed, it is held until they have ended.

    Raises Held, which names the process, when another holds it for *patience* seconds. Only a caller that has
    nothing else to do may wait for ever: math.inf.
    """
    handle = open_file(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        if patience == math.inf:
            locks.wait_for(handle)
        elif not _locked_within(handle, patience):
            raise Held(str(path), holder_of_lock(path))
        note_holder(handle)
        if handed_on:
            locks.hand_on(handle)
        yield
    finally:
        locks.release(handle)
        os.close(handle)


def _locked_within(handle: int, patience: float) -> bool:
    """Take the lock; return False when another process holds it for *patience* seconds."""
    end, pause = time.monotonic() + patience, SHORTEST_POLL
    while not locks.take(handle):
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_POLL)
    return True


def _write_temporary(folder: Path, data: bytes, like: Path | None = None) -> Path:
    """
    Write *data* into a new file of *folder*, and return its path when all of it is on the disk.

    The file gets the mode of the file *like*, and its owner and extended attributes where we may set them;
    without *like* only its owner may read it. When this raises, the file is gone.
    """
    make_folder(folder)
    temporary = folder / guarded_replace.temporary_name()
    handle = open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        remaining = memoryview(data)
        while remaining:
            # A full disk takes fewer bytes than it was given and raises only at the next attempt.
            remaining = remaining[os.write(handle, remaining) :]
        if like:
            take_after(handle, like)
        else:
            set_mode(handle, FILE_MODE)
        os.fsync(handle)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    return temporary
