"""trash: what lies there, and deleting what is past its grace, on request or above the size limit."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.clock_check import dated_from, old_before
from mcp_server.actions.files.sync import catch_up, catch_up_if_free
from mcp_server.adapters import files, history, moving, places
from mcp_server.adapters.index.events import deeds
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.memory_parts import DAY, ID, id_in, ref_of, vault_in
from mcp_server.store import Store

CANDIDATES = "candidates"  # a folder of the trash whose files were never memories
GRACE_DAYS = 90  # days in the trash in which nothing deletes a file; as long as orphans wait


@dataclass(frozen=True, slots=True)
class Trashed:
    """A file in the trash: where it lies, what the ledger calls it, its bytes."""

    path: Path
    ref: str
    size: int

    @property
    def id(self) -> str:
        return id_in(self.ref)


def in_trash(store: Store, memory_id: str) -> Iterator[tuple[Vault, Path]]:
    """Yield (vault, file) of what was forgotten under that id, the newest first; of what is no id nothing."""
    if not ID.fullmatch(memory_id):
        return
    for vault in reversed(store.vaults):
        folder = places.trash_folder(store.home, vault)
        names = [*folder.rglob(f"{memory_id}.md"), *folder.rglob(f"{memory_id}.*.md")]
        dated = [(status.st_ctime_ns, path) for path in names if (status := _status(path))]
        for _, path in sorted(dated, reverse=True):
            if path.relative_to(folder).parts[0] != CANDIDATES:
                yield vault, path


def free_name(path: Path, source: Path) -> Path:
    """
    Return *path*, with a number before its ending when it is taken: a memory was forgotten twice.

    It is for the file *source*, which may have that name already from a move that was cut short.
    """
    number = 1
    free = path
    while not moving.is_free(source, free):
        number += 1
        free = path.with_name(f"{path.stem}.{number}.md")
    return free


def path_in_trash(store: Store, vault: Vault, path: Path, memory_id: str) -> Path:
    """Return a free path in the trash for the file at *path* of *vault*, which holds that memory."""
    place = path.relative_to(vault.root).with_name(f"{memory_id}.md")
    return free_name(places.trash_folder(store.home, vault) / place, path)


def unnoted_place(store: Store, ref: str) -> str:
    """Return the place in the trash to which a process moved a memory before it was killed, '' for none."""
    with store.database.read() as db:
        written = deeds.last_written(db, ref)
    if written and written.is_away:
        return ""
    lying = in_trash(store, id_in(ref))
    own = (places.place_of(store.home, vault, path) for vault, path in lying if vault.key == vault_in(ref))
    return next(own, "")


def same_places(folder: Path, goal: Path) -> dict[Path, Path]:
    """Return each memory's file below *folder* → its place below *goal*, beside it if that is taken."""
    return {path: free_name(goal / path.relative_to(folder), path) for path in sorted(folder.rglob("*.md"))}


def late(store: Store) -> list[Trashed]:
    """Return the files whose memory has had no event for 90 days: they lie there at least that long."""
    catch_up(store)
    all_trashed = _all(store)
    with store.database.read() as db:
        last_deeds = deeds.last_done(db, {trashed.ref for trashed, _ in all_trashed})
    start, before = dated_from(store), old_before(store, GRACE_DAYS * DAY)
    return [trashed for trashed, moved in all_trashed if start <= last_deeds.get(trashed.ref, moved) < before]


def size(store: Store) -> int:
    """Return the bytes of all files in the trash."""
    return sum(trashed.size for trashed, _ in _all(store))


def empty(store: Store, trashed_files: Iterable[Trashed]) -> list[Trashed]:
    """
    Delete those files and their history for good, each with an event; return them.

    Raises OSError.
    """
    deleted = []
    for trashed in trashed_files:
        store.record("emptied", refs=[trashed.ref])
        files.delete(trashed.path)
        with store.database.read() as db:
            lives = selections.with_ref(db, trashed.ref)
        if not lives:
            history.erase(history.versions(store.home, trashed.ref))
        deleted.append(trashed)
    return deleted


def forgotten(store: Store, vaults: Iterable[Vault]) -> list[tuple[Trashed, float]]:
    """
    Return the memories of *vaults* that lie in the trash, the last put there first, each with that moment.

    The moment is the last deed on it, in Unix seconds. Of one that was forgotten twice it is the later file.
    """
    catch_up_if_free(store)
    entries = [
        (trashed, moved)
        for vault in vaults
        for trashed, moved in _below(store, places.trash_folder(store.home, vault))
        if CANDIDATES not in trashed.path.relative_to(store.home / "trash").parts[1:2]
    ]
    with store.database.read() as db:
        last_deeds = deeds.last_done(db, {trashed.ref for trashed, _ in entries})
    entries.sort(key=lambda entry: entry[1])
    latest = {trashed.ref: (trashed, float(last_deeds.get(trashed.ref, moved))) for trashed, moved in entries}
    return sorted(latest.values(), key=lambda entry: (-entry[1], entry[0].ref))


def _all(store: Store) -> list[tuple[Trashed, float]]:
    """Return every file in the trash, with its ctime: when it was moved last, as far as the disk knows."""
    return _below(store, store.home / "trash")


def _below(store: Store, folder: Path) -> list[tuple[Trashed, float]]:
    """Return the files in the trash that lie below *folder*, with their ctime."""
    trashed = []
    for path in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
        if status := _status(path):
            vault = path.relative_to(store.home / "trash").parts[0]
            ref = ref_of(vault, path.name.partition(".")[0])
            trashed.append((Trashed(path, ref, status.st_size), status.st_ctime))
    return trashed


def _status(path: Path) -> os.stat_result | None:
    """Return what the disk knows of *path* in the trash; None for no file, or one that just left it."""
    with contextlib.suppress(FileNotFoundError):
        status = path.lstat()
        return status if stat.S_ISREG(status.st_mode) else None
    return None
