"""
vanished_folders: note when a folder of memories vanished, so that the person, who did not ask, is told once.

The disk may not be connected, or the folder was deleted as a whole, or a pull deleted memories that they had
accepted of a repository. No event is written, so that all is as before when the files come back.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server.adapters import files, places
from mcp_server.adapters.index.database.known_before import ids_among, ids_below
from mcp_server.adapters.index.memories.accepted_bytes import once_accepted
from mcp_server.adapters.index.memories.selections import ids_of
from mcp_server.adapters.json_file import read_object, write_object
from mcp_server.adapters.vault import Vault
from mcp_server.core.changes import Stamp
from mcp_server.core.memory_parts import Kind
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.core.remarks import GoneAccepted, Loss

FEW = 5  # so many files missing from a folder that stays count as deleted by the person
NOTED = "gone-"  # a file in the folder `work`, named with the vault's key: what is not told yet


def note_lost(store: Store, vault: Vault, lost_paths: Mapping[str, str]) -> None:
    """
    Note those of the memories lost from *vault* (*lost_paths*: id → path) that are in no vault now.

    Notes nothing when the index only stands in for the one on the disk.
    """
    if not lost_paths or store.database.stands_in:
        return
    with store.database.read() as db:
        known_ids = ids_among(db, lost_paths)
    missing_paths = {memory_id: path for memory_id, path in lost_paths.items() if memory_id not in known_ids}
    if vault.in_repository:
        _note_accepted(store, vault, missing_paths)
    else:
        _note_gone(store, vault, missing_paths)


def emptied_folders(
    store: Store, vault: Vault, indexed: Sequence[Stamp], on_disk: Sequence[Stamp]
) -> dict[str, str]:
    """
    Return id → path of the memories that were in folders of *vault* without any file left.

    *indexed* are the files that the index knows. Includes those known to an index that vanished with the
    folders while this process had it open.
    """
    lost_paths = store.database.known_before.take(vault.key)
    if on_disk:
        lost_paths = {}
    if on_disk == indexed:
        return lost_paths  # the usual case: looking into each folder takes as long as finding all files
    if not on_disk:  # the index may come from another place, without the files
        with store.database.read() as db:
            return lost_paths | {memory_id: path for path, memory_id in ids_of(db, vault.key).items()}
    for folder in map(str, vault.folders()):
        beginning = os.path.join(folder, "")
        had_files, has_files = (
            any(stamp.path.startswith(beginning) for stamp in side) for side in (indexed, on_disk)
        )
        if had_files and not has_files:
            with store.database.read() as db:
                lost_paths |= ids_below(db, folder)
    return lost_paths


def vanished_vault(store: Store) -> Vault | None:
    """Return the vault in this project's repository when the index knows memories of it and it is gone."""
    if not store.project or store.shared:
        return None
    vault = places.repository_vault(store.home, store.project)
    if os.path.lexists(vault.root / Kind.KNOWLEDGE.folder) or places.linked(vault.root):
        return None
    with store.database.read() as db:
        return vault if ids_below(db, str(vault.root)) else None


def _note_gone(store: Store, vault: Vault, lost_paths: Mapping[str, str]) -> None:
    """
    Note that the memories of *lost_paths*, all in some folders of *vault*, vanished at once.

    A few files missing from folders that are still there are not noted.
    """
    missing = [folder for folder in vault.folders() if not folder.is_dir()]
    if not lost_paths or (not missing and len(lost_paths) <= FEW):
        return
    alone = missing[0] if len(missing) == 1 else vault.root
    with_history = sum(
        places.history_folder(store.home, vault.ref(memory_id)).is_dir() for memory_id in lost_paths
    )
    notice = {
        "folder": str(alone),
        "memories": len(lost_paths),
        "first": next(iter(lost_paths.values())),
        "kept": with_history,
        "vault": vault.key,
    }
    _write(store.home, vault.key, notice)


def _note_accepted(store: Store, vault: Vault, lost_paths: Mapping[str, str]) -> None:
    """Note which memories of *lost_paths*, gone from a repository, the person had accepted."""
    with store.database.read() as db:
        accepted = once_accepted(db, [vault.ref(memory_id) for memory_id in lost_paths])
    lost_accepted = {
        memory_id: path for memory_id, path in lost_paths.items() if vault.ref(memory_id) in accepted
    }
    if not lost_accepted:
        return
    before = read_object(store.home / places.WORK / f"{NOTED}{vault.key}").get("accepted")
    lost_accepted = {**(before if isinstance(before, dict) else {}), **lost_accepted}
    _write(store.home, vault.key, {"folder": str(vault.root), "vault": vault.key, "accepted": lost_accepted})


def take_losses(home: Path) -> "list[Loss]":
    """Return the losses noted below *home*, and delete the notes, so that each is shown once; usually []."""
    taken: list[Loss] = []
    for path in _notes(home):
        with contextlib.suppress(OSError):
            loss = _loss(home, path)
            files.delete(path)
            taken += [loss] if loss else []
    return taken


def losses(home: Path) -> "list[Loss]":
    """Return what `take_losses` would return now; the notes stay."""
    return [loss for path in _notes(home) if (loss := _loss(home, path))]


def _notes(home: Path) -> list[Path]:
    return sorted((home / places.WORK).glob(f"{NOTED}*"))


def _loss(home: Path, path: Path) -> "Loss | None":
    """Return the loss noted at *path*; None when the files are back, or the note cannot be read."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        notice = read_object(path)
        if "accepted" in notice:
            return _of_repository(home, notice)
        if not os.path.exists(notice["first"]):
            from mcp_server.core.remarks import GoneMemories  # hooks need it seldom

            history = str(places.history_folder(home, notice["vault"]))
            return GoneMemories(notice["folder"], int(notice["memories"]), int(notice["kept"]), history)
    return None


def _of_repository(home: Path, notice: Mapping[str, Any]) -> "GoneAccepted | None":
    """Return the accepted memories that a repository lost and that can be restored, None without any."""
    trash = places.trash_of(home, notice["vault"])
    ids = [
        memory_id
        for memory_id, path in notice["accepted"].items()
        if not os.path.exists(path)
        # Daybook moved what is in the trash.
        and not any(any(trash.rglob(name)) for name in (f"{memory_id}.md", f"{memory_id}.*.md"))
        and places.history_folder(home, f"{notice['vault']}/{memory_id}").is_dir()
    ]
    if not ids:
        return None
    from mcp_server.core.remarks import GoneAccepted  # hooks need it seldom

    return GoneAccepted(notice["folder"], tuple(ids))


def _write(home: Path, key: str, notice: Mapping[str, object]) -> None:
    path = home / places.WORK / f"{NOTED}{key}"
    with contextlib.suppress(OSError):
        files.make_folder(path.parent)
        write_object(path, notice)
