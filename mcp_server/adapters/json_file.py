"""A small file with a JSON object: written whole and durably, read without believing it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_server.adapters import files
from mcp_server.core.errors import Unreadable


def object_in(text: bytes | str) -> dict[str, Any]:
    """Return the JSON object that *text* is, {} when it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_object(path: Path, limit: int = files.MAX_MEMORY_FILE) -> dict[str, Any]:
    """Return the object in the file *path* of at most *limit* bytes, {} when there is none."""
    try:
        return object_in(files.read(path, limit))
    except (OSError, Unreadable):
        return {}


def read_linked_object(path: Path, limit: int = files.MAX_MEMORY_FILE) -> dict[str, Any]:
    """Return what `read_object` does of the file to which *path* leads; links are followed."""
    return read_object(Path(os.path.realpath(path)), limit)


def write_object(path: Path, values: Mapping[str, object]) -> None:
    """Write the whole of a small file, durably and for the person alone; nothing else writes it meanwhile."""
    files.write_over(path, bytes_of(values))


def bytes_of(values: Mapping[str, object]) -> bytes:
    """Return *values* as the bytes of a small file that people may read."""
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
