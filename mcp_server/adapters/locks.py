"""
Exclusive locks of the operating system on open files. They end with the process, even if it is killed, and
with the last of the programs to which it handed a lock on.

POSIX locks the file. Windows locks bytes, which no other process can read meanwhile, so we lock a byte far
after the end: the number of the lock's holder (`lock_holders`) is at the beginning.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FAR = 1 << 30  # the byte that is locked; our lock files and ledgers stay far smaller
PAUSE = 0.02  # seconds between two attempts where the system waits for ten seconds at most


def take(handle: int) -> bool:
    """Take the lock on an open file; return False while another process has it."""
    if sys.platform == "win32":
        os.lseek(handle, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:  # the kind differs: EACCES or EDEADLOCK
            return False
    else:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def wait_for(handle: int) -> None:
    """Take the lock on an open file, however long another process has it."""
    if sys.platform == "win32":
        while not take(handle):
            time.sleep(PAUSE)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)


def release(handle: int) -> None:
    """
    Release the lock before the file is closed.

    Windows releases locks of closed files late, POSIX when no program that we started has the file open any
    more, and one may go on for long, like that which keeps a password for git.
    """
    if sys.platform == "win32":
        os.lseek(handle, FAR, os.SEEK_SET)
        with contextlib.suppress(OSError):  # we never had the lock
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)


def hand_on(handle: int) -> None:
    """Let the programs that are started `apart` hold the lock, too; on Windows none can."""
    if sys.platform != "win32":
        os.set_inheritable(handle, True)


@contextlib.contextmanager
def appending(handle: int) -> Iterator[None]:
    """
    Reserve the end of a file that was opened with O_APPEND for one write.

    POSIX moves to the end and writes in one step. Windows does not, so there writers take turns.
    """
    if sys.platform == "win32":
        wait_for(handle)
    try:
        yield
    finally:
        release(handle)
