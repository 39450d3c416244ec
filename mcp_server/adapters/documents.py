"""A project's own documents, and any text file that the person names: found and read, never written."""

import os
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.project import leads_out
from mcp_server.core.errors import Unreadable

NAMED = (
    *("CLAUDE.md", ".claude/CLAUDE.md", "README.md", "README", "CONTRIBUTING.md", "ARCHITECTURE.md"),
    *("AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"),
    *(".cursorrules", ".windsurfrules", ".clinerules"),
)
"""
Documents at a project's root, in any case of letters: 3.2-bootstrap-files in docs/features.md, and the rules
that other agents read.
"""

FOLDERS = ("docs", ".cursor/rules", ".windsurf/rules", ".clinerules", "memory-bank")
SUFFIXES = (".md", ".mdc")
MOST_DOCS = 20  # files of a folder, README.md first
MOST_BYTES = 1024 * 1024
ANOTHER = "Give the path of a text file in UTF-8, of at most a mebibyte."


def documents(root: Path) -> tuple[list[Path], list[Path]]:
    """
    Return the documents of the project at *root* that there are, each once: NAMED, and those in FOLDERS.

    The second list has those beyond the first 20 of a folder.
    """
    paths = [path for name in NAMED if (path := _in_any_case(root, name))]
    beyond: list[Path] = []
    for folder in (root / name for name in FOLDERS):
        listed = sorted(folder.iterdir()) if folder.is_dir() else []
        docs = [path for path in listed if path.suffix.lower() in SUFFIXES and path.name[0] != "."]
        docs.sort(key=lambda path: (path.name.lower() != "readme.md", path.name))
        paths += docs[:MOST_DOCS]
        beyond += docs[MOST_DOCS:]
    real = {os.path.realpath(path) for path in paths if not path.is_symlink()}
    # CLAUDE.md and AGENTS.md are often a file and a link to it.
    paths = [path for path in paths if not path.is_symlink() or os.path.realpath(path) not in real]
    return paths, beyond


def text_of(path: Path, *, within: Path | None = None) -> str:
    """
    Return the text of the file at *path*, which with *within* must lie in that folder, links resolved.

    Raises Unreadable when it is not a regular text file of at most a mebibyte; FileNotFoundError.
    """
    try:
        return _text_of(path, within)
    except Unreadable as error:
        error.hint = ANOTHER  # the hint for memories does not fit: the watcher does not watch this file
        raise


def _text_of(path: Path, within: Path | None) -> str:
    if within and leads_out(path, within):
        raise Unreadable(str(path), 0, "leads out of the project")
    data = files.read(path, MOST_BYTES)
    if b"\0" in data:
        raise Unreadable(str(path), 0, "is not a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(str(path), 0, "is not text in UTF-8") from None


def _in_any_case(root: Path, name: str) -> Path | None:
    folder, _, last = name.rpartition("/")
    place = root / folder if folder else root
    names = sorted(os.listdir(place)) if place.is_dir() else []
    paths = (place / file_name for file_name in names if file_name.lower() == last.lower())
    return next((path for path in paths if not path.is_dir()), None)
