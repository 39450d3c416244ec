"""How each memory was used, and what each session was given: the events of use of the ledger, added up."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mcp_server.adapters.index import events
from mcp_server.adapters.index.events import EventRow, a_list, a_number, receipts, trust
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.memory_parts import DAY, parse_timestamp
from mcp_server.core.worth import ratings
from mcp_server.core.worth.ratings import HotRule, Moved

TABLES = (
    Table(
        "usage",
        {
            "ref": Ref, "accesses": int, "last_access": int, "retrieved": int, "used": int,
            "trust_moved": float, "last_confirmed": int, "trust_least": float, "trust_most": float,
            "promoted": int, "counted_from": int, "longest_pause": int,
        },
        pk="ref",
        defaults={
            "accesses": 0, "last_access": 0, "retrieved": 0, "used": 0,
            "trust_moved": 0.0, "last_confirmed": 0, "trust_least": 0.0, "trust_most": 1.0,
            "promoted": 0, "counted_from": 0, "longest_pause": 0,
        },
        also=("CREATE INDEX usage_promoted ON usage(promoted) WHERE promoted > 0",),
    ),
    Table("used", {"session": str, "ref": Ref, "at": int}, pk=("session", "ref")),
    Table("injected", {"session": str, "ref": Ref, "digest": str}, pk=("session", "ref")),  # as text
    Table("pointed", {"session": str, "ref": Ref, "digest": str}, pk=("session", "ref")),  # by its title
    Table("accepted", {"digest": str}, pk="digest"),
)  # fmt: skip
EVENTS = (
    EventRow("used", None, counted=True, alive=True),
    EventRow("promoted", "", alive=True),
    EventRow("demoted", ""),
)
WITHDRAWN = "team_withdrawn"  # see `team`
ALSO = frozenset({"imported", "recalled", "injected", WITHDRAWN})
GIVING = ("injected", "recalled")
AFRESH = "afresh"  # in such an event: what the session was given before is no longer in its context
TAKEN_BACK = frozenset({"accepted", "promoted", "demoted"})
RESTORED = ("promoted", "counted_from", "longest_pause")  # counts that `undo` brings back
OUTSIDE = "at "  # before the moment, stands for the session of a use outside any: each such use counts alone


class Usage(NamedTuple):
    """
    Counts of one memory; times are Unix seconds, 0 for never.

    `trust_moved`, `trust_least` and `trust_most` are a `ratings.Moved`; `counted_from` is how many accesses
    the memory had at its demotion. `longest_pause` is the longest time without an access between two of them
    since its promotion, in seconds.
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
    longest_pause: int = 0

    @property
    def moved(self) -> Moved:
        return Moved(self.trust_moved, self.trust_least, self.trust_most)

    @property
    def last_heat(self) -> int:
        """When it was last accessed, or put into the hot set."""
        return max(self.last_access, self.promoted)

    def is_promoted(self, rule: HotRule) -> bool:
        """Tell whether it is promoted: one that went cold since must earn its place like any other."""
        return self.promoted > 0 and self.longest_pause < rule.days * DAY

    def is_hot(self, rule: HotRule, now: int, *, pinned: bool) -> bool:
        """Tell whether the memory belongs to the hot set at *now*."""
        return ratings.is_hot(
            rule,
            accesses=self.accesses - self.counted_from,
            age=(now - self.last_heat) / DAY,
            pinned=pinned,
            promoted=self.is_promoted(rule),
        )


UNUSED = Usage()


def trust_of(row: Row, usage: Usage, now: int) -> float:
    """Return the trust in a memory now, 0 to 1."""
    base = ratings.base_trust(row.trust, row.source)
    since = max(row.verified, usage.last_confirmed, row.updated)
    return ratings.trust(row.type, usage.moved.of(base), (now - since) / DAY)


def usage_of(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, Usage]:
    """Return ref → counts for those *refs* that were ever used."""
    rows = db.execute(
        "SELECT ref, accesses, last_access, retrieved, used, trust_moved, last_confirmed, trust_least,"
        " trust_most, promoted, counted_from, longest_pause FROM usage"
        " WHERE ref IN (SELECT value FROM json_each(?))",
        (json.dumps(list(refs)),),
    )
    return {row[0]: Usage(*row[1:]) for row in rows}


def accepted_digests(db: sqlite3.Connection, digests: Iterable[str]) -> set[str]:
    """Return which of *digests* are of bytes that the person wrote or accepted on this machine."""
    rows = db.execute(
        "SELECT digest FROM accepted WHERE digest IN (SELECT value FROM json_each(?))",
        (json.dumps(list(digests)),),
    )
    return {str(row[0]) for row in rows}


def given(data: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return (ref, digest) of what an event of `GIVING` says that a session was given: as text, by title."""
    refs, digests = (map(str, a_list(data.get(name))) for name in ("refs", "digests"))
    pointers = [pair for pair in a_list(data.get("pointers")) if isinstance(pair, list) and len(pair) == 2]
    titles = [(str(ref), str(digest)) for ref, digest in pointers]
    return list(zip(refs, digests, strict=False)), titles


def injected(db: sqlite3.Connection, session: str) -> set[tuple[str, str]]:
    """Return (ref, digest) of what *session* has in its context, with the digest of that time."""
    return set(db.execute("SELECT ref, digest FROM injected WHERE session = ?", (session,)))


def pointed(db: sqlite3.Connection, session: str) -> set[tuple[str, str]]:
    """Return (ref, digest) of what *session* was already pointed to, with the digest of that time."""
    return set(db.execute("SELECT ref, digest FROM pointed WHERE session = ?", (session,)))


def takes(row: EventRow) -> bool:
    """Tell whether events of that *row* say how memories were used, or accept what they say."""
    return row.accepts or row in EVENTS or row.name in ALSO


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; a memory counts once in it, even if named twice."""
    if event == "imported":
        _add_imported(db, data, at)
        return
    if event == WITHDRAWN:
        take_back(db, event, data, at)
        return
    for ref in dict.fromkeys(map(str, a_list(data.get("refs")))):
        _count(db, ref, event, data, at)
    if event in GIVING:
        _give(db, data)
    elif events.table()[event].accepts:
        digests = [(str(digest),) for digest in a_list(data.get("digests"))]
        db.executemany("INSERT OR IGNORE INTO accepted VALUES (?)", digests)


def _add_imported(db: sqlite3.Connection, data: Mapping[str, Any], at: int) -> None:
    """Add what the source of an import knows of the use of its memories."""
    for ref, accesses, last, *more in a_list(data.get("used")):
        last_access = int(parse_timestamp(last).timestamp()) if last else 0
        retrieved, used, moves = more or (0, 0, ())  # a line of an earlier version has only the accesses
        counted = "accesses = accesses + ?, last_access = max(last_access, ?)"
        counted += ", retrieved = retrieved + ?, used = used + ?"
        _move(db, str(ref), counted, int(accesses), min(last_access, at), int(retrieved), int(used))
        for reason, moment in moves:
            trust.move(db, str(ref), str(reason), min(int(moment), at))


def _count(db: sqlite3.Connection, ref: str, event: str, data: Mapping[str, Any], at: int) -> None:
    """Count what an event with *data* says of the use of the memory *ref*."""
    match event:
        case "recalled" if ref in receipts.confident(data):
            _access(db, ref, at)
            _retrieve(db, ref, at)
        case "injected" if data.get("why") != receipts.START:
            # The brief at a session's start answers no question, so no retrieval is counted.
            _retrieve(db, ref, at)
        case "used":
            _use(db, ref, at, str(data.get("session") or ""))
        case "promoted":
            _move(db, ref, "promoted = max(promoted, ?), counted_from = 0, longest_pause = 0", at)
        case "demoted":
            _move(db, ref, "promoted = 0, counted_from = accesses")
        case _:
            pass


def _give(db: sqlite3.Connection, data: Mapping[str, Any]) -> None:
    """Note what a session was given, by the *data* of an event of `GIVING`."""
    session = str(data.get("session") or "")
    for table, pairs in zip(("injected", "pointed"), given(data), strict=True):
        if data.get(AFRESH):
            db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
        rows = [(session, ref, digest) for ref, digest in pairs]
        db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)


def take_back(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take back that the person accepted bytes, or put a memory into the hot set or out of it."""
    if event in ("promoted", "demoted"):
        was = data.get("was")
        before = was if isinstance(was, dict) else {}
        counts = [a_number(before.get(name)) or 0 for name in RESTORED]
        for ref in map(str, a_list(data.get("refs"))):
            _move(db, ref, ", ".join(f"{name} = ?" for name in RESTORED), *counts)
        return
    db.executemany(
        "DELETE FROM accepted WHERE digest = ?", [(str(digest),) for digest in a_list(data.get("digests"))]
    )


def _access(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an access, and of a promoted memory the time without one before it."""
    pause = "longest_pause = iif(promoted > 0, max(longest_pause, ? - max(promoted, last_access)), 0)"
    _move(db, ref, pause, at)
    _move(db, ref, "accesses = accesses + 1, last_access = max(last_access, ?)", at)


def _retrieve(db: sqlite3.Connection, ref: str, at: int) -> None:
    """Count an answer with the memory; the fifth one that was not used lowers its trust, once."""
    _move(db, ref, "retrieved = retrieved + 1")
    retrieved, used = db.execute("SELECT retrieved, used FROM usage WHERE ref = ?", (ref,)).fetchone()
    if retrieved >= ratings.LOW_UTILITY_AFTER and not used and not trust.was_moved(db, ref, "low_utility"):
        trust.move(db, ref, "low_utility", at)


def _use(db: sqlite3.Connection, ref: str, at: int, session: str) -> None:
    """Count a use, once per session; it is also an access unless the session's recall already was one."""
    use = (session or f"{OUTSIDE}{at}", ref, at)
    if not db.execute("INSERT OR IGNORE INTO used VALUES (?, ?, ?)", use).rowcount:
        return
    if not receipts.answered(db, session, ref):
        _access(db, ref, at)
    _move(db, ref, "used = used + 1")
    trust.move(db, ref, "used", at, session=session)


def _move(db: sqlite3.Connection, ref: str, assignment: str, *values: float) -> None:
    db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
    db.execute(f"UPDATE usage SET {assignment} WHERE ref = ?", (*values, ref))
