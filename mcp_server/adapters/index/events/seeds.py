"""Which memory was made of which section of which document, as the ledger says."""

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import Event
from mcp_server.adapters.index.table import Table

TABLES = (
    Table(
        "seeds",
        {"vault": str, "file": str, "section": str, "ref": str, "said": str},
        pk=("vault", "file", "section"),
    ),
)
EVENTS = (Event("seeded", "", alive=True),)


class Seed(NamedTuple):
    """A section that became a memory: `said` is the fingerprint of the memory as it was made."""

    file: str
    section: str
    ref: str
    said: str

    @property
    def id(self) -> str:
        return self.ref.rpartition("/")[2]


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in that a section of a document became a memory, or changed one."""
    for ref in data.get("refs") or ():
        vault = str(ref).rpartition("/")[0]
        file, section, said = (str(data.get(name, "")) for name in ("file", "section", "said"))
        db.execute("INSERT OR REPLACE INTO seeds VALUES (?, ?, ?, ?, ?)", (vault, file, section, ref, said))


def known(db: sqlite3.Connection, vault: str, files: Sequence[str] = ()) -> list[Seed]:
    """Return what was made of *files*, or of all documents, in *vault*."""
    found = db.execute("SELECT file, section, ref, said FROM seeds WHERE vault = ? ORDER BY 1, 2", (vault,))
    return [seed for seed in map(Seed._make, found) if not files or seed.file in files]
