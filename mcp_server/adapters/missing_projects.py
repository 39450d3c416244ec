"""What Daybook noted of projects whose folder is gone: their key, and what the person chose there."""

import os
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters import places
from mcp_server.adapters.project import Project
from mcp_server.adapters.vault import Vault, stamps
from mcp_server.core.memory_parts import Level


class Former(NamedTuple):
    """
    The note of a folder that is gone: the key of its vault, and where the folder was.

    `elsewhere`: another machine of the person's noted it; `root` is only its name.
    """

    key: str
    root: Path
    elsewhere: bool = False


def may_be_former(home: Path, project: Project, *, thorough: bool) -> list[Former]:
    """
    Return the projects that *project* may have been before its folder was renamed or moved, likeliest first.

    A project with a remote is found by its remote: returns []. Otherwise the same folder is the one with the
    number that the file system gave it. Else, while the project has no memories, it is one of the same name,
    or the only one that is gone from the same parent and has no number. Without *thorough*, a note of the
    project's own root is enough to return [].
    """
    own = places.project_notes(home, project.key)
    if project.remote or (own.get("root") and not thorough):
        return []
    number = places.folder_number(project.root)
    notes = [former(home, place.name) for place in places.project_folders(home)]
    candidates = [note for note in notes if note and note.key != project.key and _is_gone(home, note)]
    if not candidates:
        return []
    same = [
        note
        for note in candidates
        if number and places.project_notes(home, note.key).get(places.NUMBER) == number
    ]
    if same or _has_memories(home / places.PROJECTS / project.key):
        return same
    named = [note for note in candidates if note.root.name == project.root.name]
    beside = [
        note
        for note in candidates
        if note.root.parent == project.root.parent
        and places.NUMBER not in places.project_notes(home, note.key)
    ]
    return named or (beside if len(beside) == 1 else [])


def former(home: Path, key: str) -> Former | None:
    """Return the note of the project with *key*, None when there is none."""
    notes = places.project_notes(home, key) if "/" not in key else {}
    if root := notes.get("root"):
        return Former(key, Path(str(root)))
    name = "" if notes.get("remote") else str(notes.get("name") or "")
    return Former(key, Path(name), elsewhere=True) if name else None


def inherit(home: Path, project: Project, old: Former) -> None:
    """Copy to *project* what was noted of it at its old path: what the person accepted and chose there."""
    notes = places.project_notes(home, old.key)
    adopted = str(old.root / places.REPOSITORY_FOLDER) in places.folders_in(notes, places.REPOSITORIES)
    places.note_project(home, project, adopt=project.root / places.REPOSITORY_FOLDER if adopted else None)
    if str(old.root) in places.folders_in(notes, places.ACCEPTED):
        places.note_accepted(home, project)
    note = places.blocks_in(notes).get(str(old.root))
    if isinstance(note, dict) and not places.block_note(home, project):
        places.note_block(home, project, note)


def _is_gone(home: Path, note: Former) -> bool:
    """Tell whether a folder without a remote no longer exists, and its vault has memories."""
    exists = not note.elsewhere and os.path.lexists(note.root)
    if exists or places.project_notes(home, note.key).get("remote"):
        return False
    return _has_memories(home / places.PROJECTS / note.key)


def _has_memories(root: Path) -> bool:
    return bool(stamps(Vault("", root, Level.PROJECT)))
