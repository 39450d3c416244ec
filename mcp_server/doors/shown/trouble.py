"""What went wrong beside an answer, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.adapters.git import GitTrouble


def git(trouble: GitTrouble) -> str:
    """Return why git is not run in this folder."""
    if not trouble.program:
        return "No git was found outside the repository, so commits and their files are not shown."
    called = ".".join(map(str, trouble.version)) or "of an unknown version"
    return (
        f"Git {called} ({trouble.program}) could be made to run programs of a repository, so commits and"
        " their files are not shown. Git 2.45, or a later release of 2.39 to 2.44, is needed."
    )


def caught(paths: Sequence[Path]) -> str:
    """Return which files keep edits that a person saved while Daybook changed a memory; '' without any."""
    if not paths:
        return ""
    return (
        f"Saved by somebody while Daybook changed the file, and kept only here: {', '.join(map(str, paths))}."
    )
