"""What the ledger says about use, added up for each memory."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index import receipts, trust
from mcp_server.core import dials
from mcp_server.core.dials import Moved

# What the person or Claude wrote on this machine, or the person accepted.
_ACCEPTING = frozenset({"remembered", "revised", "accepted", "pinned", "unpinned", "trusted"})
EVENTS = _ACCEPTING | {"recalled", "used", "injected", "promoted", "demoted"}


@dataclass(frozen=True, slots=True)
class Usage:
    """
    Counts of one memory; times are Unix seconds, 0 for never.

    `trust_moved`, `trust_least` and `trust_most` are a `dials.Moved`; `counted_from` is how many accesses
    there were when it was demoted.
    """

    accesses: int = 0
    last_access: int = 0
    retrieved: int = 0
    used: int = 0
    trust_moved: float = 0.0
    last_confirmed: int = 0
    trust_least: float = 0.0
    trust_most: float = 1.0
    promoted: int = 0
    counted_from: int = 0

    @property
    def moved(self) -> Moved:
        return Moved(self.trust_moved, self.trust_least, self.trust_most)

    @property
    def last_heat(self) -> int:
        """When it was last accessed, or put into the hot set."""
        return max(self.last_access, self.promoted)

    def is_hot(self, now: int, *, pinned: bool) -> bool:
        """Tell whether the memory belongs to the hot set at *now*."""
        return dials.is_hot(
            accesses=self.accesses - self.counted_from,
            age=(now - self.last_heat) / 86_400.0,
            pinned=pinned,
            promoted=self.promoted > 0,
        )


UNUSED = Usage()


def usage_of(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, Usage]:
    """Return ref → counts for those *refs* that were ever used."""
    found = db.execute(
        "SELECT ref, accesses, last_access, retrieved, used, trust_moved, last_confirmed, trust_least,"
        " trust_most, promoted, counted_from FROM usage"
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
    """Take in one event of the ledger; a memory counts once in it, however often it is named."""
    session = str(data.get("session") or "")
    refs = [str(ref) for ref in _list(data.get("refs"))]
    for ref in dict.fromkeys(refs):
        match event:
            case "recalled":
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
    digests = [str(digest) for digest in _list(data.get("digests"))]
    if event == "injected":
        given = [(session, ref, digest) for ref, digest in zip(refs, digests, strict=False)]
        db.executemany("INSERT OR REPLACE INTO injected VALUES (?, ?, ?)", given)
    elif event in _ACCEPTING:
        db.executemany("INSERT OR IGNORE INTO accepted VALUES (?)", [(digest,) for digest in digests])


def _access(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an access; one that was promoted and went cold since has to earn its place like any other."""
    long_ago = at - int(dials.COLD_AFTER * 86_400)
    _move(db, ref, "promoted = CASE WHEN max(promoted, last_access) <= ? THEN 0 ELSE promoted END", long_ago)
    _move(db, ref, "accesses = accesses + 1, last_access = max(last_access, ?)", at)


def _retrieve(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an answer that held the memory; the fifth that was of no use lowers the trust in it, once."""
    _move(db, ref, "retrieved = retrieved + 1")
    retrieved, used = db.execute("SELECT retrieved, used FROM usage WHERE ref = ?", (ref,)).fetchone()
    if retrieved >= dials.LOW_UTILITY_AFTER and not used and not trust.was_moved(db, ref, "low_utility"):
        trust.move(db, ref, "low_utility", at)


def _use(db: sqlite3.Connection, ref: str, at: int, session: str) -> None:
    """Count a use, once for a session; it is an access unless the session's recall was one already."""
    # Outside a session every use is one of its own.
    known = (session or f"at {at}", ref, at)
    if not db.execute("INSERT OR IGNORE INTO used VALUES (?, ?, ?)", known).rowcount:
        return
    recalled = db.execute(
        "SELECT 1 FROM receipts WHERE session = ? AND ref = ? AND why = ? LIMIT 1",
        (session, ref, receipts.RECALL),
    )
    if recalled.fetchone() is None:
        _access(db, ref, at)
    _move(db, ref, "used = used + 1")
    trust.move(db, ref, "used", at, session=session)


def _move(db: sqlite3.Connection, ref: str, assignment: str, *values: float) -> None:
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    db.execute(f"UPDATE usage SET {assignment} WHERE ref = ?", (*values, ref))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
