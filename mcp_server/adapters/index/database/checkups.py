"""
Looks at the index after an answer: they notice damage that no error tells of, like a search page of zeros.

Whoever answers looks at all of the index afterwards when its file changed since the last look: then a wrong
answer is not given twice. Where a look takes long, all of them together take a thousandth of the time.
"""

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from mcp_server.adapters.handles import open_file
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.database.database import Database
from mcp_server.core.errors import IndexUnavailable

NOTE = ".looked"  # beside the index
QUICK = 0.2  # seconds of the processor; a look that takes no longer is worth it whenever the file changed
SHARE = 1000  # times as long as a look took is waited before the next one
HOUR = 3600.0  # seconds after which a file is looked at again that nobody changed: disks forget


@dataclass(frozen=True, slots=True)
class _Look:
    """One look: what the file was like, when that was in Unix seconds, and the processor's seconds for it."""

    inode: int
    size: int
    changed: int
    at: float
    took: float


def is_due(path: Path, now: float) -> bool:
    """Tell whether the index at *path* should be looked at after an answer given *now*, in Unix seconds."""
    here, last = _seen(path, now, took=0.0), _last(path)
    if here is None or last is None or last.at > now:
        return here is not None
    if (here.inode, here.size, here.changed) == (last.inode, last.size, last.changed):
        return now - last.at > HOUR
    return last.took < QUICK or now - last.at > SHARE * last.took


def finds_damage(database: Database, now: float) -> bool:
    """Look at all of the index; return whether it was damaged, so that the next answer rests on a new one."""
    began = time.thread_time()
    with contextlib.suppress(IndexUnavailable), database.alone() as db:
        if not integrity.seems_sound(db) and database.set_aside_if_damaged():
            return True
    seen = _seen(database.path, now, took=time.thread_time() - began)
    if seen:
        with contextlib.suppress(OSError):
            # Not waited for until it is on the disk: without it somebody looks once more.
            handle = open_file(_note(database.path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with open(handle, "w", encoding="ascii") as note:
                json.dump(asdict(seen), note)
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
