"""
Checks of the index after an answer: they notice damage that raises no error, like a search page of zeros.

After an answer, the process that gave it checks the whole index if its file changed since the last check:
then a wrong answer is not given twice. Where a check takes long, all checks take a thousandth of the time.
"""

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.open_files import open_file
from mcp_server.core.errors import IndexUnavailable

NOTE = ".looked"  # beside the index
QUICK = 0.2  # seconds of processor time; a check that takes less runs whenever the file changed
SHARE = 1000  # the next check waits this many times as long as the last one took
HOUR = 3600.0  # seconds after which an unchanged file is checked again: disks fail


@dataclass(frozen=True, slots=True)
class _Look:
    """One check: the state of the file, when (Unix seconds), and the processor time it took (seconds)."""

    inode: int
    size: int
    changed: int
    at: float
    took: float


def is_due(path: Path, now: float) -> bool:
    """Tell whether to check the index at *path* after an answer given at *now*, in Unix seconds."""
    current, last = _seen(path, now, took=0.0), _last(path)
    if current is None or last is None or last.at > now:
        return current is not None
    if (current.inode, current.size, current.changed) == (last.inode, last.size, last.changed):
        return now - last.at > HOUR
    return last.took < QUICK or now - last.at > SHARE * last.took


def finds_damage(database: Database, now: float) -> bool:
    """Check the whole index; return whether it was damaged and set aside: the next answer uses a new one."""
    began = time.thread_time()
    with contextlib.suppress(IndexUnavailable), database.alone() as db:
        if not integrity.seems_sound(db) and database.set_aside_if_damaged():
            return True
    look = _seen(database.path, now, took=time.thread_time() - began)
    if look:
        with contextlib.suppress(OSError):
            # No fsync: if the note is lost, one more check is made.
            handle = open_file(_note(database.path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with open(handle, "w", encoding="ascii") as note:
                json.dump(asdict(look), note)
    return False


def _seen(path: Path, now: float, *, took: float) -> _Look | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _Look(status.st_ino, status.st_size, status.st_mtime_ns, now, took)


def _last(path: Path) -> _Look | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return _Look(**json.loads(_note(path).read_bytes()))
    return None


def _note(path: Path) -> Path:
    return path.parent / NOTE
