"""A small file with a JSON object: written whole and durably, read without believing it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_server.adapters import files, swap
from mcp_server.core.errors import Unreadable


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in the file *path*, {} when there is none."""
    try:
        said = json.loads(files.read(path))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def write_object(path: Path, said: Mapping[str, object]) -> None:
    """Write the whole of a small file, durably and for the person alone; nothing else writes it meanwhile."""
    other = path.with_name(swap.temporary_name())
    files.make_folder(path.parent)
    files.write_new(other, (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode())
    other.replace(path)
    files.sync_folder(path.parent)
