"""A small file with a JSON object: written whole and durably, read without believing it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_server.adapters import files, guarded_replace
from mcp_server.core.errors import Unreadable


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in the file *path*, {} when there is none."""
    try:
        value = json.loads(files.read(path))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def write_object(path: Path, values: Mapping[str, object]) -> None:
    """Write the whole of a small file, durably and for the person alone; nothing else writes it meanwhile."""
    temporary = path.with_name(guarded_replace.temporary_name())
    files.make_folder(path.parent)
    files.write_new(temporary, (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode())
    temporary.replace(path)
    files.sync_folder(path.parent)
