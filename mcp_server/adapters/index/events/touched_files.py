"""What the files that memories touch looked like when the ledger last noted them."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index.table import Ref, Table

TABLES = (Table("touched", {"ref": Ref, "path": str, "digest": str, "at": int}, pk=("ref", "path")),)
ALSO = frozenset({"remembered", "revised", "trusted"})
TAKEN_BACK = frozenset({"trusted"})


@dataclass(frozen=True, slots=True)
class Touched:
    """One file that a memory touches: its path from the project's root, its digest, and when it had that."""

    path: str
    digest: str
    at: int


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; one without files leaves the noted files as they are."""
    if isinstance(touches := data.get("touched"), dict):
        _note(db, data, {path: (digest, at) for path, digest in touches.items()})


def take_back(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Note the files as they were `touched_before` that event: path → digest and when it had that."""
    if isinstance(before := data.get("touched_before"), dict):
        _note(db, data, before)


def _note(db: sqlite3.Connection, data: Mapping[str, Any], touched: Mapping[object, Any]) -> None:
    """Let each memory of the event be about the files *touched*: path → digest and when it had that."""
    for ref in map(str, data.get("refs") or []):
        db.execute("DELETE FROM touched WHERE ref = ?", (ref,))
        db.executemany(
            "INSERT OR REPLACE INTO touched VALUES (?, ?, ?, ?)",
            [(ref, str(path), str(digest), int(when)) for path, (digest, when) in touched.items()],
        )


def touched_by(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, list[Touched]]:
    """Return ref → the files noted for those of *refs* that have any."""
    by_ref: dict[str, list[Touched]] = {}
    for ref, path, digest, at in db.execute(
        "SELECT ref, path, digest, at FROM touched WHERE ref IN (SELECT value FROM json_each(?))"
        " ORDER BY ref, path",
        (json.dumps(list(refs)),),
    ):
        by_ref.setdefault(ref, []).append(Touched(path, digest, at))
    return by_ref
