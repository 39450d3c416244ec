"""
python three_processes.py FOLDER ours|raw: who opens and closes an index must not harm who holds it open.

A holds a connection and looks at the index once more, by our means or (the planted bug) by opening the
file; B opens it, reads and closes; C writes; A writes again. Prints the rows that are there at the end.

python three_processes.py FOLDER fork: a child uses a Database that its parent opened.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from mcp_server.adapters.index.database.database import Database

path = Path(sys.argv[1]) / "memory.db"
how = sys.argv[2]


def add(database: Database, name: str) -> None:
    with database.write() as db:
        db.execute("INSERT INTO facts VALUES (?, '1')", (name,))


def rows(database: Database) -> list[str]:
    with database.read() as db:
        return [row[0] for row in db.execute("SELECT name FROM facts ORDER BY name")]


def elsewhere(work: Callable[[], object]) -> None:
    """Run *work* in a process of its own, to its end."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    os.waitpid(child, 0)


def look_once_more(database: Database) -> None:
    if how == "raw":
        with open(path, "rb"):
            pass
        return
    database.set_aside_if_damaged()
    add(database, "2 A after a close look")
    other = Database(path)
    rows(other)
    other.close()
    reader = Database(path, read_only=True)
    rows(reader)
    reader.close()


def open_read_close() -> None:
    database = Database(path)
    rows(database)
    database.close()


def write_and_be_gone() -> None:
    database = Database(path)
    add(database, "3 C")
    os._exit(0)


def hold(begin: int, end: int) -> None:
    """A: hold a connection from the first row to the last."""
    database = Database(path)
    add(database, "1 A")
    look_once_more(database)
    os.write(end, b".")
    os.read(begin, 1)
    with contextlib.suppress(Exception):  # what the planted bug does to A is not the question
        add(database, "4 A")
    os.write(end, b".")
    os.read(begin, 1)


def three() -> list[str]:
    to_a, from_a = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        hold(to_a[0], from_a[1])
        os._exit(0)
    os.read(from_a[0], 1)
    elsewhere(open_read_close)
    elsewhere(write_and_be_gone)
    os.write(to_a[1], b".")
    os.read(from_a[0], 1)
    os.write(to_a[1], b".")
    os.waitpid(child, 0)
    return rows(Database(path))


def forked() -> list[str]:
    parents = Database(path)
    add(parents, "1 parent")
    parents_connection = id(parents.connection())

    def child() -> None:
        assert id(parents.connection()) != parents_connection
        add(parents, "2 child")

    elsewhere(child)
    add(parents, "3 parent")
    with parents.write() as db:
        db.execute("INSERT INTO facts VALUES ('4 parent', '1')")
        elsewhere(lambda: rows(parents))
    assert id(parents.connection()) == parents_connection
    parents.close()
    return rows(Database(path))


if __name__ == "__main__":
    print(json.dumps({"rows": forked() if how == "fork" else three()}))
