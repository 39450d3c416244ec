"""
The tables of the index.

There are no migrations: another schema number means that the index is made anew from the files.
"""

import sqlite3
import time

from mcp_server.core.provenance.provenance import ASSISTANT

SCHEMA = 14
TOKENIZER = "porter unicode61"
MAY_WAIT = f"(source = '{ASSISTANT}' OR instructing = 1)"
"""Of which memories there is an index by vault: a search that says so, word for word, uses it."""


def prepare() -> None:
    """Import what makes tables: 0.3 s, and needed only when an index is made."""
    import sqlite_utils  # noqa: F401


def create(connection: sqlite3.Connection) -> None:
    """Create every table in an empty database and stamp it with the schema number."""
    import sqlite_utils  # see `prepare`

    db = sqlite_utils.Database(connection)
    db.table("memories").create(
        {
            "row": int, "vault": str, "id": str, "path": str, "digest": str, "size": int, "mtime_ns": int,
            "kind": str, "type": str, "status": str, "title": str, "text": str, "tags": str, "parts": str,
            "source": str, "pinned": int, "trust": float, "category": str, "session": str,
            "created": int, "updated": int, "verified": int, "valid_from": int, "valid_to": int,
            "superseded_by": str, "touches": str, "fingerprint": str, "instructing": int, "notes": str,
        },
        pk="row",
        not_null={"vault", "id", "path", "digest", "size", "mtime_ns", "kind", "type", "status", "title"},
    )  # fmt: skip
    db.table("memories").create_index(["vault", "id"], unique=True)
    db.table("memories").create_index(["path"], unique=True)
    # Every command on the command line compares these with the files: it need not read the texts beside them.
    db.table("memories").create_index(["vault", "path", "size", "mtime_ns"])
    db.table("memories").create_index(["fingerprint"])
    db.table("memories").create_index(["vault", "status", "kind", "type", "updated", "source"])
    connection.execute("CREATE INDEX memories_pinned ON memories(vault) WHERE pinned = 1")
    # What waits for the person is counted whenever a session starts.
    connection.execute(f"CREATE INDEX memories_waiting ON memories(vault) WHERE {MAY_WAIT}")
    db.table("memories").enable_fts(
        ["title", "text", "tags", "parts"], tokenize=TOKENIZER, create_triggers=True
    )

    connection.execute(
        "CREATE TABLE scopes (scope INTEGER PRIMARY KEY, vault TEXT NOT NULL, status TEXT NOT NULL,"
        " kind TEXT NOT NULL, held INTEGER NOT NULL DEFAULT 0, passages INTEGER NOT NULL DEFAULT 0,"
        " UNIQUE (vault, status, kind))"
    )
    db.table("scoped").create({"row": int, "scope": int, "passages": int}, pk="row")

    # A passage is never changed in place, and AUTOINCREMENT never gives a number twice:
    # whoever holds a vector by its passage's number cannot mistake it for another.
    connection.execute(
        "CREATE TABLE passages (row INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL,"
        " position INTEGER NOT NULL, text TEXT NOT NULL, parts TEXT NOT NULL)"
    )
    db.table("passages").create_index(["memory"])
    db.table("passages").enable_fts(["text", "parts"], tokenize=TOKENIZER, create_triggers=True)
    db.table("vectors").create(
        # `signs` last: reading every embedding need not pass over them.
        {"passage": int, "model": str, "embedding": bytes, "signs": bytes},
        pk="passage",
    )
    db.table("vectors").create_index(["model"])

    # `fuller` is the row of the one of two that says all of the other, 0 when neither does.
    db.table("pairs").create(
        {"one": int, "other": int, "nearness": float, "differs": str, "fuller": int}, pk=("one", "other")
    )
    db.table("pairs").create_index(["other"])
    db.table("pairs").create_index(["nearness"])
    connection.execute("CREATE INDEX pairs_fuller ON pairs(fuller) WHERE fuller > 0")
    db.table("compared").create({"memory": int, "model": str}, pk="memory")

    db.table("tags").create({"memory": int, "tag": str}, pk=("memory", "tag"))
    db.table("tags").create_index(["tag"])
    # `name` is the target as it is compared with what memories are called: id, title and aliases.
    db.table("links").create(
        {"memory": int, "rel": str, "target": str, "name": str, "notes": str}, pk=("memory", "rel", "target")
    )
    db.table("links").create_index(["target"])
    db.table("links").create_index(["name"])
    db.table("links").create_index(["rel", "target", "memory"])
    db.table("names").create({"memory": int, "name": str}, pk=("memory", "name"))
    db.table("names").create_index(["name"])
    db.table("unreadable").create(
        {"path": str, "vault": str, "size": int, "mtime_ns": int, "line": int, "reason": str}, pk="path"
    )
    connection.execute(
        "CREATE TABLE changes (generation INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL,"
        " vault TEXT NOT NULL, id TEXT NOT NULL, change TEXT NOT NULL, at INTEGER NOT NULL)"
    )

    # An index that is made anew gives no number that one before gave, whoever still holds it: both count from
    # the microsecond of now, and no index gives a million numbers in a second.
    connection.executemany(
        "INSERT INTO sqlite_sequence VALUES (?, ?)",
        [(table, time.time_ns() // 1000) for table in ("passages", "changes")],
    )

    db.table("usage").create(
        {
            "ref": str, "accesses": int, "last_access": int, "retrieved": int, "used": int,
            "trust_moved": float, "last_confirmed": int, "trust_least": float, "trust_most": float,
            "promoted": int, "counted_from": int,
        },
        pk="ref",
        defaults={
            "accesses": 0, "last_access": 0, "retrieved": 0, "used": 0,
            "trust_moved": 0.0, "last_confirmed": 0, "trust_least": 0.0, "trust_most": 1.0,
            "promoted": 0, "counted_from": 0,
        },
    )  # fmt: skip
    connection.execute("CREATE INDEX usage_promoted ON usage(promoted) WHERE promoted > 0")
    db.table("used").create({"session": str, "ref": str, "at": int}, pk=("session", "ref"))
    db.table("trust_events").create(
        {"ref": str, "at": int, "reason": str, "amount": float, "session": str, "note": str}
    )
    db.table("trust_events").create_index(["ref"])
    connection.execute(
        "CREATE TABLE receipts (row INTEGER PRIMARY KEY, answer INTEGER NOT NULL, at INTEGER NOT NULL,"
        " session TEXT NOT NULL, why TEXT NOT NULL, ref TEXT NOT NULL, score REAL,"
        " tokens INTEGER NOT NULL, said TEXT NOT NULL, confident INTEGER NOT NULL)"
    )
    db.table("receipts").create_index(["session", "ref"])
    db.table("receipts").create_index(["at"])
    db.table("prompts").create({"at": int, "session": str, "injected": int})
    db.table("transitions").create(
        {"first": str, "second": str, "count": int, "at": int}, pk=("first", "second")
    )
    db.table("last_recalls").create({"session": str, "refs": str, "at": int}, pk="session")
    db.table("touched").create({"ref": str, "path": str, "digest": str, "at": int}, pk=("ref", "path"))
    # The last sign of life of each month, so that a line from a clock that was ahead hides no earlier one.
    db.table("life").create({"ref": str, "month": int, "at": int}, pk=("ref", "month"))
    db.table("kept").create({"ref": str}, pk="ref")
    for given in ("injected", "pointed"):  # as text, by its title
        db.table(given).create({"session": str, "ref": str, "digest": str}, pk=("session", "ref"))
    db.table("accepted").create({"digest": str}, pk="digest")
    db.table("accepted_bytes").create({"ref": str, "digest": str}, pk=("ref", "digest"))
    db.table("transcripts").create(
        {
            "path": str, "session": str, "folder": str, "at": int, "ended": int, "seen": int, "kept": int,
            "learned": int, "paid_from": int, "before": str, "skipping": int,
        },
        pk="path",
        defaults={
            "ended": 0, "seen": 0, "kept": 0, "learned": 0, "paid_from": 0, "before": "", "skipping": 0,
        },
    )  # fmt: skip
    db.table("turns").create({"key": str, "path": str, "learned": int}, pk="key")
    db.table("calls").create(
        {
            "call": str, "at": int, "item": str, "usd": float, "settled": int, "outcome": str, "tokens": int,
        },
        pk="call",
        defaults={"tokens": 0},
    )  # fmt: skip
    db.table("calls").create_index(["item"])
    db.table("call_sessions").create({"session": str, "call": str, "share": float}, pk=("session", "call"))
    db.table("pauses").create({"at": int, "until": int, "reason": str, "settings": str})
    db.table("sightings").create(
        {"candidate": str, "session": str, "times": int, "at": int}, pk=("candidate", "session")
    )
    db.table("judged").create({"candidate": str, "verdict": str}, pk="candidate")
    db.table("resolved").create({"one": str, "other": str, "said": str, "telling": str}, pk=("one", "other"))
    db.table("seeds").create(
        {"vault": str, "file": str, "section": str, "ref": str, "said": str}, pk=("vault", "file", "section")
    )
    db.table("tidied").create(
        {"run": str, "vault": str, "step": str, "reason": str, "changes": str, "undone": int}
    )
    db.table("tidied").create_index(["run"])
    db.table("tidied_groups").create({"digest": str}, pk="digest")
    db.table("put_away").create({"ref": str, "status": str, "reason": str, "at": int}, pk="ref")
    db.table("upkeep").create(
        {"scope": str, "tried": int, "at": int, "pieces": int, "active": int, "open": str, "left": int},
        pk="scope",
        defaults={"tried": 0, "at": 0, "pieces": 0, "active": 0, "open": "", "left": 0},
    )
    db.table("unattended").create({"run": str, "at": int, "told": int}, pk="run", defaults={"told": 0})
    connection.execute(
        "CREATE TABLE audit (row INTEGER PRIMARY KEY, file TEXT NOT NULL, offset INTEGER NOT NULL,"
        " at INTEGER NOT NULL, event TEXT NOT NULL, ref TEXT NOT NULL, session TEXT NOT NULL,"
        " detail TEXT NOT NULL)"
    )
    db.table("audit").create_index(["file", "offset"])
    db.table("audit").create_index(["ref"])
    db.table("audit").create_index(["session"])
    db.table("sessions").create(
        {
            "id": str, "short": str, "folder": str, "vault": str, "started": int, "last": int, "ended": int,
            "topic": str, "summary": str, "watermark": str, "forgotten": int,
        },
        pk="id",
        defaults={
            "short": "", "folder": "", "vault": "", "started": 0, "last": 0, "ended": 0,
            "topic": "", "summary": "", "watermark": "", "forgotten": 0,
        },
    )  # fmt: skip
    db.table("sessions").create_index(["short"])
    db.table("imported").create({"origin": str, "ref": str, "digest": str, "own": int}, pk="origin")
    db.table("tally").create({"day": int, "event": str, "times": int}, pk=("day", "event"))
    db.table("graph_seen").create(
        {"session": str, "told": int, "seen": str}, pk="session", defaults={"told": 0, "seen": "{}"}
    )
    db.table("ledger_files").create({"path": str, "offset": int}, pk="path")
    db.table("facts").create({"name": str, "value": str}, pk="name")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def number(connection: sqlite3.Connection) -> int:
    """Return the schema number of the database, 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_of_others(connection: sqlite3.Connection) -> bool:
    """Tell whether a database without a schema number is another tool's, such as claude-memory."""
    columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(memories)")}
    return bool(columns) and "vault" not in columns


def drop(connection: sqlite3.Connection) -> None:
    """Drop every table, whatever schema made them."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for name, sql in connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        # Virtual tables first: dropping one drops its shadow tables.
        " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
    ).fetchall():
        del sql
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
    connection.execute("PRAGMA user_version = 0")
