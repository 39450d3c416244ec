"""Staleness: whether the files that a memory is about changed after it was written."""

import functools
import os
import sqlite3
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.index.events import touched_files
from mcp_server.adapters.index.events.touched_files import Touched
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import NOT_STALE, Staleness
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store

LARGEST = 1024 * 1024  # bytes of a file that is looked at
MOST = 8  # files of one memory that are looked at
CLOSE = 2  # seconds around the note in which a file may have changed after it was read


def noted(store: Store, vault: Vault, touches: Iterable[str]) -> dict[str, str] | None:
    """
    Return path → digest of those files a memory *touches* that lie in the project; None outside one.

    Anything but a regular file below the project's root, of at most a mebibyte, is left out.
    """
    if not store.project or vault.level is not Level.PROJECT:
        return None
    digests: dict[str, str] = {}
    top = os.path.realpath(store.project.root)
    for touch in touches:
        path = _path_of(touch)
        place = _inside(top, path)
        state = _state(place) if place else None
        if state and (digest := _digest(str(place), *state)):
            digests[path] = digest
        if len(digests) == MOST:
            break
    return digests


def staleness(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> dict[str, Staleness]:
    """
    Return ref → what became of the files that each of *rows* is about.

    Only memories of this project are compared: where other projects' files lie is unknown.
    A file that was not written since the note is not read.
    """
    notes_by_ref = touched_files.touched_by(db, [row.ref for row in rows if row.touches])
    if not notes_by_ref or not store.project:
        return {row.ref: NOT_STALE for row in rows}
    top, of_project = os.path.realpath(store.project.root), store.of_project
    return {
        row.ref: _compared(top, row, notes_by_ref[row.ref])
        if row.ref in notes_by_ref and row.vault in of_project
        else NOT_STALE
        for row in rows
    }


def gone(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> set[str]:
    """Return the refs of those *rows* for which `staleness` says `gone`; no file is read for that."""
    notes_by_ref = touched_files.touched_by(db, [row.ref for row in rows if row.touches])
    if not notes_by_ref or not store.project:
        return set()
    top, of_project = os.path.realpath(store.project.root), store.of_project

    @functools.cache  # many memories are about the same files
    def is_missing(path: str) -> bool:
        place = _inside(top, path)
        return place is None or _state(place) is None

    refs = set()
    for row in rows:
        looked_at = _looked_at(row, notes_by_ref.get(row.ref, ())) if row.vault in of_project else []
        if looked_at and all(is_missing(noted_file.path) for noted_file in looked_at):
            refs.add(row.ref)
    return refs


def worked_on(store: Store, rows: Iterable[Row], since: int) -> set[str]:
    """Return the refs of those *rows* here that are about a file written *since* then, in Unix seconds."""
    if not store.project:
        return set()
    root, of_project = store.project.root, store.of_project

    @functools.cache  # many memories are about the same files
    def is_new(path: str) -> bool:
        state = _state(root / path)  # a date needs no resolved links, which take ten times as long
        return state is not None and state[0] // 1_000_000_000 >= since

    return {
        row.ref
        for row in rows
        if row.vault in of_project and any(is_new(_path_of(touch)) for touch in row.touches[:MOST])
    }


def _looked_at(row: Row, noted_files: Iterable[Touched]) -> list[Touched]:
    """Return those of *noted_files* that *row* is still about: a person may have edited its list of files."""
    paths = {_path_of(touch) for touch in row.touches}
    return [noted_file for noted_file in noted_files if noted_file.path in paths]


def _compared(top: str, row: Row, noted_files: Sequence[Touched]) -> Staleness:
    changed, missing = [], []
    looked_at = _looked_at(row, noted_files)
    for noted_file in looked_at:
        place = _inside(top, noted_file.path)
        state = _state(place) if place else None
        if place is None or state is None:
            missing.append(noted_file.path)
        elif (
            state[0] // 1_000_000_000 >= noted_file.at - CLOSE
            and _digest(str(place), *state) != noted_file.digest
        ):
            changed.append(noted_file.path)
    return Staleness(tuple(changed), tuple(missing), gone=bool(missing) and len(missing) == len(looked_at))


def _path_of(touch: str) -> str:
    """Return `src/a.py` for `src/a.py:42`."""
    path, _, line = touch.rpartition(":")
    return path if path and line.replace("-", "").isdigit() else touch


def _inside(top: str, path: str) -> Path | None:
    """Return where *path* is, None when that is not below the real folder *top*, links followed."""
    try:
        place = os.path.realpath(os.path.join(top, path))
    except ValueError:  # a NUL byte, or an unpaired surrogate
        return None
    return Path(place) if path and place.startswith(top + os.sep) else None


def _state(place: Path) -> tuple[int, int] | None:
    """Return (mtime in nanoseconds, size) of a regular file, None when there is none."""
    try:
        on_disk = place.stat()
    except (OSError, ValueError):
        return None
    return (on_disk.st_mtime_ns, on_disk.st_size) if stat.S_ISREG(on_disk.st_mode) else None


@functools.lru_cache(maxsize=512)
def _digest(place: str, mtime_ns: int, size: int) -> str:
    """Return the digest of the file at *place* as it was then; '' when it is too large or unreadable."""
    del mtime_ns, size
    try:
        return files.digest(files.read(Path(place), limit=LARGEST))
    except (OSError, DaybookError):
        return ""
