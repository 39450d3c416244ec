"""archive: put memories away on request, so that they are not shown; `restore` brings them back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.commit import commit, one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.files.shadows import covered_by, uncovered
from mcp_server.actions.memory.forget import in_archive
from mcp_server.actions.memory.remember import still_superseded
from mcp_server.adapters.vault import free_path, make_vault_folders
from mcp_server.core.errors import Rejected, all_or_none
from mcp_server.core.memory_parts import Status, given_ids
from mcp_server.store import Store

BY_HAND = "by hand"  # the reason that the file gives


@dataclass(frozen=True, slots=True)
class Archived:
    """
    A memory as it is in the archive.

    `superseded` are the memories that it had superseded: they stay superseded until they are restored.
    `uncovered` are those of the person that it had shadowed in this project: they hold here again.
    `before`: it was there already, and nothing was done.
    """

    file: MemoryFile
    superseded: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    before: bool = False


@one_change()
def archive(store: Store, memory_ids: Sequence[str]) -> list[Archived]:
    """
    Move memories to the archive and return what became of each; recall finds them with include_archived.

    One whose file says already that it is archived, as after a kill or by hand, moves there, too.
    Raises what `archivable` does before any is moved; Conflict, OSError.
    """
    return [
        Archived(file, before=True)
        if file.memory.status is Status.ARCHIVED and in_archive(file)
        else _archived(store, file)
        for file in archivable(store, memory_ids)
    ]


def archivable(store: Store, memory_ids: Sequence[str]) -> list[MemoryFile]:
    """
    Return the memories that `archive` would move, or has moved before.

    Raises NotFound, also without any id, and Rejected for one that is neither active nor archived.
    """
    return all_or_none(given_ids(memory_ids), lambda memory_id: _archivable(store, memory_id))


def _archivable(store: Store, memory_id: str) -> MemoryFile:
    file = read(store, memory_id)
    if file.memory.status not in (Status.ACTIVE, Status.ARCHIVED):
        state = f"'{file.memory.id}' is {file.memory.status.value}"
        raise Rejected(f"{state}; only active memories can be archived.", "Leave out its id.")
    return file


def _archived(store: Store, file: MemoryFile) -> Archived:
    superseded, covered = still_superseded(store, file.memory.id), covered_by(store, [file.ref])
    memory = replace(file.memory, status=Status.ARCHIVED, archived_reason=BY_HAND)
    make_vault_folders(file.vault)
    target = free_path(file.vault, memory.id, memory.kind, place=file.place, archived=True)
    moved = commit(store, file, memory, "archived", to=target)
    return Archived(moved, superseded, uncovered(store, covered))
