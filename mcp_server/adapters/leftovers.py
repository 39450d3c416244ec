"""
What killed processes left unfinished: temporary files, and now and then text that the person saved.

A file that was being written is litter. A file that a change moved aside (`guarded_replace`) may hold what a
program saved at that moment: it is litter only while its bytes have a digest that its name lists.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.guarded_replace import is_temporary, look, unmissed
from mcp_server.core.errors import Held

STALE = 3600.0  # seconds after which no process finishes what it began


@dataclass(slots=True)
class Leftovers:
    """Files of killed processes: those that may be deleted, and those that hold what a program saved."""

    litter: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)


def leftovers(folders: Iterable[Path], *, trees: Iterable[Path], now: float, age: float = STALE) -> Leftovers:
    """
    Return what was left in *folders*, and in *trees* including all folders below them.

    Litter counts when it is *age* seconds older than *now*: until then its process may finish it.
    Links are not followed, and unreadable files are left out.
    """
    result = Leftovers()
    for path in sorted({*_in(folders, deep=False), *_in(trees, deep=True)}):
        with contextlib.suppress(OSError):
            status = path.lstat()
            # Renaming a file changes its ctime; the mtime of an unfinished one may be set to an earlier date.
            last = status.st_mtime if not unmissed(path.name) else max(status.st_mtime, status.st_ctime)
            if not _is_litter(path):
                result.kept.append(path)
            elif last <= now - age:
                result.litter.append(path)
    return result


def sweep(
    folders: Iterable[Path] = (), *, trees: Iterable[Path] = (), now: float | None = None, age: float = STALE
) -> Leftovers:
    """Delete the litter of `leftovers`; return what was deleted and what was kept."""
    result = leftovers(folders, trees=trees, now=time.time() if now is None else now, age=age)
    for path in result.litter:
        with contextlib.suppress(OSError):
            path.unlink()
    return result


@contextlib.contextmanager
def leaving_nothing(folder: Path) -> Iterator[None]:
    """Remove our lock and the unfinished files of killed processes from a person's folder after the block."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / files.LOCK_NAME).unlink(missing_ok=True)
        sweep([folder], age=0)


def sweep_taken_out(folder: Path) -> None:
    """Delete the litter that changes moved aside in *folder* at once, without waiting for late writers."""
    with contextlib.suppress(OSError), files.lock(folder / files.LOCK_NAME):
        for path in _in([folder], deep=False):
            if unmissed(path.name) and _is_litter(path):
                path.unlink()


def _is_litter(path: Path) -> bool:
    digests = unmissed(path.name)
    return not digests or look(path, apart=True).is_one_of(digests)


def _in(folders: Iterable[Path], *, deep: bool) -> Iterator[Path]:
    waiting = [os.fspath(folder) for folder in folders]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if is_temporary(entry.name):
                    if entry.is_file(follow_symlinks=False):
                        yield Path(entry.path)
                elif deep and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def remove_second_name(path: Path, stays: Path) -> bool:
    """
    Remove the name *path* of a file that also has the name *stays*: a move between them was cut short.

    Return whether it was done. Nothing is done while another process of Daybook's moves files there.
    """
    with contextlib.suppress(OSError, Held):
        locks = [files.lock(folder / files.LOCK_NAME, patience=0) for folder in (path.parent, stays.parent)]
        with locks[0], locks[1]:
            if os.path.samefile(path, stays):
                path.unlink()
                files.sync_folder(path.parent)
                return True
    return False
