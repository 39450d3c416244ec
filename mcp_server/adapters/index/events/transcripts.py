"""
How far each transcript was read, by the ledger: the queue of the worker.

In bytes: *seen* is how much of it a hook reported, *kept* how much is in the raw tier, *learned* how much a
model has read. Turns are known by their keys, so that the copies in a forked or rewritten
transcript are neither kept nor learned again.
"""

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow, a_list, a_number
from mcp_server.adapters.index.table import Table

TABLES = (
    Table(
        "transcripts",
        {
            "path": str, "session": str, "folder": str, "began": int, "at": int, "ended": int, "seen": int,
            "kept": int, "learned": int, "paid_from": int, "before": str, "skipping": int,
        },
        pk="path",
        defaults={
            "ended": 0, "seen": 0, "kept": 0, "learned": 0, "paid_from": 0, "before": "", "skipping": 0,
        },
    ),
    Table("turns", {"key": str, "path": str, "learned": int}, pk="key"),
)  # fmt: skip
EVENTS = (
    EventRow("transcript_seen", None, local=True),
    EventRow("transcript_kept", None, counted=True, local=True),
    EventRow("transcript_learned", None, counted=True, local=True),
    EventRow("consented", "the person's word on calls of the model was noted", local=True),
)
ENDED, LOOKED_AT = 1, 2  # a session that ended is read once more: its agents may have gone on alone
COLUMNS = "path, session, folder, at, ended, seen, kept, learned, paid_from, before, skipping"


class Transcript(NamedTuple):
    """
    One transcript: its session and folder, and how far it was read.

    `paid_from`: what follows this byte may be sent to the model; the person consented there, or what comes
    before it is older than Daybook.
    `before` marks the bytes before `kept`, by which a rewritten file is noticed.
    `ended`: nothing more is expected soon, so that a short rest is read, too.
    `skipping`: the turn at `kept` belongs to a prompt that must not be kept.
    """

    path: str
    session: str
    folder: str
    at: int = 0
    ended: bool = False
    seen: int = 0
    kept: int = 0
    learned: int = 0
    paid_from: int = 0
    before: str = ""
    skipping: bool = False

    @property
    def paid_start(self) -> int:
        return max(self.learned, self.paid_from)

    def unread_from(self, *, paid: bool) -> int:
        """Return the byte up to which all was learned; *paid*: or may not be sent by a call with a key."""
        return self.paid_start if paid else self.learned


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in one event of the ledger; one with invalid values is left out."""
    if event == "consented":
        agrees = bool(data.get("model_calls"))
        if agrees:  # what was said before the consent is not sent
            db.execute("UPDATE transcripts SET paid_from = max(paid_from, kept)")
        db.execute("INSERT OR REPLACE INTO facts VALUES ('agreed', ?)", (str(int(agrees)),))
        return
    path, end = str(data.get("path", "")), a_number(data.get("end"))
    if not path or end is None:
        return
    keys = [str(key) for key in a_list(data.get("turns"))]
    match event:
        case "transcript_seen":
            _add_seen(db, path, end, data, at)
        case "transcript_kept":
            _add_kept(db, path, end, data)
            db.executemany("INSERT OR IGNORE INTO turns VALUES (?, ?, 0)", [(key, path) for key in keys])
        case "transcript_learned":
            db.execute("UPDATE transcripts SET learned = ? WHERE path = ?", (end, path))
            db.executemany("UPDATE turns SET learned = 1 WHERE key = ?", [(key,) for key in keys])


def _add_seen(db: sqlite3.Connection, path: str, end: int, data: dict[str, Any], at: int) -> None:
    """Note that the transcript at *path* has *end* bytes, and whether its session ended."""
    db.execute(
        "INSERT INTO transcripts (path, session, folder, began, at, ended, seen, paid_from)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE"
        " SET session = excluded.session, folder = excluded.folder,"
        " began = min(began, excluded.began), at = excluded.at, seen = excluded.seen,"
        # Two hooks of the last turn may note the same end in either order.
        " ended = iif(excluded.ended OR excluded.seen > seen, excluded.ended, ended),"
        " paid_from = max(paid_from, excluded.paid_from)",
        (
            path, str(data.get("session", "")), str(data.get("folder", "")),
            # A backfilled one is of another day.
            min(a_number(data.get("since")) or at, at), min(a_number(data.get("until")) or at, at),
            bool(data.get("ended")), end, end if data.get("unsent") else 0,
        ),
    )  # fmt: skip


def _add_kept(db: sqlite3.Connection, path: str, end: int, data: dict[str, Any]) -> None:
    """Note that the transcript at *path* is in the raw tier up to the byte *end*."""
    db.execute(
        "UPDATE transcripts SET kept = ?, before = ?, skipping = ?, learned = min(learned, ?) WHERE path = ?",
        (end, str(data.get("before", "")), bool(data.get("skipping")), end, path),
    )
    if (whole := a_number(data.get("whole"))) is not None:  # a hook may report another value by now
        db.execute(
            f"UPDATE transcripts SET seen = kept, ended = iif(ended, {LOOKED_AT}, 0)"
            " WHERE path = ? AND seen = ?",
            (path, whole),
        )


def agreed(db: sqlite3.Connection) -> bool:
    """Tell whether the person had agreed to model calls when a worker last checked."""
    row = db.execute("SELECT value FROM facts WHERE name = 'agreed'").fetchone()
    return bool(row) and row[0] == "1"


def known(db: sqlite3.Connection, path: str) -> Transcript | None:
    """Return how far the transcript at *path* was read, None when none was reported."""
    transcripts = _select(db, "path = ?", (path,))
    return transcripts[0] if transcripts else None


def unkept(db: sqlite3.Connection) -> list[Transcript]:
    """
    Return the transcripts that may hold more than the raw tier has, in the order in which they were reported.

    So a fork follows its original, however often that grew.
    """
    return _select(db, f"seen != kept OR ended = {ENDED}", ())


def late(db: sqlite3.Connection, before: int) -> int:
    """Return how many transcripts last reported before that Unix second are not fully in the raw tier."""
    rows = db.execute("SELECT count(*) FROM transcripts WHERE seen != kept AND at < ?", (before,))
    return int(rows.fetchone()[0])


def last_kept(db: sqlite3.Connection) -> int:
    """Return the Unix second at which a session ended last that is fully in the raw tier, or 0."""
    row = db.execute("SELECT max(at) FROM transcripts WHERE seen = kept AND kept > 0 AND ended").fetchone()
    return int(row[0] or 0)


def unlearned(db: sqlite3.Connection, *, paid: bool) -> list[Transcript]:
    """Return the transcripts with text that no model has read; *paid*: and that may be sent to one."""
    return _select(db, "kept > max(learned, paid_from)" if paid else "kept > learned", ())


def fresh_keys(db: sqlite3.Connection, keys: Iterable[str]) -> set[str]:
    """Return those of *keys* that no transcript had."""
    all_keys = list(keys)
    rows = db.execute(
        "SELECT key FROM turns WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(all_keys),)
    )
    return set(all_keys) - {row[0] for row in rows}


def unlearned_keys(db: sqlite3.Connection, path: str, keys: Iterable[str]) -> set[str]:
    """Return those of *keys* that appeared first in the transcript at *path* and that no model has read."""
    rows = db.execute(
        "SELECT key FROM turns WHERE path = ? AND learned = 0 AND key IN (SELECT value FROM json_each(?))",
        (path, json.dumps(list(keys))),
    )
    return {row[0] for row in rows}


def told_since(db: sqlite3.Connection, since: int) -> list[Transcript]:
    """Return the transcripts that a hook reported after that Unix second, without those of agents."""
    return _select(db, "at > ? AND path NOT LIKE '%/subagents/%'", (since,))


def of_session(db: sqlite3.Connection, session: str) -> list[Transcript]:
    """Return the transcripts of *session* and of its agents."""
    return _select(db, "session = ?", (session,))


def _select(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> list[Transcript]:
    rows = db.execute(f"SELECT {COLUMNS} FROM transcripts WHERE {where} ORDER BY rowid", values)
    return [
        Transcript(
            path, session, folder, at, bool(ended), seen, kept, learned, paid_from, before, bool(skipping)
        )
        for path, session, folder, at, ended, seen, kept, learned, paid_from, before, skipping in rows
    ]
