"""
The tables of the index.

There are no migrations: another schema number means that the index is rebuilt from the files.
"""

import contextlib
import re
import sqlite3
import time
from pathlib import Path

from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.table import Ref, Table

SCHEMA = 28
STATEMENTS = Path(__file__).with_name("schema.sql")
"""What `tables` come to; generated, since every process that makes an index would load the library for it."""

# An index by which nothing is looked up while files are taken in: with 10,000 memories a rebuild takes an
# eighth less time when it makes these from all rows, in their order, than row by row.
_MADE_LAST = re.compile(r"CREATE INDEX \S+\s+ON \"?(?:memories|tags|links|names)\b")


def tables() -> list[Table]:
    """Return every table of the index; the modules that fill the tables of the ledger define them."""
    from mcp_server.adapters.index import events
    from mcp_server.adapters.index.memories import changelog, pairs, scopes, selections, unreadable, writing
    from mcp_server.adapters.index.search import vectors

    of_files = (writing, unreadable, scopes, pairs, changelog, selections, vectors)
    return [table for module in (*of_files, *events.modules()) for table in getattr(module, "TABLES", ())]


def statements() -> list[str]:
    """Return the statements that make every table in an empty database, without the full-text indexes."""
    return STATEMENTS.read_text(encoding="utf-8").split("\n\n")


def written_by_library() -> str:
    """Return what `STATEMENTS` must hold, of which a test makes it."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _create_by_library(connection)
        made = connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        )
        return "\n\n".join(f"{sql};" for (sql,) in made) + "\n"


def _create_by_library(connection: sqlite3.Connection) -> None:
    import sqlite_utils  # takes a tenth of a second, and only a test needs it

    db = sqlite_utils.Database(connection)
    for table in tables():
        new_table = db.table(table.name)
        if table.sql:
            connection.execute(table.sql)
        else:
            columns = {name: str if type is Ref else type for name, type in table.columns.items()}
            new_table.create(columns, pk=table.pk, not_null=table.required, defaults=dict(table.defaults))
        for unique, indexes in ((True, table.unique), (False, table.indexes)):
            for columns_of_index in indexes:
                new_table.create_index(columns_of_index, unique=unique)
        for statement in table.also:
            connection.execute(statement)


def create(connection: sqlite3.Connection, *, searchable: bool = True) -> None:
    """
    Create every table in an empty database and stamp it with the schema number, in one transaction.

    One that is not *searchable* has no full-text indexes, and only the others that it needs to be filled,
    until `make_searchable`.
    """
    connection.execute("BEGIN IMMEDIATE")
    for statement in statements():
        if searchable or not _MADE_LAST.match(statement):
            connection.execute(statement)
    # A rebuilt index must not reuse numbers of the old one, which a process may still hold. So both count
    # from the microsecond of now, and no index gives out a million numbers in a second.
    connection.executemany(
        "INSERT INTO sqlite_sequence VALUES (?, ?)",
        [(table, time.time_ns() // 1000) for table in ("passages", "changes")],
    )
    if searchable:
        full_text.create(connection, tables())
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def make_searchable(connection: sqlite3.Connection) -> None:
    """Make the indexes of a database created without, in the transaction of *connection*."""
    for statement in filter(_MADE_LAST.match, statements()):
        connection.execute(statement)
    full_text.create(connection, tables())


def number(connection: sqlite3.Connection) -> int:
    """Return the schema number of the database, 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_of_others(connection: sqlite3.Connection) -> bool:
    """Tell whether a database is another tool's, such as claude-memory's: it has tables, but not our own."""
    tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ours = "SELECT count(*) FROM pragma_table_info('memories') WHERE name = 'vault'"
    (others,) = connection.execute(f"SELECT ({tables}) > 0 AND ({ours}) = 0").fetchone()
    return bool(others)


def drop(connection: sqlite3.Connection) -> None:
    """Drop every table of an index of ours, whatever schema made them."""
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        # Virtual tables first: dropping one drops its shadow tables. And last the one by which our index is
        # known, should a kill leave some of them.
        " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, name = 'memories'"
    ).fetchall():
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
    connection.execute("PRAGMA user_version = 0")
