"""The ledger's events of use, added up for each memory in the table that `usage` reads."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from mcp_server.adapters.index.events import receipts, trust
from mcp_server.adapters.index.events.values import a_list
from mcp_server.core.memory import DAY, parse_timestamp
from mcp_server.core.worth import ratings

# What the person wrote on this machine or accepted, and what Claude wrote with nothing against it.
_ACCEPTING = frozenset(
    (
        *("remembered", "revised", "undone", "accepted", "pinned", "unpinned", "trusted"),
        *("judged_origin", "session_titled", "archived", "restored"),
    )
)
OUTSIDE = "at "  # what stands for the session, before the moment, of a use in none: each is one of its own
IMPORTED = "imported"
TAKEN_BACK = frozenset({"accepted"})
EVENTS = _ACCEPTING | {IMPORTED, "recalled", "used", "injected", "promoted", "demoted"}


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; a memory counts once in it, however often it is named."""
    if event == IMPORTED:
        for ref, times, last, *more in a_list(data.get("used")):
            seen = int(parse_timestamp(last).timestamp()) if last else 0
            retrieved, used, moves = more or (0, 0, ())  # a line of an earlier version has the accesses alone
            counted = "accesses = accesses + ?, last_access = max(last_access, ?)"
            counted += ", retrieved = retrieved + ?, used = used + ?"
            _move(db, str(ref), counted, int(times), min(seen, at), int(retrieved), int(used))
            for reason, moment in moves:
                trust.move(db, str(ref), str(reason), min(int(moment), at))
        return
    session = str(data.get("session") or "")
    refs = [str(ref) for ref in a_list(data.get("refs"))]
    answers = receipts.confident(data)
    for ref in dict.fromkeys(refs):
        match event:
            case "recalled" if ref in answers:
                _access(db, ref, at)
                _retrieve(db, ref, at)
            case "injected" if data.get("why") != receipts.START:
                # What every session is told at its start answered no question, so it cannot have failed one.
                _retrieve(db, ref, at)
            case "used":
                _use(db, ref, at, session)
            case "promoted":
                _move(db, ref, "promoted = max(promoted, ?), counted_from = 0", at)
            case "demoted":
                _move(db, ref, "promoted = 0, counted_from = accesses")
            case _:
                pass
    digests = [str(digest) for digest in a_list(data.get("digests"))]
    if event in ("injected", "recalled"):
        given = [(session, ref, digest) for ref, digest in zip(refs, digests, strict=False)]
        db.executemany("INSERT OR REPLACE INTO injected VALUES (?, ?, ?)", given)
        pointers = [(session, str(ref), str(digest)) for ref, digest in a_list(data.get("pointers"))]
        db.executemany("INSERT OR REPLACE INTO pointed VALUES (?, ?, ?)", pointers)
    elif event in _ACCEPTING:
        db.executemany("INSERT OR IGNORE INTO accepted VALUES (?)", [(digest,) for digest in digests])


def take_back(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take back that somebody accepted bytes."""
    db.executemany(
        "DELETE FROM accepted WHERE digest = ?", [(str(each),) for each in a_list(data.get("digests"))]
    )


def _access(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an access; one that was promoted and went cold since has to earn its place like any other."""
    long_ago = at - int(ratings.COLD_AFTER * DAY)
    _move(db, ref, "promoted = CASE WHEN max(promoted, last_access) <= ? THEN 0 ELSE promoted END", long_ago)
    _move(db, ref, "accesses = accesses + 1, last_access = max(last_access, ?)", at)


def _retrieve(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an answer that held the memory; the fifth that was of no use lowers the trust in it, once."""
    _move(db, ref, "retrieved = retrieved + 1")
    retrieved, used = db.execute("SELECT retrieved, used FROM usage WHERE ref = ?", (ref,)).fetchone()
    if retrieved >= ratings.LOW_UTILITY_AFTER and not used and not trust.was_moved(db, ref, "low_utility"):
        trust.move(db, ref, "low_utility", at)


def _use(db: sqlite3.Connection, ref: str, at: int, session: str) -> None:
    """Count a use, once for a session; it is an access unless the session's recall was one already."""
    known = (session or f"{OUTSIDE}{at}", ref, at)
    if not db.execute("INSERT OR IGNORE INTO used VALUES (?, ?, ?)", known).rowcount:
        return
    if not receipts.answered(db, session, ref):
        _access(db, ref, at)
    _move(db, ref, "used = used + 1")
    trust.move(db, ref, "used", at, session=session)


def _move(db: sqlite3.Connection, ref: str, assignment: str, *values: float) -> None:
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    db.execute(f"UPDATE usage SET {assignment} WHERE ref = ?", (*values, ref))
