"""
The memories of the index as they are written: the tables that hold one, storing one and removing one.

Apart from the rows that are read (`memories.py`), because the start of a session only reads.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.memories import changelog, pairs, scopes, unreadable
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import MAY_WAIT, KnownFile, Row
from mcp_server.adapters.index.table import Table
from mcp_server.core.changes import FileChange, Stamp
from mcp_server.core.links import all_links, as_name, names
from mcp_server.core.memory import LIST_NAMES, LISTS, WORDS, Memory
from mcp_server.core.memory_parts import Kind, Status, fingerprint
from mcp_server.core.worth.ratings import believed

_SEARCHED = ("title", "text", *LIST_NAMES, "parts")
_Vectors = dict[str, tuple[str, bytes, bytes]]  # text of a passage → model, embedding, signs


_OTHERWISE: dict[Any, type] = {bool: int, Kind: str, Status: str, tuple[str, ...]: str, float | None: float}
TABLES = (
    Table(
        "memories",
        {
            "row": int, "size": int, "mtime_ns": int, "fingerprint": str,
            **{name: _OTHERWISE.get(type) or type for name, type in Row.__annotations__.items()},
            **dict.fromkeys((*LIST_NAMES, "parts", "notes", *WORDS), str),
        },
        pk="row",
        required=("vault", "id", "path", "digest", "size", "mtime_ns", "kind", "type", "status", "title"),
        unique=(("vault", "id"), ("path",)),
        indexes=(
            # Every command compares these with the files: it need not read the texts.
            ("vault", "path", "size", "mtime_ns"),
            ("fingerprint",),
            # With a prompt only what is accepted of a repository may answer.
            ("vault", "digest"),
            ("vault", "status", "kind", "type", "updated", "source"),
        ),
        also=(
            "CREATE INDEX memories_pinned ON memories(vault) WHERE pinned = 1",
            # The memories that wait for the person are counted whenever a session starts.
            f"CREATE INDEX memories_waiting ON memories(vault) WHERE {MAY_WAIT}",
        ),
        searched=_SEARCHED,
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
)  # fmt: skip


def put(
    db: sqlite3.Connection,
    *,
    vault: str,
    memory: Memory,
    stamp: Stamp,
    digest: str,
    now: int,
    known: Sequence[KnownFile],
    searchable: bool = True,
) -> int:
    """
    Store *memory* as the content of the file at `stamp.path`; return the memory's row.

    *known* are the `known_files` of that path and of the memory's id.
    It is found by its words if *searchable*. Vectors of passages with unchanged text are kept.
    A row of another file of the vault with the same id becomes this file's: the caller looks first whether
    that file still has the id.
    """
    unreadable.leave(db, stamp.path)
    row = known[0].row if known else None
    for other in known[1:]:
        remove(db, other.path, now)  # the file now at this path took over the id of one that was deleted
    columns = _columns(vault, memory, stamp, digest, now)
    vectors = {}
    if row is not None:
        vectors = _vectors_of(db, row)
        pairs.leave(db, row, unless=columns)
        _clear(db, row)
        columns["row"] = row
    row = db.execute(
        f"INSERT INTO memories ({', '.join(columns)}) VALUES ({marks(columns)})", tuple(columns.values())
    ).lastrowid
    assert row is not None
    if searchable:
        full_text.put(db, "memories", row, {name: columns[name] for name in _SEARCHED})
    count = _put_passages(db, row, memory, vectors, searchable=searchable)
    scopes.place(db, row, vault=vault, status=memory.status.value, kind=memory.kind.value, passages=count)
    db.executemany("INSERT INTO tags VALUES (?, ?)", [(row, tag) for tag in dict.fromkeys(memory.tags)])
    db.executemany(
        "INSERT OR IGNORE INTO links (memory, rel, target, name, notes) VALUES (?, ?, ?, ?, ?)",
        [(row, link.rel, link.to, as_name(link.to), json.dumps(link.notes)) for link in all_links(memory)],
    )
    db.executemany("INSERT INTO names VALUES (?, ?)", [(row, name) for name in names(memory)])
    changelog.note_change(db, row, vault, memory.id, FileChange.MODIFIED if known else FileChange.ADDED, now)
    return row


def remove(db: sqlite3.Connection, path: str, now: int) -> str:
    """Remove the memory (or the problem) at *path* from the index; return the memory's id, '' if none."""
    unreadable.leave(db, path)
    if not (entry := db.execute("SELECT row, vault, id FROM memories WHERE path = ?", (path,)).fetchone()):
        return ""
    row, vault, memory_id = entry
    pairs.leave(db, row)
    _clear(db, row)
    changelog.note_change(db, row, vault, memory_id, FileChange.REMOVED, now)
    return str(memory_id)


def touch(db: sqlite3.Connection, stamp: Stamp) -> None:
    """Note a new stamp of a file whose bytes are those that were taken in."""
    db.execute(
        "UPDATE memories SET size = ?, mtime_ns = ? WHERE path = ?", (stamp.size, stamp.mtime_ns, stamp.path)
    )
    unreadable.leave(db, stamp.path)


def says(db: sqlite3.Connection, *, vault: str, memory: Memory, stamp: Stamp, digest: str, now: int) -> bool:
    """Tell whether the row of the file at `stamp.path` says all that *memory* says."""
    columns = _columns(vault, memory, stamp, digest, now)
    del columns["size"], columns["mtime_ns"]
    row = db.execute(f"SELECT {', '.join(columns)} FROM memories WHERE path = ?", (stamp.path,)).fetchone()
    return bool(row == tuple(columns.values()))


def _vectors_of(db: sqlite3.Connection, row: int) -> _Vectors:
    rows = db.execute(
        "SELECT p.text, v.model, v.embedding, v.signs FROM passages p JOIN vectors v ON v.passage = p.row"
        " WHERE p.memory = ?",
        (row,),
    )
    return {text: tuple(vector) for text, *vector in rows}


def _clear(db: sqlite3.Connection, row: int) -> None:
    """Delete the memory *row*, and everything that other tables hold of it."""
    db.execute("DELETE FROM vectors WHERE passage IN (SELECT row FROM passages WHERE memory = ?)", (row,))
    for table in ("passages", "tags", "links", "names"):
        db.execute(f"DELETE FROM {table} WHERE memory = ?", (row,))
    scopes.leave(db, row)
    db.execute("DELETE FROM memories WHERE row = ?", (row,))


def _put_passages(
    db: sqlite3.Connection, row: int, memory: Memory, vectors: _Vectors, *, searchable: bool
) -> int:
    """Store the passages of the memory *row*, with their *vectors* where they are known; return how many."""
    from mcp_server.core.sessions.passages import positioned  # slow to load, and hooks only read
    from mcp_server.core.text.words import index_parts

    passages = positioned(memory)
    for position, text in passages:
        parts = " ".join(index_parts(text))
        passage = db.execute(
            "INSERT INTO passages (memory, position, text, parts) VALUES (?, ?, ?, ?)",
            (row, position, text, parts),
        ).lastrowid
        assert passage is not None
        if searchable:
            full_text.put(db, "passages", passage, {"text": text, "parts": parts})
        if text in vectors:
            db.execute("INSERT INTO vectors VALUES (?, ?, ?, ?)", (passage, *vectors[text]))
    return len(passages)


def _columns(vault: str, memory: Memory, stamp: Stamp, digest: str, now: int) -> dict[str, object]:
    from mcp_server.core.provenance.instructions import reads_like_instruction

    written = stamp.mtime_ns // 1_000_000_000
    values = {name: store(getattr(memory, name)) for name, store in _STORED}
    return values | {
        "vault": vault,
        "path": stamp.path,
        "digest": digest,
        "size": stamp.size,
        "mtime_ns": stamp.mtime_ns,
        **searched_texts(memory),
        "created": believed(values["created"], written, now),
        "updated": believed(values["updated"], written, now),
        "verified": believed(values["verified"], 0, now),
        "fingerprint": fingerprint(memory.title, memory.text),
        "instructing": int(reads_like_instruction(f"{memory.title}\n{memory.text}")),
    }


def searched_texts(memory: Memory) -> dict[str, str]:
    """Return column → what is searched of *memory* there; what an index of words splits is in `parts`."""
    from mcp_server.core.text.words import index_parts

    lists = {key.name: ("\n" if key.phrases else " ").join(getattr(memory, key.name)) for key in LISTS}
    texts = {"title": memory.title, "text": memory.text, **lists}
    return texts | {"parts": " ".join(index_parts("\n".join(texts.values())))}


def _seconds(moment: datetime | None) -> int:
    return int(moment.timestamp()) if moment else 0


_TO_COLUMN: dict[object, Callable[[Any], Any]] = {
    Kind: str,
    Status: str,
    bool: int,
    tuple[str, ...]: lambda texts: json.dumps(texts) if texts else "[]",  # most have none
    datetime: _seconds,
    datetime | None: _seconds,
}
_STORED = [
    (key.name, _TO_COLUMN.get(key.type, lambda value: value))
    for key in fields(Memory)
    if key.name in (*Row._fields, *WORDS, "notes")
]
"""The columns that hold the value of a key of the file."""
