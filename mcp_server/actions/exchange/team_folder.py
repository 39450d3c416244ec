"""A team's memory in a folder of files, and such a folder, or a vault's, into a team's memory."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.exchange.export import BATCH, Exported, check_new
from mcp_server.adapters import files, memory_file
from mcp_server.adapters.vault import is_memory_name
from mcp_server.core.errors import Conflict, NotFound, Rejected, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.storage.port import Stored, all_pages
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.team import TeamStorage
from mcp_server.core.team.team_rules import fit

HISTORY = "history.jsonl"
"""A line for each memory: its id, author, who confirmed it, and every change with what was said before."""


@dataclass(frozen=True, slots=True)
class TakenByTeam:
    """What became of a folder's files: how many were new and known; file → why it was left out."""

    new: int
    known: int
    left: tuple[tuple[str, str], ...]


def export_team(storage: TeamStorage, folder: Path, progress: Callable[[int], None]) -> Exported:
    """
    Write every memory of a team into *folder*, new or empty, as files, with the history of each.

    *progress* is told how many more are written. Raises Rejected for a folder that is not empty, OSError.
    """
    target = Path(os.path.realpath(os.path.expanduser(folder)))
    check_new(target, called=folder)
    knowledge = target / Kind.KNOWLEDGE.folder
    files.make_folder(knowledge)
    count, failures = 0, list[str]()
    for page in all_pages(storage.page, BATCH):
        contents, lines = dict[Path, bytes](), list[bytes]()
        for version in page:
            try:
                contents[knowledge / f"{version.memory.id}.md"] = memory_file.render(version.memory)
            except Rejected as error:
                failures.append(f"{version.memory.id}: {error}")
            lines.append(_history_of(storage, version))
        files.write_many_new(contents)
        files.append_line(target / HISTORY, b"\n".join(lines), durable=True)
        count += len(contents)
        progress(len(page))
    return Exported(count, tuple(failures))


def _history_of(storage: TeamStorage, version: Stored) -> bytes:
    try:
        changes = storage.history(version.memory.id)
    except NotFound:  # it was forgotten while we wrote
        changes = ()
    record = {
        "id": version.memory.id,
        "author": version.author,
        "confirmed_by": version.confirmed_by,
        "changes": value_of(list(changes)),
    }
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")


def memory_files(folder: Path) -> list[Path]:
    """
    Return the files of memories in *folder*: an export, a vault, or the folder with the files itself.

    Raises Rejected when it is no folder, or has none.
    """
    source_folder = Path(os.path.expanduser(folder))
    if not source_folder.is_dir():
        raise Rejected(f"{folder} is not a folder.", "Name the folder of an export, or of a vault.")
    knowledge = source_folder / Kind.KNOWLEDGE.folder
    place = knowledge if knowledge.is_dir() else source_folder
    paths = sorted(path for path in place.iterdir() if is_memory_name(path.name))
    if not paths:
        raise Rejected(f"{folder} contains no memories.", "Name the folder of an export, or of a vault.")
    return paths


def take_in_team(storage: TeamStorage, paths: list[Path], *, progress: Callable[[int], None]) -> TakenByTeam:
    """
    Save the memories in the files *paths* in a team; one that fails does not stop the others.

    Taking the same in again changes nothing, so what was interrupted is simply done again. Nothing of it
    is confirmed. Raises NotAllowed, and StorageUnavailable when the team's database goes away.
    """
    new = known_count = 0
    failures: list[tuple[str, str]] = []
    for path in paths:
        try:
            is_new = _save(storage, fit(_read(path)))
            new, known_count = new + is_new, known_count + (not is_new)
        except (Rejected, Conflict, Unreadable, FileNotFoundError) as error:
            failures.append((path.name, getattr(error, "reason", "") or str(error)))
        progress(1)
    return TakenByTeam(new, known_count, tuple(failures))


def _read(path: Path) -> Memory:
    data = files.read(path)
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    memory = memory_file.parse(data, path=str(path), kind=Kind.KNOWLEDGE, archived=False, modified=modified)
    if memory.status is not Status.ACTIVE:
        raise Rejected(f"It is {memory.status.value}; only active memories are imported.")
    return memory


def _save(storage: TeamStorage, memory: Memory) -> bool:
    """Return whether *memory* is new there; raise Conflict for another version."""
    try:
        current = storage.load(memory.id)
    except NotFound:
        storage.save(memory)
        return True
    if current.memory != memory:
        raise Conflict(f"The team has another version, by {current.author or 'nobody known'}.")
    return False
