"""
in_context_already: the memories that a session reads in the managed block or in Claude Code's own memory.

Runs before every session and with prompts, so it stays light.
"""

import os
import sqlite3
from pathlib import Path

from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import auto_memory_topics
from mcp_server.adapters.project import Project
from mcp_server.core.errors import DaybookError
from mcp_server.store import Store


def chosen(store: Store) -> str:
    """Return the file that the person chose for the managed block of this project, '' for none."""
    name = places.block_note(store.home, store.project).get("file") if store.project else ""
    return name if isinstance(name, str) and name in places.BLOCK_FILES else ""


def shown_by_block(store: Store, folder: Path | None = None) -> dict[str, str]:
    """
    Return ref → digest of the memories that the managed block tells a session in *folder*.

    Empty when the file does not hold the block that was noted: the person edited it, or another branch is
    checked out, or the folder is another worktree.
    """
    project = store.project
    note = places.block_note(store.home, project) if project else {}
    refs = note.get("told")
    if not project or not isinstance(refs, dict):
        return {}
    if folder and not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(project.root)):
        return {}
    block = block_in(project, str(note.get("file")))
    if not block or files.digest(block) != note.get("block"):
        return {}
    return {str(ref): str(digest) for ref, digest in refs.items()}


def block_in(project: Project, name: str) -> bytes:
    """Return the managed block in the file *name* of *project*; b'' for none, or an unreadable file."""
    # Slow to load, and most sessions have no block.
    from mcp_server.core.context.managed_block import block_of

    try:
        data = files.read(places.block_file(project, name))
    except (OSError, DaybookError):
        return b""
    return block_of(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def shown_by_auto_memory(store: Store, db: sqlite3.Connection, folder: Path | None = None) -> dict[str, str]:
    """
    Return ref → digest of the imported memories that Claude Code's own memory tells a session in *folder*.

    Empty when that memory is switched off. The environment is read only for that switch and for the folder of
    Claude Code's memory, and its values are trusted.
    """
    if auto_memory_topics.is_empty(db):
        return {}
    from mcp_server.adapters import auto_memory_folder  # most people import nothing from there

    claude = auto_memory_folder.claude_folder(os.environ)
    folders = [*([store.project.root] if store.project else []), *([folder] if folder else [])]
    place = auto_memory_folder.locate(claude, folders).folder
    if place is None or auto_memory_folder.is_off(claude, folders, os.environ):
        return {}
    return auto_memory_folder.shown_topics(place, auto_memory_topics.topics(db, str(place)))
