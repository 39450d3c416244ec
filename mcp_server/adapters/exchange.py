"""
What the operating systems offer to name a file, or to replace one that other programs write, too.

Linux and macOS exchange the files of two names in one step, so that the former file is not destroyed and can
be inspected; Linux also tells whether a process still writes the former file. Windows can do neither, and
moves no file that a program has open.
"""

import errno
import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from mcp_server.adapters.open_files import open_file

if sys.platform != "win32":
    import fcntl

AT_FDCWD = -100  # linux/fcntl.h: a path is relative to the working directory
RENAME_EXCHANGE = 2  # linux/fs.h
RENAME_SWAP = 2  # sys/stdio.h of macOS
# The kernel is too old, the file system cannot, or a container forbids the call.
CANNOT = frozenset({errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP})
PATIENCE, PAUSE = 1.0, 0.01  # seconds: a reader or a virus scanner has a file open for milliseconds


def give_name(source: Path, target: Path) -> None:
    """
    Give the file *source* the name *target*; raise FileExistsError when that exists, OSError.

    The file keeps its own name as well, unless the file system has no hard links, as exFAT. There a process
    that is killed in between leaves an empty file *target*.
    """
    try:
        if sys.platform == "win32":
            os.link(source, target)  # a link gets the name itself, never its target
        else:
            os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in CANNOT:
            raise
        os.close(open_file(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # the name is ours from now on
        try:
            move(source, target)
        except OSError:
            target.unlink()
            raise


def move(source: Path, target: Path) -> Path:
    """
    Rename the file *source* to *target*, in one step; a file that was there is gone. Return *target*.

    Raises OSError; on Windows PermissionError when a program has one of them open for longer than a moment.
    """
    if sys.platform == "win32":
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return source.replace(target)
            except PermissionError:
                if time.monotonic() >= end:
                    raise
            time.sleep(PAUSE)
    return source.replace(target)


def exchange(first: Path, second: Path) -> bool:
    """
    Exchange the files of two names, in one step; both are on one file system.

    Returns False, with nothing done, where the system or the file system cannot.
    Raises FileNotFoundError when one of them does not exist, OSError.
    """
    call = _system_call()
    if call is None:
        return False
    number = call(os.fsencode(first), os.fsencode(second))
    if number in CANNOT:
        return False
    if number:
        raise OSError(number, os.strerror(number), str(second))
    return True


def has_writer(handle: int) -> bool | None:
    """
    Tell whether any process has the file open for writing; None where the system does not say.

    *handle* is open for reading only. Linux grants a read lease only on a file that no process writes.
    """
    if sys.platform == "linux" and hasattr(fcntl, "F_SETLEASE"):
        import signal  # slow to load, and needed only to change a file

        try:
            # A process that opens the file just now breaks the lease; the signal of that must not end ours.
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return False
        except BlockingIOError:
            return True
        except OSError:  # a file system without leases, or another user's file
            return None
    return None


@functools.cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """Return the call that exchanges two names and gives 0 or the error number; None where there is none."""
    if sys.platform == "win32":
        return None
    try:
        import ctypes  # slow to load, and needed only to change a file

        system = ctypes.CDLL(None, use_errno=True)
        if hasattr(system, "renamex_np"):
            swap, wide = system.renamex_np, False
        else:
            swap, wide = system.renameat2, True
    except (ImportError, OSError, AttributeError):
        return None

    def call(first: bytes, second: bytes) -> int:
        if wide:
            result = swap(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)
        else:
            result = swap(first, second, RENAME_SWAP)
        return ctypes.get_errno() if result else 0

    return call
