"""The ledger replayed into the index: each event goes to the tables that are derived from it."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_server.adapters.index import events
from mcp_server.adapters.index.table import Table
from mcp_server.adapters.ledger import Event, Ledger, Watermark, read_events, size
from mcp_server.core.memory_parts import parse_timestamp
from mcp_server.core.remote import OF_COPY
from mcp_server.core.runs import UNDONE

TABLES = (Table("ledger_files", {"path": str, "offset": int}, pk="path"),)
_Line = tuple[Event, str, int]  # an event, the file of its line, and the offset after it
# Errors from values that none of our lines has: another version or a person wrote the line.
_ODD = (
    ArithmeticError, AttributeError, TypeError, ValueError, sqlite3.InterfaceError, sqlite3.ProgrammingError,
)  # fmt: skip


def taken_in(db: sqlite3.Connection) -> Watermark:
    """Return up to where the ledger was taken in: what this transaction knows."""
    return dict(db.execute("SELECT path, offset FROM ledger_files").fetchall())


def catch_up(db: sqlite3.Connection, ledger: Ledger) -> int:
    """Add the events that are new since the last call; return how many. Call it inside a write."""
    offsets = taken_in(db)
    added, new = 0, dict[str, int]()
    for event, file, end in _in_order(ledger, offsets, new):
        _add(db, event, file, end)
        added, new[file] = added + 1, end
    db.executemany("INSERT OR REPLACE INTO ledger_files VALUES (?, ?)", new.items())
    return added


def _in_order(ledger: Ledger, offsets: Mapping[str, int], new: dict[str, int]) -> Iterator[_Line]:
    """
    Yield the new lines of all files, those of several machines in the order of their moments.

    Puts into *new* from where each file is read. What other machines wrote of themselves alone is left out.
    """
    own: list[Path] = []
    others: dict[str, list[Path]] = {}
    for path in ledger.paths():
        offset = offsets.get(path.name, 0)
        if size(path) == offset:
            continue
        # The file was replaced if it is shorter: counting twice is better than not at all.
        new[path.name] = offset if size(path) > offset else 0
        machine = path.stem.rpartition(OF_COPY)[2]
        (others.setdefault(machine, []) if OF_COPY in path.name else own).append(path)
    machines = [_lines(paths, new) for paths in (own, *others.values()) if paths]
    if len(machines) == 1:
        return machines[0]
    import heapq  # only for the person who has several machines

    return heapq.merge(*machines, key=lambda line: line[0].at)


def _lines(paths: Sequence[Path], new: dict[str, int]) -> Iterator[_Line]:
    """Yield the lines of one machine's files, which its months order, from the places in *new* on."""
    for path in paths:
        for event, end in read_events(path, new[path.name]):
            row = events.table().get(event.event) if OF_COPY in path.name else None
            if row and row.local:
                new[path.name] = end
            else:
                yield event, path.name, end


def behind(db: sqlite3.Connection, ledger: Ledger) -> bool:
    """Tell whether the ledger has an event that was not taken in yet; a line cut short at its end is none."""
    return next(not_taken_in(db, ledger), None) is not None


def not_taken_in(db: sqlite3.Connection, ledger: Ledger) -> Iterator[Event]:
    """Yield the events that were not taken in yet, for a process that can only read the index."""
    offsets = taken_in(db)
    return (event for event, _, _ in _in_order(ledger, offsets, {}))


def is_taken_back(event: str) -> bool:
    """Tell whether `undo` takes back the effects of *event* on the index, apart from files."""
    return bool(events.taking_back(event))


def _take_back(db: sqlite3.Connection, undone: Mapping[str, Any]) -> None:
    """Take back the lines of a change that changed no file and were *undone*; with `again` take them in."""
    for note in undone.get("notes") or ():
        data = dict(note)
        event, at = str(data.pop("event")), int(parse_timestamp(str(data.pop("at"))).timestamp())
        if undone.get("again"):
            _add_to_tables(db, event, data, at)
        else:
            for module in events.taking_back(event):
                module.take_back(db, event, data, at)


def _add(db: sqlite3.Connection, event: Event, file: str, behind: int) -> None:
    """Take in one event; a line with invalid values is skipped whole, and stops no other."""
    from mcp_server.adapters.index.events import deeds, moves

    db.execute("SAVEPOINT line")
    try:
        at = int(parse_timestamp(event.at).timestamp())
        data = moves.under_new_names(db, event.event, event.data)
        _add_to_tables(db, event.event, data, at)
        if event.event == UNDONE:
            _take_back(db, data)
        deeds.keep(db, event.event, data, at, place=(file, behind))
    except _ODD:
        db.execute("ROLLBACK TO line")
    db.execute("RELEASE line")


def _add_to_tables(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    for module in events.taking_in().get(event, ()):
        module.add(db, event, data, at)
