"""
What the store knows of its remote: `remote/remote.json` says where it is and what leaves, `remote/last.json`
how the last exchange ended. Without the first there is no remote, and nothing of all this is loaded.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mcp_server.adapters import files, swap
from mcp_server.adapters.project import Project
from mcp_server.core.errors import Unreadable

FOLDER, ABOUT, LAST, SAME = "remote", "remote.json", "last.json", "same.json"
FOREVER = "deleted-for-good"  # an empty file: something was, since the last exchange
REPOSITORY = "store.git"


@dataclass(frozen=True, slots=True)
class Remote:
    """
    The person's remote: its URL, and `copy`, the name of this copy of the store among their machines.

    `conversations`: past conversations leave, too. `questions`: the questions in the ledger leave.
    """

    url: str
    copy: str
    conversations: bool = False
    questions: bool = True


@dataclass(frozen=True, slots=True)
class Last:
    """
    How the last exchange ended: when the last whole one was, `trouble`, '' for none, and what stays here.

    `held` is path → why the file does not leave.
    """

    at: str = ""
    trouble: str = ""
    held: tuple[tuple[str, str], ...] = ()


def has_remote(home: Path) -> bool:
    """Tell whether the store in *home* has a remote; costs one look at the disk."""
    return os.path.exists(home / FOLDER / ABOUT)


def is_due(home: Path, *, every: float, now: float) -> bool:
    """Tell whether there is a remote, and no exchange ended in the *every* seconds before *now*."""
    if not has_remote(home):
        return False
    try:
        return (home / FOLDER / LAST).stat().st_mtime <= now - every
    except OSError:
        return True


def remote_of(home: Path) -> Remote | None:
    """Return the remote of the store in *home*, None when it has none."""
    said = _read(home / FOLDER / ABOUT)
    if not said.get("url") or not said.get("copy"):
        return None
    return Remote(
        str(said["url"]),
        str(said["copy"]),
        bool(said.get("conversations")),
        bool(said.get("questions", True)),
    )


def note_remote(home: Path, remote: Remote) -> None:
    """Note the remote of the store in *home*."""
    _write(home / FOLDER / ABOUT, asdict(remote))


def last_of(home: Path) -> Last:
    """Return how the last exchange of the store in *home* ended."""
    said = _read(home / FOLDER / LAST)
    held = said.get("held")
    pairs = [(str(each[0]), str(each[1])) for each in held] if isinstance(held, list) else []
    return Last(str(said.get("at", "")), str(said.get("trouble", "")), tuple(pairs))


def note_last(home: Path, last: Last) -> None:
    """Note how the last exchange of the store in *home* ended."""
    _write(home / FOLDER / LAST, asdict(last))


def same_projects(home: Path) -> dict[str, str]:
    """Return key of a folder without a git remote → key that the same project has on other machines."""
    return {str(key): str(same) for key, same in _read(home / FOLDER / SAME).items()}


def note_same_project(home: Path, key: str, same: str) -> None:
    """Note that the project *key* of this machine is the one that another machine knows as *same*."""
    _write(home / FOLDER / SAME, {**same_projects(home), key: same})


def as_everywhere(home: Path, project: Project | None) -> Project | None:
    """Return *project* under the key that it has on the person's other machines, if they said so once."""
    if project is None or project.remote or not os.path.exists(home / FOLDER / SAME):
        return project
    same = same_projects(home).get(project.key)
    return replace(project, key=same, former=project.key) if same else project


def note_forever(home: Path) -> None:
    """Note that something was deleted for good: the next exchange takes it out of our repository, too."""
    if has_remote(home):
        (home / FOLDER / FOREVER).touch(mode=files.FILE_MODE)


def _read(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(files.read(path))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _write(path: Path, said: Mapping[str, object]) -> None:
    """Write the whole of a small file, durably; nothing else writes it at the same time."""
    other = path.with_name(swap.temporary_name())
    files.make_folder(path.parent)
    files.write_new(other, (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode())
    other.replace(path)
    files.sync_folder(path.parent)
