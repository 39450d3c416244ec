"""module_seen: the client in which Daybook's module ran last, and the parts that it lacked there."""

import contextlib
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters import files, places
from mcp_server.core.errors import Unreadable
from mcp_server.core.render import one_line

NAME = "module"  # the file in the folder `work`: the client's version, then the parts that are missing in it
LONGEST = 200  # characters of it


class ModuleSeen(NamedTuple):
    """Claude Code's version where the module ran last, '' for nowhere, and the parts that it lacked there."""

    version: str
    missing: tuple[str, ...] = ()


def note_module(home: Path, report: str) -> None:
    """Keep what the module *report* of itself, `VERSION PART …`; the same words leave the file as it is."""
    path = home / places.WORK / NAME
    words = one_line(report, LONGEST)
    with contextlib.suppress(OSError):
        if words != _read(path):
            files.write_over(path, words.encode())


def module_seen(home: Path) -> ModuleSeen:
    """Return in which client the module was seen last, and what it lacked there."""
    version, *missing = _read(home / places.WORK / NAME).split() or [""]
    return ModuleSeen(version, tuple(missing))


def _read(path: Path) -> str:
    with contextlib.suppress(OSError, Unreadable):
        return files.read(path, LONGEST * 4).decode("utf-8", "replace")
    return ""
