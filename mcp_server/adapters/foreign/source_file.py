"""The files of a source: read whole and never written; a broken file is refused with one sentence."""

import json
import os
from pathlib import Path
from typing import Any

from mcp_server.adapters import files
from mcp_server.core.errors import Rejected, Unreadable

MAX_SOURCE = 256 * 1024 * 1024  # bytes of one file
UNTOUCHED = "It was left unchanged, and nothing was imported from it."


def located(path: Path, *names: str) -> Path:
    """
    Return the file that *path* names: itself, or the first of *names* that exists below it.

    Follows links: the person named the path. Raises Rejected when there is no such file.
    """
    named = Path(os.path.realpath(os.path.expanduser(path)))
    candidates = [named / name for name in names] if named.is_dir() else [named]
    existing = next((candidate for candidate in candidates if candidate.exists()), None)
    if existing is None or existing.is_dir():
        where = " or ".join(map(str, candidates)) if named.is_dir() else str(path)
        raise Rejected(f"There is no {where}.", "Give the path of a file that exists.")
    return Path(os.path.realpath(existing))


def located_folder(path: Path) -> Path:
    """Return the folder at *path*, following links; raise Rejected when there is none."""
    named = Path(os.path.realpath(os.path.expanduser(path)))
    if named.is_file():
        hint = "Give the folder; unpack an archive first. 'daybook seed FILE' takes in one text."
        raise Rejected(f"{path} is a file, not a folder.", hint)
    if not named.is_dir():
        raise Rejected(f"There is no folder {path}.", "Give the path of a folder that exists.")
    return named


def text_in(path: Path, limit: int = MAX_SOURCE) -> str:
    """Return the text of *path* with `\\n` line ends; raise Rejected when it is not text or too long."""
    try:
        text = files.read(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(f"{path} is not UTF-8 text (byte {error.start:,}).", UNTOUCHED) from None
    except Unreadable as error:
        raise Rejected(f"{path} {error.reason}.", UNTOUCHED) from None
    except OSError as error:
        raise Rejected(f"{path} cannot be read: {error.strerror}.", UNTOUCHED) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in *path*; raise Rejected when it holds none."""
    document = parsed(text_in(path), str(path))
    if not isinstance(document, dict):
        raise Rejected(f"{path} contains no JSON object.", UNTOUCHED)
    return document


def parsed(text: str, place: str) -> Any:
    """Return the value of the JSON *text*; raise Rejected naming *place* when it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}" if error.lineno > 1 else f"character {error.pos + 1}"
        raise Rejected(f"{place} is broken JSON: {error.msg} at {where}.", UNTOUCHED) from None
    except RecursionError:
        raise Rejected(f"{place} is nested too deeply.", UNTOUCHED) from None
    except ValueError as error:  # a number with thousands of digits
        raise Rejected(f"{place} is broken JSON: {str(error)[:80]}.", UNTOUCHED) from None
