"""Memories in the index, read back: rows, and what a memory's file was like when it was taken in."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mcp_server.adapters.index.memories.filters import marks
from mcp_server.core.changes import BY_PATH, Stamp
from mcp_server.core.memory_parts import Kind, Status, ref_of
from mcp_server.core.provenance.provenance import ASSISTANT, SEARCHED_ALONE

MAY_WAIT = f"(source IN ({', '.join(map(repr, (ASSISTANT, *sorted(SEARCHED_ALONE))))}) OR instructing = 1)"
"""The memories that an index by vault covers: a query uses it when it says this word for word."""


class Row(NamedTuple):
    """
    What the index knows of one memory; times are Unix seconds, 0 where there is none.

    A tuple, because the start of a session makes hundreds within a tenth of a second.
    """

    row: int
    vault: str
    id: str
    path: str
    digest: str
    kind: Kind
    type: str
    status: Status
    title: str
    text: str
    tags: tuple[str, ...]
    source: str
    pinned: bool
    trust: float | None
    category: str
    session: str
    created: int
    updated: int
    verified: int
    valid_from: int
    valid_to: int
    superseded_by: str
    touches: tuple[str, ...]
    instructing: bool

    @property
    def ref(self) -> str:
        """The ledger's name of the memory."""
        return ref_of(self.vault, self.id)

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.created, UTC)

    @property
    def updated_at(self) -> datetime:
        return datetime.fromtimestamp(self.updated, UTC)


COLUMNS = ", ".join(Row._fields)


def stamps(db: sqlite3.Connection, vault: str) -> list[Stamp]:
    """Return the stamps of all files of *vault* that the index has seen, sorted by path."""
    rows = db.execute(
        "SELECT path, size, mtime_ns FROM unreadable WHERE vault = :vault UNION ALL"
        " SELECT path, size, mtime_ns FROM memories WHERE vault = :vault"
        " AND path NOT IN (SELECT path FROM unreadable WHERE vault = :vault)",
        {"vault": vault},
    )
    return sorted(map(Stamp._make, rows), key=BY_PATH)


def stamps_of(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, int]:
    """Return row → mtime in nanoseconds of its file when it was taken in."""
    rows = db.execute(
        "SELECT row, mtime_ns FROM memories WHERE row IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    return dict(rows.fetchall())


class KnownFile(NamedTuple):
    """
    A file as the index knows it: its row, path, the digest of its bytes, and the fingerprint of its words.

    `has_id`: it is the one that has the id that was asked for.
    """

    row: int
    path: str
    digest: str
    fingerprint: str
    has_id: bool


def known_files(db: sqlite3.Connection, vault: str, memory_id: str, path: str) -> list[KnownFile]:
    """Return what the index knows of the file at *path*, then of the one of *vault* that has that id."""
    rows = db.execute(
        "SELECT row, path, digest, fingerprint, vault = ? AND id = ? FROM memories"
        " WHERE path = ? OR (vault = ? AND id = ?) ORDER BY path = ? DESC",
        (vault, memory_id, path, vault, memory_id, path),
    )
    return [*map(KnownFile._make, rows)]


def rows(db: sqlite3.Connection, where: str, values: Sequence[object], order: str = "") -> list[Row]:
    """Return the memories for which the SQL condition *where* holds."""
    tail = f" ORDER BY {order}" if order else ""
    return [*map(_row, db.execute(f"SELECT {COLUMNS} FROM memories WHERE {where}{tail}", values))]


def by_rows(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, Row]:
    """Return the memories with those row numbers; numbers of deleted rows are left out."""
    numbers_json = json.dumps([*numbers])
    of_numbers = (
        rows(db, "row IN (SELECT value FROM json_each(?))", (numbers_json,)) if numbers_json != "[]" else []
    )
    return {row.row: row for row in of_numbers}


def nearest_ids(db: sqlite3.Connection, vaults: Sequence[str], memory_id: str) -> list[str]:
    """Return up to three ids of *vaults* that share a part with *memory_id*, else those spelled like it."""
    from difflib import get_close_matches  # slow to load, and needed only for an unknown id

    ids = [row[0] for row in db.execute(f"SELECT id FROM memories WHERE vault IN ({marks(vaults)})", vaults)]
    lowered = memory_id.lower()
    stem = lowered.rpartition("-")[0] or lowered
    return [id for id in ids if stem[:12] in id][:3] or get_close_matches(lowered, ids, n=3)


def _row(columns: Sequence[object]) -> Row:
    values = list(columns)
    for at, convert in _CONVERSIONS:
        values[at] = convert(values[at])
    return Row._make(values)


# By tables, and without JSON where there is nothing: rows are read by hundreds.
_FROM_COLUMN: dict[object, Callable[[Any], object]] = {
    Kind: {kind.value: kind for kind in Kind}.__getitem__,
    Status: {status.value: status for status in Status}.__getitem__,
    bool: bool,
    tuple[str, ...]: lambda text: tuple(json.loads(text)) if text != "[]" else (),
}
_CONVERSIONS = [
    (at, (lambda text: tuple(text.split())) if name == "tags" else _FROM_COLUMN[type])
    for at, (name, type) in enumerate(Row.__annotations__.items())
    if type in _FROM_COLUMN
]
