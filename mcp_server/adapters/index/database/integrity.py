"""
Whether an index is intact: SQLite's own checks, and those that need knowledge of our tables.

The whole index is read, so this is for when something looked wrong, and for a checkup (`checkups.py`).
"""

import sqlite3

from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.database import schema
from mcp_server.adapters.index.database.trouble import NO_DAMAGE
from mcp_server.adapters.index.table import TOKENIZER
from mcp_server.core.memory_parts import Kind, Status

# What Python raises for bytes that are not text, not a number, or not a possible size of a memory.
ODD = (UnicodeDecodeError, ArithmeticError, LookupError, AttributeError, TypeError, ValueError, MemoryError)
_STORED_AS = {
    "INTEGER": "'integer'",
    "TEXT": "'text'",
    "REAL": "'real', 'integer'",
    "FLOAT": "'real', 'integer'",
    "BLOB": "'blob'",
}
_SCOPE_WRONG = (
    "SELECT 1 FROM memories m LEFT JOIN scoped USING (row) LEFT JOIN scopes s USING (scope)"
    " WHERE (m.vault, m.status, m.kind) IS NOT (s.vault, s.status, s.kind)"
)
_COUNT_WRONG = (
    "SELECT 1 FROM scopes s LEFT JOIN"
    " (SELECT scope, count(*) AS held, sum(passages) AS passages FROM scoped GROUP BY scope) f USING (scope)"
    " WHERE s.held != coalesce(f.held, 0) OR s.passages != coalesce(f.passages, 0)"
)


def may_tell_damage(error: Exception) -> bool:
    """
    Tell whether *error*, raised by a command that works on an intact index, may mean damage.

    Busy, full and unreadable do not. A damaged schema lacks tables or columns, and SQLite's message about it
    may hold bytes that are not text.
    """
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF not in NO_DAMAGE and "no such module" not in str(error)


def seems_sound(connection: sqlite3.Connection) -> bool:
    """Tell whether the quick checks find no damage in the index."""
    try:
        return connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok" and _says_what_we_write(
            connection
        )
    except (sqlite3.Error, *ODD) as error:
        return not may_tell_damage(error)


def is_sound(connection: sqlite3.Connection) -> bool:
    """
    Tell whether no check finds damage in the index.

    An index that is too busy to check, or that a newer Daybook made, counts as intact.
    """
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            return False
        if schema.number(connection) > schema.SCHEMA:
            return True
        return _has_our_tables(connection) and _says_what_we_write(connection)
    except (sqlite3.Error, *ODD) as error:
        return not may_tell_damage(error)


def _has_our_tables(connection: sqlite3.Connection) -> bool:
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        schema.create(fresh)
        return _tables(connection) == _tables(fresh)
    finally:
        fresh.close()


def _tables(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Return (kind, name, column) of everything in the schema, without SQLite's own statistics."""
    return set(
        connection.execute(
            "SELECT m.type, m.name, coalesce(c.name, '') FROM sqlite_master m"
            " LEFT JOIN pragma_table_info(m.name) c ON m.type = 'table'"
            " WHERE m.name NOT LIKE 'sqlite_stat%'"
        ).fetchall()
    )


def _says_what_we_write(connection: sqlite3.Connection) -> bool:
    # The commands that check the search tables write nothing, but hold the write lock while they run.
    for table in full_text.INDEXES:
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%_fts%'"
        " AND name NOT LIKE 'sqlite_%'"
    ).fetchall():
        columns = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
        strange = " OR ".join(
            f"typeof({name}) NOT IN ({_STORED_AS[declared]}, 'null')" for name, declared in columns
        )
        if connection.execute(f"SELECT 1 FROM {table} WHERE {strange} LIMIT 1").fetchone():
            return False
        for _ in connection.execute(f"SELECT * FROM {table}"):
            pass  # reading decodes every text
    marks = [", ".join(f"'{value}'" for value in names) for names in (Kind, Status)]
    wrong = f"kind NOT IN ({marks[0]}) OR status NOT IN ({marks[1]}) OR NOT json_valid(touches)"
    return not any(
        connection.execute(f"{query} LIMIT 1").fetchone()
        for query in (f"SELECT 1 FROM memories WHERE {wrong}", _SCOPE_WRONG, _COUNT_WRONG)
    )


def check(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError when SQLite or its search tables find something wrong."""
    result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if result != "ok":
        raise sqlite3.DatabaseError(result)
    for table in full_text.INDEXES:
        connection.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")


def check_sqlite() -> str:
    """Return SQLite's version; raise sqlite3.OperationalError when it cannot search texts."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, tokenize='{TOKENIZER}')")
    finally:
        connection.close()
    return f"{sqlite3.sqlite_version} with FTS5"
