"""
same_projects: which projects have another key on the person's other machines, in `remote/same.json`.

A module of its own, because each process asks for it, and most stores have no remote.
"""

import os
from pathlib import Path

from mcp_server.adapters.json_file import read_object, write_object
from mcp_server.adapters.project import Project

NOTE = Path("remote", "same.json")


def same_projects(home: Path) -> dict[str, str]:
    """Return key of a folder without a git remote → key that the same project has on other machines."""
    return {str(key): str(same) for key, same in read_object(home / NOTE).items()}


def note_same_project(home: Path, key: str, same: str) -> None:
    """Note that the project *key* of this machine is the one that another machine knows as *same*."""
    write_object(home / NOTE, {**same_projects(home), key: same})


def as_everywhere(home: Path, project: Project | None) -> Project | None:
    """Return *project* under the key that it has on the person's other machines, if they named that key."""
    if project is None or project.remote or not os.path.exists(home / NOTE):
        return project
    same = same_projects(home).get(project.key)
    return project._replace(key=same, former=project.key) if same else project
