"""Paths as the person's other machines can read them: without the name of a home folder."""

import os
import re


def portable(path: str, *, folder: str, home: str) -> str:
    """
    Return *path* (a file or `path:line`): relative to *folder* if it lies below it, else with `~` for *home*.

    *folder* and *home* are absolute, '' for none. A relative path stays as it is.
    """
    path_below = _below(path, folder)
    return path_below if path_below is not None else without_home(path, home)


def without_home(text: str, home: str) -> str:
    """Return *text* with `~` for each path of the folder *home*; '' and the top of a disk are no home."""
    if len(home) < 4 or home not in text:
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])", "~", text)


def _below(path: str, folder: str) -> str | None:
    prefix = os.path.join(folder, "") if folder else ""
    return path[len(prefix) :] if prefix and path.startswith(prefix) and path != prefix else None
