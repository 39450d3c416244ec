"""The ledger replayed into the index: each event goes to the tables that are derived from it."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from mcp_server.adapters.index import events
from mcp_server.adapters.index.table import Table
from mcp_server.adapters.ledger import Event, Ledger, read_events, size
from mcp_server.core.memory import parse_timestamp
from mcp_server.core.runs import UNDONE

TABLES = (Table("ledger_files", {"path": str, "offset": int}, pk="path"),)
# Errors from values that none of our lines has: another version or a person wrote the line.
_ODD = (
    ArithmeticError, AttributeError, TypeError, ValueError, sqlite3.InterfaceError, sqlite3.ProgrammingError,
)  # fmt: skip


def catch_up(db: sqlite3.Connection, ledger: Ledger) -> int:
    """Add the events that are new since the last call; return how many. Call it inside a write."""
    known = dict(db.execute("SELECT path, offset FROM ledger_files").fetchall())
    added = 0
    for path in ledger.paths():
        offset = known.get(path.name, 0)
        if size(path) == offset:
            continue
        if size(path) < offset:
            offset = 0  # the file was replaced: counting twice is better than not at all
        for event, behind in read_events(path, offset):
            _add(db, event, path.name, behind)
            added += 1
            offset = behind
        db.execute("INSERT OR REPLACE INTO ledger_files VALUES (?, ?)", (path.name, offset))
    return added


def behind(db: sqlite3.Connection, ledger: Ledger) -> bool:
    """Tell whether the ledger has lines that were not taken in yet."""
    known = dict(db.execute("SELECT path, offset FROM ledger_files").fetchall())
    return any(size(path) != known.get(path.name, 0) for path in ledger.paths())


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
    from mcp_server.adapters.index.events import deeds

    db.execute("SAVEPOINT line")
    try:
        at = int(parse_timestamp(event.at).timestamp())
        _add_to_tables(db, event.event, event.data, at)
        if event.event == UNDONE:
            _take_back(db, event.data)
        deeds.keep(db, event.event, event.data, at, place=(file, behind))
    except _ODD:
        db.execute("ROLLBACK TO line")
    db.execute("RELEASE line")


def _add_to_tables(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    for module in events.taking_in().get(event, ()):
        module.add(db, event, data, at)
