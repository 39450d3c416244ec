"""unfinished_files: find and delete the unfinished files of killed processes, wherever Daybook writes."""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from mcp_server.adapters import files, leftovers, places
from mcp_server.adapters.leftovers import Leftovers
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store

_NOTES = "exporting-"  # the names of the notes begin so


def look_for_litter(store: Store) -> Leftovers:
    """Return the litter of processes killed over an hour ago, and the files that hold a person's edits."""
    return leftovers.leftovers(_folders(store), trees=_trees(store), now=time.time())


def caught_edits(store: Store) -> tuple[Path, ...]:
    """Return the files that keep, alone, what a person saved while Daybook changed a memory."""
    return tuple(look_for_litter(store).kept)


def sweep_litter(store: Store) -> Leftovers:
    """Delete the litter; return what was deleted, and the files kept because they hold a person's edits."""
    swept = leftovers.sweep(_folders(store), trees=_trees(store))
    # An export's files may be younger than its note, but no export takes a day.
    for note in _notes(store):
        with contextlib.suppress(OSError):
            if note.stat().st_mtime <= time.time() - DAY:
                files.delete(note)
    return swept


@contextlib.contextmanager
def writing_elsewhere(store: Store, place: Path) -> Iterator[None]:
    """
    Note, while the block runs, that files are being written below *place*, outside the store.

    When the process is killed, the files that it leaves there are swept like all litter.
    """
    note = store.home / places.WORK / f"{_NOTES}{os.urandom(8).hex()}.json"
    with contextlib.suppress(OSError):  # a full disk must not stop an export that saves the memories
        files.write_new(note, json.dumps(str(place)).encode("ascii"))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            files.delete(note)


def _trees(store: Store) -> list[Path]:
    vaults = places.all_vaults(store.home, store.vaults)
    repositories = [vault.root for vault in vaults if vault.in_repository and not vault.root.is_symlink()]
    return [store.home, *repositories, *(place for place in _elsewhere(store) if place.is_dir())]


def _folders(store: Store) -> list[Path]:
    files_written = [place.parent for place in _elsewhere(store) if not place.is_dir()]
    return [*places.block_folders(store.home), *files_written]


def _elsewhere(store: Store) -> Iterator[Path]:
    """Yield the folders and files outside the store that killed processes were writing."""
    for note in _notes(store):
        with contextlib.suppress(OSError, ValueError):
            place = json.loads(note.read_bytes())
            if isinstance(place, str):
                yield Path(place)


def _notes(store: Store) -> list[Path]:
    return sorted((store.home / places.WORK).glob(f"{_NOTES}*.json"))
