"""levels: moving a memory to another level, and what the page says of the move before."""

from collections.abc import Callable

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.repository import is_shared
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown import memory as shown
from mcp_server.store import Store

TO_USER, TO_PROJECT = "to-user", "to-project"


def move_to(level: Level) -> Callable[[Store, str, str], Shown]:
    """Return what moves a memory of a store to *level*; it raises Rejected when it is there already."""

    def run(store: Store, memory_id: str, _: str) -> Shown:
        change = change_level(store, memory_id, level)
        where, notes = shown.moved(change)
        if change.old_vault is None:
            raise Rejected(f"'{change.file.memory.id}' is {where}", "Nothing was changed.")
        return Shown(f"{change.file.memory.id}: {where}", notes=tuple(notes))

    return run


def levels_for(store: Store, file: MemoryFile) -> list[str]:
    """Return the names of the moves that make sense for that memory now, seen from this project."""
    if file.vault.level is Level.PROJECT:
        return [TO_USER]
    return [TO_PROJECT] if store.of_project else []


def what_git_sees(store: Store) -> str:
    """Return how a sentence about a move to this project ends: what git sees of it, '' for nothing."""
    if not store.of_project or not is_shared(store.vault_for(Kind.KNOWLEDGE, Level.PROJECT)):
        return ""
    return "; its file goes into the repository, where git sees it"
