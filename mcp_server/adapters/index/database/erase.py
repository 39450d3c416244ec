"""Erasing what SQLite keeps of deleted text: free pages, search segments and the write-ahead log."""

from mcp_server.adapters.index import full_text
from mcp_server.adapters.index.database.database import Database


def erase_traces(database: Database) -> None:
    """
    Leave no byte of deleted rows in the index.

    `secure_delete` overwrites free pages; the search tables keep deleted words until their segments
    are merged; the log is emptied last, unless another process reads it at this moment.
    """
    database.delete_copies()
    compact(database)


def compact(database: Database) -> None:
    """
    Return the pages that the index does not need to the file system.

    Waits some seconds for a process that writes; raises IndexUnavailable when it takes longer.
    """
    with database.write() as db:
        full_text.merge(db)
    with database.alone() as db:
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
