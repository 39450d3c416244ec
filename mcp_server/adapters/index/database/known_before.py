"""Which memories an index knew before it was deleted, or a folder before it went away."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable


class KnownBefore:
    """The memories of an index file that was deleted while open: their files may be gone, too."""

    def __init__(self) -> None:
        self._number = 0
        self._paths: dict[str, dict[str, str]] = {}

    def keep(self, connection: sqlite3.Connection, number: int) -> None:
        """Keep the ids and paths in the index of *connection*; its deleted file has that inode *number*."""
        if number == self._number:
            return  # another thread was faster
        self._number = number
        with contextlib.suppress(sqlite3.Error):
            for vault, memory_id, path in connection.execute("SELECT vault, id, path FROM memories"):
                self._paths.setdefault(vault, {})[memory_id] = path

    def take(self, vault: str) -> dict[str, str]:
        """Return id → path of the memories known in *vault*, and forget them."""
        return self._paths.pop(vault, {})


def ids_below(db: sqlite3.Connection, folder: str) -> dict[str, str]:
    """Return id → path of the memories whose files lie in *folder* or below."""
    inside = f"{folder}{os.sep}"
    rows = db.execute("SELECT id, path FROM memories WHERE substr(path, 1, ?) = ?", (len(inside), inside))
    return dict(rows.fetchall())


def ids_among(db: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Return those of *ids* that any memory of any vault has."""
    rows = db.execute(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )
    return {str(row[0]) for row in rows}
