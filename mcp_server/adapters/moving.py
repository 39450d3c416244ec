"""Moving files to where nothing is yet, durably: one, or many with one wait for the disk for each folder."""

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from mcp_server.adapters import files, swap
from mcp_server.adapters.exchange import link
from mcp_server.core.errors import Conflict


def move(source: Path, target: Path) -> None:
    """
    Move a file to *target*, durably; raise FileExistsError when something is there.

    Nobody of ours replaces the file meanwhile. Raises Conflict when somebody else saves it at this very
    moment: it stays where it is then. OSError, Held.
    """
    if problem := move_many({source: target}).get(source):
        raise problem


def move_many(targets: Mapping[Path, Path]) -> dict[Path, OSError | Conflict]:
    """
    Move each file to its target, as `move` does; return by file what stood in the way of those that stay.

    No target is another file to be moved. Raises Held, and OSError when a folder cannot be made or written.
    """
    problems: dict[Path, OSError | Conflict] = {}
    folders, goals = [sorted({path.parent for path in paths}) for paths in (targets, targets.values())]
    for folder in goals:
        files.make_folder(folder)
    with contextlib.ExitStack() as held:
        for folder in folders:
            held.enter_context(files.lock(folder / files.LOCK_NAME))
        for source, target in targets.items():
            try:
                _give_name(source, target)
            except OSError as error:
                problems[source] = error
        for folder in goals:
            files.sync_folder(folder)
        for source, target in targets.items():
            if source not in problems:
                try:
                    _take_name(source, target)
                except Conflict as error:
                    problems[source] = error
    for folder in folders:
        files.sync_folder(folder)
    return problems


def _give_name(source: Path, target: Path) -> None:
    """Let the file *source* be at *target*, too; on another device a copy of it."""
    try:
        link(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        files.write_new(target, files.read(source))
        said = source.stat()
        target.chmod(stat.S_IMODE(said.st_mode))
        os.utime(target, ns=(said.st_atime_ns, said.st_mtime_ns))  # it may be the date of the memory


def _take_name(source: Path, target: Path) -> None:
    """Take the file *source* away, which is at *target*, too; raise Conflict when it is another by now."""
    try:
        swap.take_away(source, known=swap.look(target, apart=False).digest, copy=target)
    except FileNotFoundError:
        pass  # somebody took it away: it is safe where it was to go
    except Conflict:
        target.unlink()
        files.sync_folder(target.parent)
        raise
