"""What moved the trust in each memory, and why, as the ledger tells it."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_server.core import dials
from mcp_server.core.dials import Moved

EVENTS = frozenset({"confirmed", "trusted"})


@dataclass(frozen=True, slots=True)
class TrustEvent:
    """One move: when (Unix seconds), why, by how much, in which session, and what was said about it."""

    at: int
    reason: str
    amount: float
    session: str
    note: str


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; a reason that nobody knows moves nothing."""
    reason = "confirmed" if event == "confirmed" else str(data.get("reason"))
    refs = data.get("refs")
    for ref in dict.fromkeys(refs if isinstance(refs, list) else []):
        session, note = str(data.get("session") or ""), str(data.get("note") or "")
        move(db, str(ref), reason, at, session=session, note=note)


def move(
    db: sqlite3.Connection, ref: str, reason: str, at: int, *, session: str = "", note: str = ""
) -> None:
    """Move the trust in *ref* for *reason*; what speaks for it also starts its half-life anew."""
    amount = dials.TRUST_EVENTS.get(reason)
    if amount is None:
        return
    db.execute("INSERT INTO trust_events VALUES (?, ?, ?, ?, ?, ?)", (ref, at, reason, amount, session, note))
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    said = db.execute("SELECT trust_moved, trust_least, trust_most FROM usage WHERE ref = ?", (ref,))
    moved = Moved(*said.fetchone()).by(amount)
    db.execute(
        "UPDATE usage SET trust_moved = ?, trust_least = ?, trust_most = ?,"
        " last_confirmed = max(last_confirmed, ?) WHERE ref = ?",
        (moved.shift, moved.least, moved.most, at if amount > 0 else 0, ref),
    )


def was_moved(db: sqlite3.Connection, ref: str, reason: str) -> bool:
    """Tell whether the trust in *ref* was ever moved for *reason*."""
    found = db.execute("SELECT 1 FROM trust_events WHERE ref = ? AND reason = ? LIMIT 1", (ref, reason))
    return found.fetchone() is not None


def history(db: sqlite3.Connection, ref: str, *, limit: int) -> list[TrustEvent]:
    """Return what moved the trust in *ref*, the latest first."""
    found = db.execute(
        "SELECT at, reason, amount, session, note FROM trust_events WHERE ref = ?"
        " ORDER BY at DESC, rowid DESC LIMIT ?",
        (ref, limit),
    )
    return [TrustEvent(*row) for row in found]
