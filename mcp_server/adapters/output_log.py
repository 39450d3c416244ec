"""
The output log: the output of programs and sessions, kept for a week to be mined.

`outputs/<day>.jsonl` next to the folders of a vault, one line `{"at", "session", "said"}` for each output.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.core.memory_parts import parse_timestamp, timestamp

FOLDER = "outputs"
KEPT_DAYS = 7  # B-28 in docs/features.md
MOST_OF_A_DAY = 8 * 1024 * 1024  # bytes; stops a loop that logs


@dataclass(frozen=True, slots=True)
class Output:
    """One output: when it was logged, in which session, and its text."""

    at: datetime
    session: str
    text: str


def append(folder: Path, output: Output) -> bool:
    """Add *output* to the log in *folder*; return False when the log of that day is full."""
    files.make_folder(folder)
    path = folder / f"{output.at:%Y-%m-%d}.jsonl"
    line = {"at": timestamp(output.at), "session": output.session, "said": output.text}
    data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace")
    if path.exists() and path.stat().st_size + len(data) > MOST_OF_A_DAY:
        return False
    files.append_line(path, data, durable=False)
    return True


def outputs(folder: Path, since: datetime) -> Iterator[Output]:
    """Yield what was logged in *folder* since *since*, earliest first; invalid lines are left out."""
    for path in _paths(folder):
        if path.stem < f"{since:%Y-%m-%d}":
            continue
        for line in files.read(path, 2 * MOST_OF_A_DAY).splitlines():
            try:
                entry = json.loads(line)
                output = Output(parse_timestamp(entry["at"]), str(entry["session"]), str(entry["said"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            if output.at >= since:
                yield output


def prune(folder: Path, before: int) -> int:
    """Delete the days of the log in *folder* that ended before that Unix second; return how many."""
    late = [path for path in _paths(folder) if _end(path.stem) <= before]
    for path in late:
        files.delete(path)
    return len(late)


def size(folder: Path) -> tuple[int, int]:
    """Return (days, bytes) of the log in *folder*."""
    sizes = [path.stat().st_size for path in _paths(folder)]
    return len(sizes), sum(sizes)


def changed(folder: Path) -> int:
    """Return when an output was last logged in *folder*, in Unix seconds, 0 for never."""
    return max((int(path.stat().st_mtime) for path in _paths(folder)), default=0)


def _end(day: str) -> float:
    """Return when that day ended, in Unix seconds; never for a name that is not a day."""
    try:
        return (datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)).timestamp()
    except (ValueError, OverflowError):
        return math.inf


def _paths(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("????-??-??.jsonl")) if folder.is_dir() else []
    return [path for path in paths if path.is_file() and not path.is_symlink()]
