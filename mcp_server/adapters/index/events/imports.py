"""What was imported, as the ledger says: which record of which source became which memory."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index.events import Event
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.memory import Kind, Status

TABLES = (Table("imported", {"origin": str, "ref": Ref, "digest": str, "own": int}, pk="origin"),)
EVENTS = (Event("imported", ""),)


@dataclass(frozen=True, slots=True)
class Taken:
    """
    What a record became: `ref` of the memory, `digest` of what the import wanted it to say.

    `own`: the import made that memory; otherwise it was there already and said the same.
    """

    ref: str
    digest: str
    own: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """A memory that has an id already, and the fingerprint of its words."""

    vault: str
    id: str
    path: str
    fingerprint: str
    active_knowledge: bool


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in one event of the ledger: a batch of `[origin, ref, digest, own]`."""
    taken = data.get("taken")
    rows = [
        (str(one[0]), str(one[1]), str(one[2]), int(bool(one[3])))
        for one in (taken if isinstance(taken, list) else ())
        if isinstance(one, list) and len(one) == 4
    ]
    db.executemany("INSERT OR REPLACE INTO imported VALUES (?, ?, ?, ?)", rows)


def known(db: sqlite3.Connection, origins: Iterable[str]) -> dict[str, Taken]:
    """Return origin → what it became, for those *origins* that were imported before."""
    found = db.execute(
        "SELECT origin, ref, digest, own FROM imported WHERE origin IN (SELECT value FROM json_each(?))",
        (json.dumps(list(origins)),),
    )
    return {row[0]: Taken(row[1], row[2], bool(row[3])) for row in found}


def holders(db: sqlite3.Connection) -> list[Holder]:
    """Return all memories of the index, of every vault, by what an import has to know of them."""
    found = db.execute(
        "SELECT vault, id, path, fingerprint, status = ? AND kind = ? FROM memories ORDER BY row",
        (Status.ACTIVE.value, Kind.KNOWLEDGE.value),
    )
    return [Holder(row[0], row[1], row[2], row[3], bool(row[4])) for row in found]
