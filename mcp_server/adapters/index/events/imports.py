"""What was imported, by the ledger: which record of which source became which memory."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.digests import text_digest
from mcp_server.core.memory_parts import Kind, Status, vault_in

SEEDED = "seeded"  # the line of a document; `imported` also says that the person wants the memories kept
DOCUMENT = "document"  # the source whose records are the sections of a document, at `<vault key>/<document>`
TABLES = (
    Table(
        "imported",
        {"origin": str, "ref": Ref, "digest": str, "own": int, "what": str, "place": str},
        pk="origin",
    ),
)
EVENTS = (EventRow("imported", "", stays=("place",)), EventRow(SEEDED, "", alive=True))


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """
    The memory of a record: its `ref`, and the `digest` of the text that the import gave it.

    `own`: the import created that memory; otherwise it existed already and said the same.
    """

    ref: str
    digest: str
    own: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """A memory that already has an id, and the fingerprint of its text."""

    vault: str
    id: str
    path: str
    fingerprint: str
    active_knowledge: bool


def origin(source: str, place: str, key: str) -> str:
    """Return the ledger's name of a record: a digest, so that the ledger holds no word of it."""
    return text_digest("\0".join([source, place, key]))


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in one event of the ledger: a batch of `[origin, ref, digest, own]` from one place."""
    batch, source, place = data.get("taken"), str(data.get("what", "")), str(data.get("place", ""))
    if event == SEEDED and batch is None:
        source, place, batch = _of_before(data)
    rows = [
        (str(record[0]), str(record[1]), str(record[2]), int(bool(record[3])), source, place)
        for record in a_list(batch)
        if isinstance(record, list) and len(record) == 4
    ]
    db.executemany("INSERT OR REPLACE INTO imported VALUES (?, ?, ?, ?, ?, ?)", rows)


def _of_before(data: dict[str, Any]) -> tuple[str, str, list[list[object]]]:
    """Return the source, place and batch in a line of an earlier version, which named one section."""
    refs = [str(ref) for ref in data.get("refs") or ()]
    file, section, words_hash = (str(data.get(name, "")) for name in ("file", "section", "said"))
    place = f"{vault_in(refs[0])}/{file}" if refs else ""
    return DOCUMENT, place, [[origin(DOCUMENT, place, section), ref, words_hash, True] for ref in refs]


def known(db: sqlite3.Connection, origins: Iterable[str]) -> dict[str, ImportedRecord]:
    """Return origin → the memory, for those *origins* that were imported before."""
    rows = db.execute(
        "SELECT origin, ref, digest, own FROM imported WHERE origin IN (SELECT value FROM json_each(?))",
        (json.dumps(list(origins)),),
    )
    return {row[0]: ImportedRecord(row[1], row[2], bool(row[3])) for row in rows}


def gone(db: sqlite3.Connection, source: str, place: str, present: Collection[str]) -> list[tuple[str, str]]:
    """Return (id, title) of the active memories of *place* whose origin is no longer in *present*."""
    rows = db.execute(
        "SELECT m.id, m.title FROM imported i JOIN memories m ON m.vault || '/' || m.id = i.ref"
        " WHERE i.what = ? AND i.place = ? AND m.status = ?"
        " AND i.origin NOT IN (SELECT value FROM json_each(?)) ORDER BY i.rowid",
        (source, place, Status.ACTIVE.value, json.dumps(list(present))),
    )
    return [(str(row[0]), str(row[1])) for row in rows]


def holders(db: sqlite3.Connection) -> list[Holder]:
    """Return all memories of every vault with what an import needs to know of them."""
    rows = db.execute(
        "SELECT vault, id, path, fingerprint, status = ? AND kind = ? FROM memories ORDER BY row",
        (Status.ACTIVE.value, Kind.KNOWLEDGE.value),
    )
    return [Holder(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]
