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
from mcp_server.core.runs import UNDONE

SEEDED = "seeded"  # the line of a document; `imported` also says that the person wants the memories kept
DOCUMENT = "document"  # the source whose records are the sections of a document, at `<vault key>/<document>`
TABLES = (
    Table(
        "imported",
        {
            "origin": str, "ref": Ref, "digest": str, "own": int, "what": str, "place": str,
            "run": str, "change": str, "undone_to": str,
        },
        pk="origin",
        indexes=(("ref",),),
    ),
)  # fmt: skip
EVENTS = (EventRow("imported", "", stays=("place",)), EventRow(SEEDED, "", alive=True))
ALSO = frozenset({UNDONE, "forgotten", "restored"})


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """
    The memory of a record: its `ref`, and the `digest` of the text that the import gave it.

    `own`: the import created that memory; otherwise it existed already and said the same. `undone_to`: the
    digest of the file as `undo` left it, '' unless the import was taken back and nobody decided since.
    """

    ref: str
    digest: str
    own: bool
    undone_to: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """An active memory whose record is no longer in its source, and what that was at its last import."""

    id: str
    title: str
    text: str
    record: ImportedRecord


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
    """
    Take in one event of the ledger: a batch of `[origin, ref, digest, own]` from one place.

    Or that an import was taken back, or done again; what is forgotten or restored by itself is decided.
    """
    if event == UNDONE:
        _take_back(db, data)
        return
    if event in ALSO:
        refs = [(str(ref),) for ref in a_list(data.get("refs"))]
        db.executemany("UPDATE imported SET undone_to = '' WHERE ref = ?", refs)
        return
    run, change = str(data.get("run") or ""), str(data.get("change") or "")
    batch, source, place = data.get("taken"), str(data.get("what", "")), str(data.get("place", ""))
    if event == SEEDED and batch is None:
        source, place, batch = _of_before(data)
    rows = [
        (str(record[0]), str(record[1]), str(record[2]), int(bool(record[3])), source, place, run, change, "")
        for record in a_list(batch)
        if isinstance(record, list) and len(record) == 4
    ]
    db.executemany("INSERT OR REPLACE INTO imported VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _take_back(db: sqlite3.Connection, data: dict[str, Any]) -> None:
    """Note the files of an import that was taken back as a whole or in part; taken back twice, it holds."""
    undoes = str(data.get("undoes") or "")
    for effect in a_list(data.get("files")):
        db.execute(
            "UPDATE imported SET undone_to = iif(undone_to = '', ?1, '') WHERE ref = ?2 AND run != ''"
            " AND (?3 IN (run, change) OR EXISTS (SELECT 1 FROM deeds d WHERE d.ref = ?2"
            "  AND d.detail ->> 'change' = ?3 AND d.detail ->> 'run' = run))",
            (str(effect[4]), str(effect[0]), undoes),
        )


def _of_before(data: dict[str, Any]) -> tuple[str, str, list[list[object]]]:
    """Return the source, place and batch in a line of an earlier version, which named one section."""
    refs = [str(ref) for ref in data.get("refs") or ()]
    file, section, words_hash = (str(data.get(name, "")) for name in ("file", "section", "said"))
    place = f"{vault_in(refs[0])}/{file}" if refs else ""
    return DOCUMENT, place, [[origin(DOCUMENT, place, section), ref, words_hash, True] for ref in refs]


def known(db: sqlite3.Connection, origins: Iterable[str]) -> dict[str, ImportedRecord]:
    """Return origin → the memory, for those *origins* that were imported before."""
    rows = db.execute(
        "SELECT origin, ref, digest, own, undone_to FROM imported"
        " WHERE origin IN (SELECT value FROM json_each(?))",
        (json.dumps(list(origins)),),
    )
    return {row[0]: ImportedRecord(row[1], row[2], bool(row[3]), row[4]) for row in rows}


def gone(db: sqlite3.Connection, source: str, place: str, present: Collection[str]) -> list[Gone]:
    """Return the active memories of *place* whose origin is no longer in *present*."""
    rows = db.execute(
        "SELECT m.id, m.title, m.text, i.ref, i.digest, i.own, i.undone_to"
        " FROM imported i JOIN memories m ON m.vault || '/' || m.id = i.ref"
        " WHERE i.what = ? AND i.place = ? AND m.status = ?"
        " AND i.origin NOT IN (SELECT value FROM json_each(?)) ORDER BY i.rowid",
        (source, place, Status.ACTIVE.value, json.dumps(list(present))),
    )
    return [
        Gone(row[0], row[1], row[2], ImportedRecord(row[3], row[4], bool(row[5]), row[6])) for row in rows
    ]


def forgotten(db: sqlite3.Connection, source: str) -> dict[str, list[str]]:
    """Return digest of the content → the refs that it had here, of what came from *source* and is gone."""
    rows = db.execute(
        "SELECT digest, ref FROM imported WHERE what = ? AND undone_to = ''"
        " AND ref NOT IN (SELECT vault || '/' || id FROM memories)",
        (source,),
    )
    refs: dict[str, list[str]] = {}
    for digest, ref in rows:
        refs.setdefault(digest, []).append(ref)
    return refs


def holders(db: sqlite3.Connection) -> list[Holder]:
    """Return all memories of every vault with what an import needs to know of them."""
    rows = db.execute(
        "SELECT vault, id, path, fingerprint, status = ? AND kind = ? FROM memories ORDER BY row",
        (Status.ACTIVE.value, Kind.KNOWLEDGE.value),
    )
    return [Holder(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]
