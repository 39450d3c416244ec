"""What Daybook noted of projects whose folder is gone: their key, and what the person chose there."""

import os
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters import places
from mcp_server.adapters.project import Project, worktree_around
from mcp_server.adapters.vault import Vault, stamps
from mcp_server.core.memory_parts import Level


class Former(NamedTuple):
    """
    The note of a project that a folder may have been: the key of its vault, and where its folder was.

    `elsewhere`: another machine of the person's noted it; `root` is only its name. `here`: its folder is
    this project's, which had another git remote or none then, or belongs to it now.
    """

    key: str
    root: Path
    elsewhere: bool = False
    here: bool = False


def may_be_former(home: Path, project: Project) -> list[Former]:
    """
    Return the projects that *project* may have been, likeliest first: its folder was renamed or moved, or got
    another git remote.

    The same folder is the one with the number that the file system gave it, and a folder belongs to it that
    was a project before there was a repository around it, or while its worktree was cut off. Else, while the
    project has no memories, it is one of the same path, or of the same name; without a remote, by which other
    machines know it, also one of them, or the only one that is gone from the same parent and has no number.
    """
    number = places.folder_number(project.root)
    if clones := _clones_that_were(home, project, number):
        return clones
    notes = [_left(home, place.name, project) for place in places.project_folders(home)]
    candidates = [note for note in notes if note]
    if not candidates:
        return []
    same = [
        note
        for note in candidates
        if (number and places.project_notes(home, note.key).get(places.NUMBER) == number)
        or (note.here and note.root != project.root)
    ]
    if same or _has_memories(home / places.PROJECTS / project.key):
        return same
    here = [note for note in candidates if note.here]
    if here:
        return here
    named = [note for note in candidates if note.root.name == project.root.name]
    if project.remote:
        return [note for note in named if not note.elsewhere]
    beside = [
        note
        for note in candidates
        if note.root.parent == project.root.parent
        and places.NUMBER not in places.project_notes(home, note.key)
    ]
    return named or (beside if len(beside) == 1 else [])


def _clones_that_were(home: Path, project: Project, number: str) -> list[Former]:
    """Return the folder of *project* that is gone and has *number*, if the person chose something for it."""
    notes = places.project_notes(home, project.key)
    roots = [Path(root) for root, noted in places.numbers_in(notes).items() if number and noted == number]
    gone = [root for root in roots if root != project.root and not os.path.lexists(root)]
    return [Former(project.key, root) for root in gone if places.has_choices(notes, root)]


def former(home: Path, key: str) -> Former | None:
    """Return the note of the project with *key*, None when there is none."""
    notes = places.project_notes(home, key) if "/" not in key else {}
    if root := notes.get("root"):
        return Former(key, Path(str(root)))
    name = "" if notes.get("remote") else str(notes.get("name") or "")
    return Former(key, Path(name), elsewhere=True) if name else None


def inherit(home: Path, project: Project, old: Former) -> None:
    """Give *project* what was noted of it at its old path: what the person accepted and chose there."""
    notes = places.project_notes(home, old.key)
    adopted = str(old.root / places.REPOSITORY_FOLDER) in places.folders_in(notes, places.REPOSITORIES)
    places.note_project(home, project, adopt=project.root / places.REPOSITORY_FOLDER if adopted else None)
    if str(old.root) in places.folders_in(notes, places.ACCEPTED):
        places.note_accepted(home, project)
    note = places.blocks_in(notes).get(str(old.root))
    if isinstance(note, dict) and not places.block_note(home, project):
        places.note_block(home, project, note)
    places.note_moved(home, old.key, project, old.root)


def _left(home: Path, key: str, project: Project) -> Former | None:
    """
    Return the note of the project *key* if it has something to take over, and its folder is gone, or is
    *project*'s now.

    Of a folder with a remote that is gone, only what the person chose there is left for *project* itself: a
    clone of the remote at any other place has the memories.
    """
    note = former(home, key) if key != project.former else None
    if note is None:
        return None
    notes = places.project_notes(home, key)
    is_own, has_remote = key == project.key, bool(notes.get("remote"))
    is_known_here = not has_remote and not note.elsewhere
    is_here = note.root == project.root or (is_known_here and _belongs_to(note.root, project))
    if is_here:
        is_left = not is_own
    else:
        is_left = (is_own or not has_remote) and (note.elsewhere or not os.path.lexists(note.root))
    if not is_left:
        return None
    has_memories = not is_own and _has_memories(home / places.PROJECTS / key)
    return note._replace(here=is_here) if has_memories or places.has_choices(notes, note.root) else None


def _belongs_to(folder: Path, project: Project) -> bool:
    """Tell whether *folder* is there, and in a worktree of *project*'s repository."""
    around = worktree_around(folder) if os.path.lexists(folder) else None
    return around is not None and around.main == project.root


def _has_memories(root: Path) -> bool:
    return bool(stamps(Vault("", root, Level.PROJECT)))
