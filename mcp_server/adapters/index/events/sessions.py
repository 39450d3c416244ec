"""Claude Code's sessions, by the ledger: when, where, about what, and which changes were reported to each."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import Table
from mcp_server.adapters.ledger import Watermark

TABLES = (
    Table(
        "sessions",
        {
            "id": str, "short": str, "folder": str, "vault": str, "started": int, "last": int, "ended": int,
            "topic": str, "summary": str, "watermark": str, "forgotten": int,
        },
        pk="id",
        defaults={
            "short": "", "folder": "", "vault": "", "started": 0, "last": 0, "ended": 0,
            "topic": "", "summary": "", "watermark": "", "forgotten": 0,
        },
        indexes=(("short",),),
    ),
)  # fmt: skip
EVENTS = (
    EventRow("session_started", None, counted=True, local=True),
    EventRow("session_told", None, local=True),
    EventRow("session_titled", "what the session is about was noted", accepts=True, local=True),
    EventRow("session_ended", None, local=True),
    EventRow("session_forgotten", "", local=True),
)
LONGEST_SHORT = 64  # characters; ids that share this many go by the full id
_GOING_ON = ("session_started", "session_told")


class SessionRow(NamedTuple):
    """
    One session; times in Unix seconds, 0 where there is none.

    `short` is the eight characters that tools name it by, `vault` is the key of its project's vault
    ('' outside a project), `watermark` is up to where it was told what other sessions did, None when it never
    registered for that.
    """

    id: str
    short: str
    folder: str
    vault: str
    started: int
    last: int
    ended: int
    topic: str
    summary: str
    watermark: Watermark | None
    forgotten: int = 0


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; fields that it does not name stay as they were."""
    session = str(data.get("session") or "")
    if not session:
        return
    db.execute("INSERT OR IGNORE INTO sessions (id, started) VALUES (?, ?)", (session, at))
    values: dict[str, object] = {
        key: str(data[key]) for key in ("short", "folder", "vault", "topic", "summary") if data.get(key)
    }
    if isinstance(data.get("watermark"), dict):
        values["watermark"] = json.dumps(data["watermark"])
    if event == "session_ended":
        values["ended"] = at
    elif event in _GOING_ON:
        values["ended"] = 0  # an event after the end opens the session again
    elif event == "session_forgotten":
        values["forgotten"] = 0 if data.get("undone") else at
    if not values:
        return
    assignments = ", ".join(f"{name} = ?" for name in values)
    # Events about a session after its end are not part of it.
    last = at if event in (*_GOING_ON, "session_ended") else 0
    db.execute(
        f"UPDATE sessions SET last = max(last, ?), {assignments} WHERE id = ?",
        (last, *values.values(), session),
    )


def with_id(db: sqlite3.Connection, session: str) -> SessionRow | None:
    """Return the session with that id, None when no hook or tool reported it."""
    sessions = _rows(db, "id = ?", (session,), limit=1)
    return sessions[0] if sessions else None


def with_name(db: sqlite3.Connection, name: str) -> SessionRow | None:
    """Return the session with that id or short id, the latest if there are several."""
    sessions = _rows(db, "id = ? OR short = ?", (name, name), limit=1)
    return sessions[0] if sessions else None


def short_of(db: sqlite3.Connection, session: str) -> str:
    """Return the short name of *session*: the first eight characters of its id, more if others share them."""
    if (reported := with_id(db, session)) and reported.short:
        return reported.short
    lengths = [*range(8, min(len(session), LONGEST_SHORT), 4), len(session)]
    names = {
        str(row[0])
        for row in db.execute(
            "SELECT short FROM sessions WHERE id != ?"
            " AND short IN (SELECT substr(?, 1, value) FROM json_each(?))",
            (session, session, json.dumps(lengths)),
        )
    }
    return next((session[:length] for length in lengths if session[:length] not in names), session)


def told_last(db: sqlite3.Connection, vault: str) -> SessionRow | None:
    """Return the last session of the project with *vault* that has a summary, None when none has."""
    sessions = _rows(db, "vault = ? AND summary != '' AND forgotten = 0", (vault,), limit=1)
    return sessions[0] if sessions else None


def is_any_open(db: sqlite3.Connection) -> bool:
    """Tell whether the end of some session was not reported: it runs, or was killed."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM sessions WHERE ended = 0)").fetchone()[0])


def latest(db: sqlite3.Connection, vaults: Sequence[str], *, limit: int) -> list[SessionRow]:
    """Return the sessions that worked in one of the projects with these *vaults*, the latest first."""
    return _rows(db, f"vault IN ({marks(vaults)})", vaults, limit=limit)


def _rows(db: sqlite3.Connection, where: str, bound: Sequence[object], *, limit: int) -> list[SessionRow]:
    rows = db.execute(
        "SELECT id, short, folder, vault, started, last, ended, topic, summary, watermark, forgotten"
        " FROM sessions"
        f" WHERE {where} ORDER BY last DESC, id LIMIT {int(limit)}",
        bound,
    )
    return [SessionRow(*(*row[:9], json.loads(row[9]) if row[9] else None, row[10])) for row in rows]
