"""All that an index says, without the numbers that it gives its own rows."""

from mcp_server.store import Store

OF_THE_INDEX_ALONE = {
    "changes": "counts what this index saw",
    "compared": "is filled when somebody asks",
    "pairs": "is filled when somebody asks",
    "scopes": "numbers what is together",
    "scoped": "numbers what is together",
}
OWN_NUMBERS = {
    "memories": {"row", "size"}, "passages": {"row"}, "deeds": {"row"}, "receipts": {"row"},
}  # fmt: skip
"""Columns; a size is not believed of a file that was written a moment ago."""


def all_rows(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each table; where one names a memory by its number, its path stands instead."""
    with store.database.read() as db:
        paths = dict(db.execute("SELECT row, path FROM memories"))
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows_by_table = {}
        for table in tables:
            if table in OF_THE_INDEX_ALONE or "_fts" in table or table.startswith("sqlite_"):
                continue
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            columns = [at for at, name in enumerate(names) if name not in OWN_NUMBERS.get(table, ())]
            of_memory = {at for at in columns if names[at] in ("memory", "row")}
            rows = [
                tuple(paths.get(row[at], row[at]) if at in of_memory else row[at] for at in columns)
                for row in db.execute(f"SELECT * FROM {table}")
            ]
            rows_by_table[table] = sorted(rows, key=repr)
    return rows_by_table
