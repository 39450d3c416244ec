"""A team's memory in a folder of files, and such a folder, or a vault's, into a team's memory."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.exchange.export import BATCH, Exported, check_new
from mcp_server.adapters import files, memory_file
from mcp_server.adapters.vault import is_memory_name
from mcp_server.core.errors import Conflict, NotAllowed, NotFound, Rejected, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.storage.port import Stored, all_pages
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.team import Role, TeamStorage
from mcp_server.core.team.team_rules import fit

HISTORY = "history.jsonl"
"""A line for each memory: its id, author, who confirmed it, and every change with what was said before."""
MOST_HISTORY = 1 << 30  # bytes of that file


@dataclass(frozen=True, slots=True)
class TakenByTeam:
    """What became of a folder's files: how many were new, known and confirmed; file → why it was left out."""

    new: int
    known: int
    confirmed: int
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


def take_in_team(
    storage: TeamStorage, paths: list[Path], *, confirm: bool, progress: Callable[[int], None]
) -> TakenByTeam:
    """
    Save the memories in the files *paths* in a team; one that fails does not stop the others.

    Taking the same in again changes nothing, so what was interrupted is simply done again. With *confirm*
    those that the folder's history says a curator confirmed are confirmed in the name of the member, who must
    be a curator. Raises NotAllowed, and StorageUnavailable when the team's database goes away.
    """
    if confirm and storage.team().role is not Role.CURATOR:
        raise NotAllowed("Only a curator confirms.", "Name a curator with --as, or leave out --confirm.")
    were = set(_confirmed(paths[0].parent)) if confirm and paths else set()
    new = known_count = confirmed = 0
    failures: list[tuple[str, str]] = []
    for path in paths:
        try:
            memory = fit(_read(path))
            version, is_new = _save(storage, memory)
            new, known_count = new + is_new, known_count + (not is_new)
            if memory.id in were and not version.confirmed_by:
                storage.confirm(memory.id, digest=version.digest)
                confirmed += 1
        except (Rejected, Conflict, Unreadable, FileNotFoundError) as error:
            failures.append((path.name, getattr(error, "reason", "") or str(error)))
        progress(1)
    return TakenByTeam(new, known_count, confirmed, tuple(failures))


def _read(path: Path) -> Memory:
    data = files.read(path)
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    memory = memory_file.parse(data, path=str(path), kind=Kind.KNOWLEDGE, archived=False, modified=modified)
    if memory.status is not Status.ACTIVE:
        raise Rejected(f"It is {memory.status.value}; only active memories are imported.")
    return memory


def _save(storage: TeamStorage, memory: Memory) -> tuple[Stored, bool]:
    """Return the version that is there now, and whether it is new; raise Conflict for another version."""
    try:
        current = storage.load(memory.id)
    except NotFound:
        return storage.save(memory), True
    if current.memory != memory:
        raise Conflict(f"The team has another version, by {current.author or 'nobody known'}.")
    return current, False


def _confirmed(folder: Path) -> Iterator[str]:
    """Yield the ids that the history beside *folder*, or in it, says are confirmed."""
    path = next(
        (parent / HISTORY for parent in (folder.parent, folder) if (parent / HISTORY).is_file()), None
    )
    if path is None or path.stat().st_size > MOST_HISTORY:
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and record.get("confirmed_by"):
                yield str(record.get("id"))
