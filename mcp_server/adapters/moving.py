"""Moving files to unused paths, durably: one, or many with one fsync for each folder."""

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from mcp_server.adapters import files, guarded_replace
from mcp_server.adapters.exchange import give_name
from mcp_server.core.errors import Conflict, DaybookError, PlaceTaken, Unreadable


def move(source: Path, target: Path) -> None:
    """
    Move a file to *target*, durably; raise PlaceTaken when another file is there.

    No other Daybook process replaces the file meanwhile. Raises Conflict when it is gone, or another program
    saves it at this very moment: then it stays where it is. OSError, Held; Unreadable for a file that is no
    memory and would have to be copied to another device.
    """
    if problem := move_many({source: target}).get(source):
        raise problem


def move_many(targets: Mapping[Path, Path]) -> dict[Path, OSError | DaybookError]:
    """
    Move each file to its target, as `move` does; return the error of each file that stays.

    A process that was killed between the two names leaves the file with both: the next move completes it.
    No target is itself a file to be moved. Raises Held, and OSError when a folder cannot be made or written.
    """
    problems: dict[Path, OSError | DaybookError] = {}
    folders, goals = [sorted({path.parent for path in paths}) for paths in (targets, targets.values())]
    for folder in goals:
        files.make_folder(folder)
    with contextlib.ExitStack() as stack:
        for folder in folders:
            stack.enter_context(files.lock(folder / files.LOCK_NAME))
        for source, target in targets.items():
            try:
                _name_or_copy(source, target)
            except FileExistsError:
                problems[source] = PlaceTaken(target)
            except FileNotFoundError:
                problems[source] = Conflict(f"{source.name} was moved or forgotten meanwhile.")
            except (OSError, Unreadable) as error:
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


def _name_or_copy(source: Path, target: Path) -> None:
    """Give the file *source* the name *target*, too; on another device, copy it."""
    try:
        give_name(source, target)
    except FileExistsError:
        if not is_same(source, target):
            raise
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        files.write_new(target, files.read(source))
        before = source.stat()
        target.chmod(stat.S_IMODE(before.st_mode))
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))  # the date may be the memory's


def is_same(source: Path, target: Path) -> bool:
    """Tell whether the two are one file, or hold the same bytes: a move between them was cut short."""
    try:
        return os.path.samefile(source, target) or files.read(source) == files.read(target)
    except (FileNotFoundError, Unreadable):
        return False


def is_free(source: Path, target: Path) -> bool:
    """Tell whether `move` can give the file *source* the name *target*."""
    return not os.path.lexists(target) or is_same(source, target)


def _take_name(source: Path, target: Path) -> None:
    """Remove the name *source* of a file that is also at *target*; raise Conflict when it changed."""
    try:
        expected = guarded_replace.look(target, apart=False).digest
        guarded_replace.take_away(source, expected=expected, copy=target)
    except FileNotFoundError:
        pass  # another program removed it: it is already safe at its target
    except Conflict:
        target.unlink()
        files.sync_folder(target.parent)
        raise
