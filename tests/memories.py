"""Memories to begin with, and what became of one."""

from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.review.entries import Entry
from mcp_server.actions.review.review import QUESTION, review
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store


def stored(store: Store, title: str, text: str = "", **more: object) -> str:
    """Store a memory that says *text*, or its title when there is none; return its id."""
    return remember(store, Draft(title, text or title, **more)).memory.id  # type: ignore[arg-type]


def decided(store: Store, text: str, *, title: str = "", **more: object) -> str:
    """Store a decision, which is called after how it begins; return its id."""
    return stored(store, title or text[:60], text, **{"type": "decision", **more})


def files_of_store(*folders: Path) -> dict[Path, bytes]:
    """Return the files of *folders* with what they say, but for the index and locks."""
    return {
        path: path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("memory.db") and path.suffix != ".lock"
    }


def entry_of(store: Store, kind: str = QUESTION) -> Entry:
    """Return the one entry of that *kind* that waits for the person."""
    (entry,) = (entry for entry in review(store).entries if entry.kind == kind)
    return entry


def status(store: Store, memory_id: str) -> Status:
    return read(store, memory_id).memory.status
