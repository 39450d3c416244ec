"""
`~/.memory-mcp/memory.db`: the store of the memory-mcp with the hot cache, in SQLite.

    memories(id, content, memory_type, source, is_pinned, trust_score, category, session_id, project_id,
             created_at, last_accessed_at, …)  memory_tags(memory_id, tag)
    memory_relationships(from_memory_id, to_memory_id, relation_type)

mcp-memory-service has such a table, too (`sqlite_vec.db`), with its tags in a column.
Columns and tables were added over the years, so any may be missing. We read a copy, with its write-ahead
log: opening the file itself would write there, and could disturb the server that uses it.
"""

import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.foreign.link_label import label_of
from mcp_server.core.errors import Rejected
from mcp_server.core.exchange import foreign
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.text.titles import title_of

DEFAULT = "~/.memory-mcp/memory.db"
MOST_OF_A_VALUE = 16 * 1024 * 1024  # bytes
ATTEMPTS = 5  # to copy a file while another process writes to it
_RELATIONS = ("memory_relationships", "relationships")


def read(path: Path) -> foreign.Reading:
    """Return what the database *path* holds, or the one below that folder; raises Rejected."""
    file = source_file.located(path, "memory.db")
    reading = foreign.Reading(str(file))
    with tempfile.TemporaryDirectory(prefix="daybook-") as folder:
        try:
            with closing(sqlite3.connect(_copied(file, Path(folder)))) as db:
                _read(db, file, reading)
        except sqlite3.Error as error:
            raise Rejected(f"{file} cannot be read as SQLite: {error}.", source_file.UNTOUCHED) from None
    return reading


def _read(db: sqlite3.Connection, file: Path, reading: foreign.Reading) -> None:
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    db.execute("PRAGMA trusted_schema = OFF")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_OF_A_VALUE)
    foreign.must_hold({"id", "content"} <= _columns(db, "memories"), f"{file} contains no table of memories.")
    tags: dict[object, list[object]] = defaultdict(list)
    for row in _rows(db, "memory_tags"):
        tags[row.get("memory_id")].append(row.get("tag"))
    links: dict[object, dict[Link, None]] = defaultdict(dict)
    replaced: dict[str, str] = {}
    replaces: dict[str, list[str]] = defaultdict(list)
    for row in (row for table in _RELATIONS for row in _rows(db, table)):
        rel, target = label_of(row.get("relation_type")), foreign.line_of(row.get("to_memory_id"))
        if rel == "supersedes":
            replaced[target] = foreign.line_of(row.get("from_memory_id"))
            replaces[replaced[target]].append(target)
        elif target:
            links[row.get("from_memory_id")][Link(rel, target)] = None
    records = []
    ids = {foreign.line_of(row[0]) for row in db.execute("SELECT id FROM memories")}
    for row in _rows(db, "memories"):
        if row.get("deleted_at"):  # mcp-memory-service keeps what was deleted
            continue
        key = foreign.line_of(row.get("id"))
        linked = tuple(link for link in links[row["id"]] if link.to in ids)
        records.append(_record(row, tags[row["id"]], linked, tuple(replaces[key]), replaced.get(key, "")))
    foreign.admit(records, reading)


def _record(
    row: dict[str, Any], tags: list[object], links: tuple[Link, ...], old: tuple[str, ...], successor: str
) -> foreign.Record:
    text = foreign.text_of(row.get("content"))
    project = foreign.line_of(row.get("project_id"))
    created = foreign.moment_of(row.get("created_at"))
    return foreign.Record(
        key=foreign.line_of(row["id"]),
        title=title_of(text),
        text=text,
        type=foreign.type_of(row.get("category"), row.get("memory_type")),
        tags=foreign.tags_of([*tags, *foreign.parts_of(row.get("tags"))]),
        created=created,
        updated=foreign.moment_of(row.get("updated_at")) or created,
        status=Status.SUPERSEDED if successor else Status.ACTIVE,
        pinned=row.get("is_pinned") == 1,
        trust=foreign.share_of(row.get("trust_score", row.get("trust"))),
        links=links,
        supersedes=old,
        superseded_by=successor,
        category=foreign.line_of(row.get("category"), 60),
        session=foreign.line_of(row.get("session_id"), 80),
        level=Level.PROJECT if project else Level.USER,
        project=project,
        accesses=foreign.count_of(row.get("access_count")),
        last_access=foreign.moment_of(row.get("last_accessed_at") or row.get("last_accessed")) or created,
    )


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a plain table, none of a view or anything else that runs code from the file."""
    plain = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'"
    if not db.execute(plain, (table,)).fetchone():
        return set()
    rows = db.execute(f"PRAGMA table_xinfo({table})").fetchall()
    return {str(row[1]) for row in rows} if not any(row[6] for row in rows) else set()


def _rows(db: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of *table* as column → value, none when there is no such table."""
    if not _columns(db, table):
        return
    cursor = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _copied(file: Path, folder: Path) -> Path:
    """Return a copy in *folder* of the database *file* and its log, both of one moment; raises Rejected."""
    log = Path(f"{file}-wal")
    for _ in range(ATTEMPTS):
        before = _stamps(file, log)
        if sum(size for size, _ in before) > source_file.MAX_SOURCE:
            raise Rejected(f"{file} has more than {source_file.MAX_SOURCE >> 20} MB.", source_file.UNTOUCHED)
        try:
            shutil.copyfile(file, folder / "copy.db")
            (folder / "copy.db-wal").unlink(missing_ok=True)
            if log.is_file():
                shutil.copyfile(log, folder / "copy.db-wal")
        except OSError as error:
            raise Rejected(f"{file} cannot be read: {error.strerror}.", source_file.UNTOUCHED) from None
        if _stamps(file, log) == before:
            return folder / "copy.db"
    raise Rejected(f"{file} is being written to all the time.", "End the server that uses it, and repeat.")


def _stamps(*paths: Path) -> list[tuple[int, int]]:
    return [(path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else (0, 0) for path in paths]
