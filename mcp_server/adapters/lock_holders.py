"""
Which process holds a lock that we wait for: Linux lists all locks, elsewhere our lock files name the holder.

Nothing here opens a database file: closing it again would drop SQLite's own locks.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_server.adapters.open_files import write_at

NOBODY_TELLS = "another process"
NOTED = sys.platform != "linux"  # whether a process that takes a lock file writes its number into it
_LOCKS = Path("/proc/locks")
_PROGRAMS = {
    "mcp_server.doors.cli": "daybook",
    "mcp_server.doors.worker": "daybook work",
    "mcp_server.doors.hooks": "daybook hook",
    "mcp_server": "daybook serve",
}


def note_holder(handle: int) -> None:
    """Write our process number into the lock file *handle* where the system does not list lock holders."""
    if NOTED:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            write_at(handle, b"%d\n" % os.getpid(), 0)


def holder_of_lock(path: Path) -> str:
    """Return which process holds the lock file *path*, in words for a person."""
    if NOTED:
        with contextlib.suppress(OSError, ValueError):
            return _described(int(path.read_bytes()[:20]))
        return NOBODY_TELLS
    return _holder_of([path])


def holder_of_index(path: Path) -> str:
    """Return which process writes the SQLite file *path* or locks it, in words for a person."""
    return _holder_of([Path(f"{path}-shm"), path, Path(f"{path}-wal")])


def _holder_of(paths: Iterable[Path]) -> str:
    """Return the first other process that has a write lock on one of *paths*, in words for a person."""
    if sys.platform == "win32":
        return NOBODY_TELLS
    inodes = []
    for path in paths:
        with contextlib.suppress(OSError):
            status = os.stat(path)
            place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
            inodes.append(place)
    with contextlib.suppress(OSError):
        locks = list(_write_locks(_LOCKS.read_text(encoding="ascii", errors="replace")))
        for place in inodes:
            for where, process in locks:
                if where == place and process not in (0, os.getpid()):
                    return _described(process)
    return NOBODY_TELLS


def _write_locks(text: str) -> Iterator[tuple[str, int]]:
    """Yield (place, process) for each write lock that is held; lines of waiting processes have an arrow."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 6 and fields[1] != "->" and fields[3] == "WRITE" and fields[4].isdigit():
            yield fields[5], int(fields[4])


def _described(process: int) -> str:
    """Return "process 1234 (daybook sync, stopped)", with what the system tells about it."""
    if sys.platform == "linux" and not os.path.exists(f"/proc/{process}"):
        return f"a program that process {process}, which has ended, had started"
    about = []
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        about.append(_program(command))
    with contextlib.suppress(OSError, IndexError):
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
        about += ["stopped"] if state in (b"T", b"t") else []
    details = ", ".join(filter(None, about))
    return f"process {process} ({details})" if details else f"process {process}"


def _program(command: list[str]) -> str:
    """Return the program that a command line runs, in at most two words of letters."""
    for number, word in enumerate(command):
        if word in _PROGRAMS:
            verb = command[number + 1 : number + 2] if word.endswith((".cli", ".hooks")) else []
            return " ".join(
                [_PROGRAMS[word], *(argument for argument in verb if argument.replace("-", "").isalpha())]
            )
    return "".join(letter for letter in os.path.basename(command[0]) if letter.isalnum() or letter in "-_.")
