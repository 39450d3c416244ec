"""What the ledger says about use, added up for each memory."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_server.core import dials

EVENTS = frozenset({"recalled", "used", "injected", "confirmed", "remembered", "revised", "accepted"})


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts of one memory; times are Unix seconds, 0 for never."""

    accesses: int = 0
    last_access: int = 0
    retrieved: int = 0
    used: int = 0
    trust_moved: float = 0.0
    last_confirmed: int = 0


UNUSED = Usage()


def usage_of(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, Usage]:
    """Return ref → counts for those *refs* that were ever used."""
    found = db.execute(
        "SELECT ref, accesses, last_access, retrieved, used, trust_moved, last_confirmed FROM usage"
        " WHERE ref IN (SELECT value FROM json_each(?))",
        (json.dumps(list(refs)),),
    )
    return {row[0]: Usage(*row[1:]) for row in found}


def accepted_digests(db: sqlite3.Connection, digests: Iterable[str]) -> set[str]:
    """Return which of *digests* the person wrote or accepted on this machine."""
    found = db.execute(
        "SELECT digest FROM accepted WHERE digest IN (SELECT value FROM json_each(?))",
        (json.dumps(list(digests)),),
    )
    return {str(row[0]) for row in found}


def injected(db: sqlite3.Connection, session: str) -> set[tuple[str, str]]:
    """Return (ref, digest) of what *session* was already given, as it was then."""
    return set(db.execute("SELECT ref, digest FROM injected WHERE session = ?", (session,)))


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger."""
    refs = [str(ref) for ref in _list(data.get("refs"))]
    for ref in refs:
        match event:
            case "recalled":
                _move(db, ref, "retrieved = retrieved + 1, " + _ACCESS, at)
            case "used":
                _move(db, ref, "used = used + 1, " + _ACCESS, at)
            case "injected":
                _move(db, ref, "retrieved = retrieved + ?", 1)
            case "confirmed":
                _move(db, ref, "last_confirmed = max(last_confirmed, ?)", at)
                _move(db, ref, "trust_moved = trust_moved + ?", dials.TRUST_EVENTS["confirmed"])
            case _:
                pass
    digests = [str(digest) for digest in _list(data.get("digests"))]
    if event == "injected":
        session = str(data.get("session"))
        given = [(session, ref, digest) for ref, digest in zip(refs, digests, strict=False)]
        db.executemany("INSERT OR REPLACE INTO injected VALUES (?, ?, ?)", given)
    elif event in ("remembered", "revised", "accepted"):
        db.executemany("INSERT OR IGNORE INTO accepted VALUES (?)", [(digest,) for digest in digests])


_ACCESS = "accesses = accesses + 1, last_access = max(last_access, ?)"


def _move(db: sqlite3.Connection, ref: str, assignment: str, value: float) -> None:
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    db.execute(f"UPDATE usage SET {assignment} WHERE ref = ?", (value, ref))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
