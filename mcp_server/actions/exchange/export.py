"""export: all memories in a folder of their own, as the files they are, or as one JSON document."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from mcp_server.actions.files.load import load
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.unfinished_files import writing_elsewhere
from mcp_server.actions.files.unindexed import look_again
from mcp_server.adapters import files, places
from mcp_server.adapters.foreign.daybook_export import (
    FORMAT,
    MOST_MOVES,
    PROJECTS,
    REPOSITORIES,
    USAGE,
    VERSION,
)
from mcp_server.adapters.index.events import trust, usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import CLOSED, Vault, read_memory_file, stamps
from mcp_server.core.changes import Stamp
from mcp_server.core.errors import IndexUnavailable, Rejected, Unreadable
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import Level, timestamp
from mcp_server.store import Store

BATCH = 250  # files written together


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported: how many memories, and the files and folders that could not be (path: reason)."""

    memories: int
    left: tuple[str, ...] = ()


def export_folder(
    store: Store, folder: Path, *, level: Level | None = None, all_projects: bool = False
) -> Exported:
    """
    Copy the files of the memories, byte for byte, into *folder*, which must be new or empty, and write down
    how each was used.

    Raises Rejected when it is not, or is in the store, and OSError when the disk refuses: it is empty then.
    """
    target = Path(os.path.realpath(os.path.expanduser(folder)))
    home = Path(os.path.realpath(store.home))
    if target.is_relative_to(home):
        raise Rejected(f"{folder} is inside the store.", "Choose a folder outside the store.")
    check_new(target, called=folder)
    _look_again(store)
    files.make_folder(target)
    with writing_elsewhere(store, target):
        try:
            return _copy_all(store, target, level, all_projects=all_projects)
        except OSError:
            for copied in target.iterdir():
                shutil.rmtree(copied, ignore_errors=True)
            raise


def check_new(target: Path, *, called: Path) -> None:
    """Raise Rejected unless *target*, a folder that the person *called* so, is new or empty."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        what = "not empty" if target.is_dir() else "a file"
        raise Rejected(
            f"{called} is {what}, and Daybook overwrites nothing.", "Name a new or an empty folder."
        )


def _copy_all(store: Store, target: Path, level: Level | None, *, all_projects: bool) -> Exported:
    copied, failures = 0, list[str]()
    counts: dict[str, object] = {}
    copies: dict[Path, tuple[bytes, datetime]] = {}
    for vault in _vaults(store, level, all_projects=all_projects):
        for stamp in _stamps(vault, failures):
            path = Path(stamp.path)
            try:
                data = read_memory_file(vault, path)
            except (Unreadable, FileNotFoundError) as error:
                failures.append(f"{path}: {getattr(error, 'reason', 'is gone')}")
                continue
            moment = datetime.fromtimestamp(stamp.mtime_ns // 1_000_000_000, UTC)
            copies[target / _place_of(vault) / path.relative_to(vault.root)] = (data, moment)
            if len(copies) == BATCH:
                copied += _copy(copies)
        copied += _copy(copies)
        with contextlib.suppress(IndexUnavailable):  # without an index, export the files without their use
            with store.database.read() as db:
                refs = [vault.ref(memory_id) for memory_id in selections.ids_of(db, vault.key).values()]
            counts |= {ref: figures for ref, figures in _counts(store, refs).items() if any(figures.values())}
    if counts:
        files.write_new(target / USAGE, json.dumps({"usage": counts}, indent=1).encode("ascii"))
    return Exported(copied, tuple(failures))


def _stamps(vault: Vault, failures: list[str]) -> list[Stamp]:
    """Return the stamps of the files of *vault*; add the folders that cannot be read to *failures*."""
    closed: list[str] = []
    files_there = stamps(vault, closed)
    failures += [f"{folder}: {CLOSED}" for folder in closed]
    return files_there


def _counts(store: Store, refs: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return ref → how often each memory was used, and what changed the trust in it, the latest last."""
    with store.database.read() as db:
        known_usages = usage.usage_of(db, refs)
        moves = {ref: trust.history(db, ref, limit=MOST_MOVES) for ref in refs if ref in known_usages}
    usages = {ref: known_usages.get(ref, usage.UNUSED) for ref in refs}
    return {
        ref: {
            "accesses": counts.accesses,
            "last_access": counts.last_access,
            "retrieved": counts.retrieved,
            "used": counts.used,
            "moves": [[move.reason, move.at] for move in reversed(moves.get(ref, []))],
        }
        for ref, counts in usages.items()
    }


def _copy(copies: dict[Path, tuple[bytes, datetime]]) -> int:
    """Write *copies* with their dates, empty the dictionary, and return how many there were."""
    files.write_many_new({path: data for path, (data, _) in copies.items()})
    for path, (_, moment) in copies.items():
        files.set_date(path, moment)
    number = len(copies)
    copies.clear()
    return number


def export_json(
    store: Store, *, level: Level | None = None, all_projects: bool = False
) -> tuple[dict[str, object], Exported]:
    """Return all memories with every field, and how often each was used, as one value for JSON."""
    _look_again(store)
    entries, failures = [], list[str]()
    for vault in _vaults(store, level, all_projects=all_projects):
        for stamp in _stamps(vault, failures):
            try:
                entries.append((vault, load(vault, Path(stamp.path), on_disk=stamp).memory))
            except (Unreadable, FileNotFoundError) as error:
                failures.append(f"{stamp.path}: {getattr(error, 'reason', 'is gone')}")
    counts = _counts(store, [vault.ref(memory.id) for vault, memory in entries])
    entries_json = [_entry(vault, memory, counts[vault.ref(memory.id)]) for vault, memory in entries]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "exported": timestamp(store.clock()),
        "memories": entries_json,
    }
    return document, Exported(len(entries_json), tuple(failures))


def write_document(store: Store, path: Path, data: bytes) -> None:
    """Write an exported document for its owner alone; raise Rejected when something is there."""
    target = Path(os.path.realpath(os.path.expanduser(path)))
    try:
        with writing_elsewhere(store, target):
            files.write_new(target, data)
    except FileExistsError:
        raise Rejected(f"{path} exists, and Daybook overwrites nothing.", "Name a new file.") from None


def _look_again(store: Store) -> None:
    """Take in what changed; what stands in for an index that cannot be used gets the use of memories, too."""
    look_again(store)
    catch_up_if_free(store)


def _vaults(store: Store, level: Level | None, *, all_projects: bool) -> Iterator[Vault]:
    for vault in places.all_vaults(store.home, store.vaults) if all_projects else store.vaults:
        # The team's server has all that the copy of it says, and 'daybook team export' gives it.
        if vault.level is not Level.TEAM and (level is None or vault.level is level):
            yield vault


def _place_of(vault: Vault) -> Path:
    if vault.level is Level.USER:
        return Path()
    return Path(REPOSITORIES if vault.in_repository else PROJECTS) / vault.key


def _entry(vault: Vault, memory: Memory, counts: dict[str, object]) -> dict[str, object]:
    values = {field.name: _as_json(getattr(memory, field.name)) for field in fields(memory)}
    return {
        "vault": vault.key,
        "level": vault.level.value,
        "project": vault.project,
        "in_repository": vault.in_repository,
        **values,
        "usage": counts,
    }


def _as_json(value: object) -> object:
    match value:
        case datetime():
            return timestamp(value)
        case StrEnum():
            return value.value
        case tuple():
            return [_as_json(item) for item in value]
        case Link():
            notes = {"notes": list(value.notes)} if value.notes else {}
            return {"rel": value.rel, "to": value.to, **notes}
    return value
