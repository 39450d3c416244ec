"""What changed the trust in each memory, and why, by the ledger."""

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.worth import ratings
from mcp_server.core.worth.ratings import Moved

TABLES = (
    Table(
        "trust_events",
        {"ref": Ref, "at": int, "reason": str, "amount": float, "session": str, "note": str},
        indexes=(("ref",),),
    ),
)
EVENTS = (
    EventRow("confirmed", "confirmed by another session", counted=True, alive=True),
    EventRow("trusted", "", accepts=True),
)
TAKEN_BACK = frozenset({"confirmed", "trusted"})


class TrustEvent(NamedTuple):
    """One change: when (Unix seconds), why, by how much, in which session, and the note on it."""

    at: int
    reason: str
    amount: float
    session: str
    note: str


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; an unknown reason changes nothing."""
    session, note = str(data.get("session") or ""), str(data.get("note") or "")
    for ref in _refs(data):
        move(db, ref, _reason(event, data), at, session=session, note=note)


def take_back(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take back one change of the trust in each memory that the event names; other changes stay."""
    for ref in _refs(data):
        db.execute(
            "DELETE FROM trust_events WHERE rowid ="
            " (SELECT max(rowid) FROM trust_events WHERE ref = ? AND reason = ? AND at = ?)",
            (ref, _reason(event, data), at),
        )
        moved, confirmed = Moved(), 0
        for amount, when in db.execute(
            "SELECT amount, at FROM trust_events WHERE ref = ? ORDER BY rowid", (ref,)
        ):
            moved, confirmed = moved.by(amount), max(confirmed, when if amount > 0 else 0)
        _put(db, ref, moved, confirmed)


def move(
    db: sqlite3.Connection, ref: str, reason: str, at: int, *, session: str = "", note: str = ""
) -> None:
    """Change the trust in *ref* for *reason*; a reason in its favour also restarts its half-life."""
    amount = ratings.TRUST_EVENTS.get(reason)
    if amount is None:
        return
    db.execute("INSERT INTO trust_events VALUES (?, ?, ?, ?, ?, ?)", (ref, at, reason, amount, session, note))
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    rows = db.execute(
        "SELECT trust_moved, trust_least, trust_most, last_confirmed FROM usage WHERE ref = ?", (ref,)
    )
    *before, confirmed = rows.fetchone()
    _put(db, ref, Moved(*before).by(amount), max(confirmed, at if amount > 0 else 0))


def was_moved(db: sqlite3.Connection, ref: str, reason: str) -> bool:
    """Tell whether the trust in *ref* ever changed for *reason*."""
    rows = db.execute("SELECT 1 FROM trust_events WHERE ref = ? AND reason = ? LIMIT 1", (ref, reason))
    return rows.fetchone() is not None


def history(db: sqlite3.Connection, ref: str, *, limit: int) -> list[TrustEvent]:
    """Return what changed the trust in *ref*, latest first."""
    rows = db.execute(
        "SELECT at, reason, amount, session, note FROM trust_events WHERE ref = ?"
        " ORDER BY at DESC, rowid DESC LIMIT ?",
        (ref, limit),
    )
    return [TrustEvent(*row) for row in rows]


def _put(db: sqlite3.Connection, ref: str, moved: Moved, confirmed: int) -> None:
    db.execute(
        "UPDATE usage SET trust_moved = ?, trust_least = ?, trust_most = ?, last_confirmed = ? WHERE ref = ?",
        (moved.shift, moved.least, moved.most, confirmed, ref),
    )


def _reason(event: str, data: Mapping[str, Any]) -> str:
    return "confirmed" if event == "confirmed" else str(data.get("reason"))


def _refs(data: Mapping[str, Any]) -> list[str]:
    refs = data.get("refs")
    return list(map(str, dict.fromkeys(a_list(refs))))
