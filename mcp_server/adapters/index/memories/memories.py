"""
Memories in the index: storing one, removing one, and reading rows back.

It is long because the tables that hold a memory stand here.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mcp_server.adapters.index.memories import changelog, pairs, scopes
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Table
from mcp_server.core.changes import BY_PATH, FileChange, Stamp
from mcp_server.core.links import all_links, as_name, names
from mcp_server.core.memory import WORDS, Kind, Memory, Status, fingerprint
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.worth.ratings import believed

MAY_WAIT = f"(source = '{ASSISTANT}' OR instructing = 1)"
"""The memories that an index by vault covers: a query uses it when it says this word for word."""
_Vectors = dict[str, tuple[str, bytes, bytes]]  # text of a passage → model, embedding, signs


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
        return f"{self.vault}/{self.id}"

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.created, UTC)

    @property
    def updated_at(self) -> datetime:
        return datetime.fromtimestamp(self.updated, UTC)


_OTHERWISE: dict[Any, type] = {bool: int, Kind: str, Status: str, tuple[str, ...]: str, float | None: float}
COLUMNS = ", ".join(Row._fields)
TABLES = (
    Table(
        "memories",
        {
            "row": int, "size": int, "mtime_ns": int, "fingerprint": str,
            **{name: _OTHERWISE.get(type) or type for name, type in Row.__annotations__.items()},
            "parts": str, "notes": str, **dict.fromkeys(WORDS, str),
        },
        pk="row",
        required=("vault", "id", "path", "digest", "size", "mtime_ns", "kind", "type", "status", "title"),
        unique=(("vault", "id"), ("path",)),
        indexes=(
            # Every command compares these with the files: it need not read the texts.
            ("vault", "path", "size", "mtime_ns"),
            ("fingerprint",),
            ("vault", "status", "kind", "type", "updated", "source"),
        ),
        also=(
            "CREATE INDEX memories_pinned ON memories(vault) WHERE pinned = 1",
            # The memories that wait for the person are counted whenever a session starts.
            f"CREATE INDEX memories_waiting ON memories(vault) WHERE {MAY_WAIT}",
        ),
        searched=("title", "text", "tags", "parts"),
    ),
    Table(
        "passages",
        # A passage is never changed in place, and AUTOINCREMENT never reuses a number: a reader that holds a
        # vector by its passage's number cannot mistake it for another.
        sql="CREATE TABLE passages (row INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL,"
        " position INTEGER NOT NULL, text TEXT NOT NULL, parts TEXT NOT NULL)",
        indexes=(("memory",),),
        searched=("text", "parts"),
    ),
    Table("tags", {"memory": int, "tag": str}, pk=("memory", "tag"), indexes=(("tag",),)),
    Table(
        "links",
        # `name` is the target, normalised for comparison with the id, title and aliases of memories.
        {"memory": int, "rel": str, "target": str, "name": str, "notes": str},
        pk=("memory", "rel", "target"),
        indexes=(("target",), ("name",), ("rel", "target", "memory")),
    ),
    Table("names", {"memory": int, "name": str}, pk=("memory", "name"), indexes=(("name",),)),
    Table(
        "unreadable",
        {"path": str, "vault": str, "size": int, "mtime_ns": int, "line": int, "reason": str},
        pk="path",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read as a memory; `line` counts from 1, 0 for the whole file."""

    path: str
    line: int
    reason: str


def put(db: sqlite3.Connection, *, vault: str, memory: Memory, stamp: Stamp, digest: str, now: int) -> int:
    """
    Store *memory* as the content of the file at `stamp.path`; return the memory's row.

    Vectors of passages with unchanged text are kept.
    Raises sqlite3.IntegrityError when another file of the vault has the same id.
    """
    db.execute("DELETE FROM unreadable WHERE path = ?", (stamp.path,))
    rows = db.execute(
        "SELECT row, path FROM memories WHERE path = ? OR (vault = ? AND id = ?) ORDER BY path = ? DESC",
        (stamp.path, vault, memory.id, stamp.path),
    ).fetchall()
    row = rows[0][0] if rows else None
    for _, other_path in rows[1:]:
        remove(db, other_path, now)  # the file now at this path took over the id of one that was deleted
    columns = _columns(vault, memory, stamp, digest, now)
    vectors = {} if row is None else _vectors_of(db, row)
    if row is None:
        row = db.execute(
            f"INSERT INTO memories ({', '.join(columns)}) VALUES ({marks(columns)})", tuple(columns.values())
        ).lastrowid
        assert row is not None
    else:
        pairs.leave(db, row, unless=columns)
        _clear(db, row)
        assignments = ", ".join(f"{name} = ?" for name in columns)
        db.execute(f"UPDATE memories SET {assignments} WHERE row = ?", (*columns.values(), row))
    count = _put_passages(db, row, memory, vectors)
    scopes.place(db, row, vault=vault, status=memory.status.value, kind=memory.kind.value, passages=count)
    db.executemany("INSERT INTO tags VALUES (?, ?)", [(row, tag) for tag in dict.fromkeys(memory.tags)])
    db.executemany(
        "INSERT OR IGNORE INTO links (memory, rel, target, name, notes) VALUES (?, ?, ?, ?, ?)",
        [(row, link.rel, link.to, as_name(link.to), json.dumps(link.notes)) for link in all_links(memory)],
    )
    db.executemany("INSERT INTO names VALUES (?, ?)", [(row, name) for name in names(memory)])
    changelog.note_change(db, row, vault, memory.id, FileChange.MODIFIED if rows else FileChange.ADDED, now)
    return row


def remove(db: sqlite3.Connection, path: str, now: int) -> str:
    """Remove the memory (or the problem) at *path* from the index; return the memory's id, '' if none."""
    db.execute("DELETE FROM unreadable WHERE path = ?", (path,))
    if not (entry := db.execute("SELECT row, vault, id FROM memories WHERE path = ?", (path,)).fetchone()):
        return ""
    row, vault, memory_id = entry
    pairs.leave(db, row)
    _clear(db, row)
    db.execute("DELETE FROM memories WHERE row = ?", (row,))
    changelog.note_change(db, row, vault, memory_id, FileChange.REMOVED, now)
    return str(memory_id)


def put_problem(db: sqlite3.Connection, *, vault: str, stamp: Stamp, problem: Problem) -> None:
    """
    Note a file that cannot be read; a memory that was read earlier from that path keeps its last good row.

    A size of -1 in *stamp*: the cause is in another file, so the next sync looks again.
    """
    db.execute(
        "INSERT OR REPLACE INTO unreadable (path, vault, size, mtime_ns, line, reason)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (stamp.path, vault, stamp.size, stamp.mtime_ns, problem.line, problem.reason),
    )


def touch(db: sqlite3.Connection, stamp: Stamp) -> None:
    """Note a new stamp of a file whose bytes are those that were taken in."""
    db.execute(
        "UPDATE memories SET size = ?, mtime_ns = ? WHERE path = ?", (stamp.size, stamp.mtime_ns, stamp.path)
    )
    db.execute("DELETE FROM unreadable WHERE path = ?", (stamp.path,))


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


def waiting(db: sqlite3.Connection, vault: str) -> list[str]:
    """Return the paths of the files of *vault* that cannot be stored because of another file."""
    rows = db.execute("SELECT path FROM unreadable WHERE vault = ? AND size = -1 ORDER BY path", (vault,))
    return [str(row[0]) for row in rows]


def says(db: sqlite3.Connection, *, vault: str, memory: Memory, stamp: Stamp, digest: str, now: int) -> bool:
    """Tell whether the row of the file at `stamp.path` says all that *memory* says."""
    if not db.execute(
        "SELECT 1 FROM memories WHERE path = ? AND digest = ?", (stamp.path, digest)
    ).fetchone():
        return False
    columns = _columns(vault, memory, stamp, digest, now)
    del columns["size"], columns["mtime_ns"]
    row = db.execute(f"SELECT {', '.join(columns)} FROM memories WHERE path = ?", (stamp.path,)).fetchone()
    return bool(row == tuple(columns.values()))


def path_of(db: sqlite3.Connection, vault: str, memory_id: str) -> str:
    """Return the path of the file with that id in *vault*, '' when there is none."""
    row = db.execute("SELECT path FROM memories WHERE vault = ? AND id = ?", (vault, memory_id)).fetchone()
    return str(row[0]) if row else ""


def problems(db: sqlite3.Connection, vaults: Sequence[str]) -> list[Problem]:
    """Return what could not be read in *vaults*, by path."""
    sql = f"SELECT path, line, reason FROM unreadable WHERE vault IN ({marks(vaults)}) ORDER BY path"
    return [Problem(*row) for row in db.execute(sql, tuple(vaults))]


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


def _vectors_of(db: sqlite3.Connection, row: int) -> _Vectors:
    rows = db.execute(
        "SELECT p.text, v.model, v.embedding, v.signs FROM passages p JOIN vectors v ON v.passage = p.row"
        " WHERE p.memory = ?",
        (row,),
    )
    return {text: tuple(vector) for text, *vector in rows}


def _clear(db: sqlite3.Connection, row: int) -> None:
    """Delete everything that other tables hold of the memory *row*."""
    db.execute("DELETE FROM vectors WHERE passage IN (SELECT row FROM passages WHERE memory = ?)", (row,))
    for table in ("passages", "tags", "links", "names"):
        db.execute(f"DELETE FROM {table} WHERE memory = ?", (row,))
    scopes.leave(db, row)


def _put_passages(db: sqlite3.Connection, row: int, memory: Memory, vectors: _Vectors) -> int:
    """Store the passages of the memory *row*, with their *vectors* where they are known; return how many."""
    from mcp_server.core.sessions.passages import passages  # slow to load, and hooks only read
    from mcp_server.core.text.words import index_parts

    texts = passages(memory)
    for position, text in enumerate(texts):
        cursor = db.execute(
            "INSERT INTO passages (memory, position, text, parts) VALUES (?, ?, ?, ?)",
            (row, position, text, " ".join(index_parts(text))),
        )
        if text in vectors:
            db.execute("INSERT INTO vectors VALUES (?, ?, ?, ?)", (cursor.lastrowid, *vectors[text]))
    return len(texts)


def _columns(vault: str, memory: Memory, stamp: Stamp, digest: str, now: int) -> dict[str, object]:
    from mcp_server.core.provenance.instructions import reads_like_instruction
    from mcp_server.core.text.words import index_parts

    written = stamp.mtime_ns // 1_000_000_000
    values = {name: store(getattr(memory, name)) for name, store in _STORED}
    return values | {
        "vault": vault,
        "path": stamp.path,
        "digest": digest,
        "size": stamp.size,
        "mtime_ns": stamp.mtime_ns,
        "tags": " ".join(memory.tags),
        "parts": " ".join(index_parts("\n".join([memory.title, memory.text, *memory.tags]))),
        "created": believed(values["created"], written, now),
        "updated": believed(values["updated"], written, now),
        "verified": believed(values["verified"], 0, now),
        "fingerprint": fingerprint(memory.title, memory.text),
        "instructing": int(reads_like_instruction(f"{memory.title}\n{memory.text}")),
    }


def _seconds(moment: datetime | None) -> int:
    return int(moment.timestamp()) if moment else 0


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
_TO_COLUMN: dict[object, Callable[[Any], Any]] = {
    Kind: str,
    Status: str,
    bool: int,
    tuple[str, ...]: json.dumps,
    datetime: _seconds,
    datetime | None: _seconds,
}
_STORED = [
    (key.name, _TO_COLUMN.get(key.type, lambda value: value))
    for key in fields(Memory)
    if key.name in (*Row._fields, *WORDS, "notes")
]
"""The columns that hold the value of a key of the file."""
