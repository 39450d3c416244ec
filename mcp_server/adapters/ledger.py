"""
The ledger: append-only JSON lines, the truth about use and about what was done.

`ledger/<machine>-<YYYY-MM>.jsonl`, one line for each event: `{"at", "event", ...}`.
It is the history of all that was done, and what makes the index disposable.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mcp_server.adapters import files
from mcp_server.adapters.account import machine_name
from mcp_server.core.conflict_copies import original_of
from mcp_server.core.memory_parts import timestamp

Watermark = dict[str, int]
"""File of the ledger → the byte up to which a reader has read it."""

MAX_LINE = 256 * 1024  # bytes; we write no longer lines

# Events that are written before the deed wait for the disk: without them no one could complete the deed, undo
# it or count its cost after a power failure, or find what was known of memories that moved. Of all others the
# memory itself is on the disk already, and a lost line costs a count or a repeated question; waiting would
# cost each recall and prompt 2 to 5 ms.
AHEAD = frozenset({"moved", "reserved", "session_forgotten", "tidied"})


class Event(NamedTuple):
    """One event: when, what, and its data."""

    at: str
    event: str
    data: dict[str, Any]


class Ledger(NamedTuple):
    """The folder with one file for each machine and month."""

    folder: Path

    def append(self, event: str, at: datetime, **data: object) -> None:
        """Write one line; raises OSError when the disk is full or read-only."""
        self.append_all(event, at, [data])

    def append_all(
        self, event: str, at: datetime, events: Sequence[Mapping[str, object]], *, durable: bool = False
    ) -> None:
        """
        Write a line with the data of each of *events* in one step: a kill leaves all of them or none.

        With *durable*, as for events of AHEAD, they are on the disk when this returns.
        Raises OSError as `append` does; a disk that fills up may have taken the first lines then.
        """
        files.make_folder(self.folder)
        machine = re.sub(r"[^a-z0-9]+", "-", machine_name().lower()).strip("-") or "machine"
        lines = [
            json.dumps({"at": timestamp(at), "event": event, **data}, ensure_ascii=True) for data in events
        ]
        path = self.folder / f"{machine}-{at:%Y-%m}.jsonl"
        files.append_line(path, "\n".join(lines).encode("ascii"), durable=durable or event in AHEAD)

    def event_before(self, file: str, end: int) -> Event | None:
        """Return the event in the line of *file* that ends at byte *end*, None when it is not an event."""
        begin = max(0, end - MAX_LINE)
        try:
            with open(self.folder / file, "rb") as handle:
                handle.seek(begin)
                return _parsed(handle.read(end - begin).rstrip(b"\n").rpartition(b"\n")[2])
        except FileNotFoundError:
            return None

    def paths(self) -> list[Path]:
        """Return the ledger's files by name, without conflict copies, which repeat lines."""
        return [path for path in self._files() if not original_of(path.name)]

    def conflict_copies(self) -> list[Path]:
        """Return the conflict copies that a sync service left of the ledger's files."""
        return [path for path in self._files() if original_of(path.name)]

    def _files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if path.suffix == ".jsonl" and path.is_file())


def read_events(path: Path, offset: int) -> Iterator[tuple[Event, int]]:
    """
    Yield (event, the offset after it) for the complete lines of *path* from byte *offset*.

    Lines that do not parse are skipped; a last line without its line feed waits for the next reading.
    An unpaired surrogate, as in the name of a folder that is not UTF-8, is read as "?": no index can hold it.
    """
    with open(path, "rb") as handle:
        handle.seek(offset)
        while line := handle.readline(MAX_LINE):
            if not line.endswith(b"\n"):
                if len(line) < MAX_LINE:
                    return
                _skip_line(handle)
                offset = handle.tell()
                continue
            offset += len(line)
            if event := _parsed(line):
                yield event, offset


def size(path: Path) -> int:
    """Return the size of a ledger file in bytes, 0 when it is gone."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _parsed(line: bytes) -> Event | None:
    try:
        data = json.loads(line)
        if b"\\ud" in line:
            data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
        return Event(str(data.pop("at")), str(data.pop("event")), data)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None


def _skip_line(handle: Any) -> None:
    while (part := handle.readline(MAX_LINE)) and not part.endswith(b"\n"):
        pass
