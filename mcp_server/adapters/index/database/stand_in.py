"""An index in memory that answers for one that cannot be used; its maker fills it from the files."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator

from mcp_server.adapters.index.database import schema
from mcp_server.adapters.index.database.database import Database
from mcp_server.core.errors import IndexUnavailable

_making = threading.Lock()


class StandIn(Database):
    """The one index in memory of this process; its threads take turns."""

    def __init__(self, original: Database) -> None:
        super().__init__(original.path)
        self.trouble = original.trouble
        self._reason = IndexUnavailable("")
        self._alone = threading.RLock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        schema.create(self._connection)

    @classmethod
    def of(cls, original: Database, reason: IndexUnavailable) -> "StandIn":
        """Return the stand-in for *original*, which cannot be used for that *reason*; there is only one."""
        with _making:
            if not isinstance(original.substitute, cls):
                original.substitute = cls(original)
        original.substitute._reason = reason
        return original.substitute

    @property
    def stands_in(self) -> bool:
        return True

    def require(self) -> None:
        """Raise why the index cannot be used: nothing permanent may rest on a stand-in."""
        raise self._reason

    def connection(self) -> sqlite3.Connection:
        return self._connection

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        with self._alone, super().translated():
            yield

    @contextlib.contextmanager
    def alone_among_processes(self, name: str) -> Iterator[None]:
        """Run the block: no other process uses this index."""
        with self._alone:
            yield

    @contextlib.contextmanager
    def rebuilt(self) -> Iterator[Database]:
        """Refuse: a rebuild is meant for the index on the disk."""
        self.require()
        yield self

    def set_aside_if_damaged(self) -> bool:
        return False

    def delete_copies(self) -> None:
        """Do nothing: there are no copies."""

    def close(self) -> None:
        """Do nothing: another thread may be using it."""
