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


def problem_of(path: Path, limit: int) -> tuple[int, int, str] | None:
    """
    Return line, column and reason for which the file *path* is no JSON object, None when it is one.

    None, too, when there is no file. Line and column are 0 where the reason holds for the whole file. Raises
    Unreadable where `files.read` does. What is in no encoding is judged as Claude Code does: by the rest.
    """
    try:
        data = files.read(Path(os.path.realpath(path)), limit)
        value = json.loads(data.decode(json.detect_encoding(data), "replace"), parse_constant=_refuse)
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        return error.lineno, error.colno, error.msg
    except (ValueError, RecursionError) as error:
        return 0, 0, str(error)
    return None if isinstance(value, dict) else (0, 0, "it holds no object")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def write_object(path: Path, values: Mapping[str, object]) -> None:
    """Write the whole of a small file, durably and for the person alone; nothing else writes it meanwhile."""
    files.write_over(path, bytes_of(values))


def bytes_of(values: Mapping[str, object]) -> bytes:
    """Return *values* as the bytes of a small file that people may read."""
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
