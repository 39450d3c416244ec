"""How each memory was used, as `uses` added it up from the ledger."""

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from mcp_server.core.memory import DAY
from mcp_server.core.worth import ratings
from mcp_server.core.worth.ratings import Moved


class Usage(NamedTuple):
    """
    Counts of one memory; times are Unix seconds, 0 for never.

    `trust_moved`, `trust_least` and `trust_most` are a `ratings.Moved`; `counted_from` is how many accesses
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
        return ratings.is_hot(
            accesses=self.accesses - self.counted_from,
            age=(now - self.last_heat) / DAY,
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


def pointed(db: sqlite3.Connection, session: str) -> set[tuple[str, str]]:
    """Return (ref, digest) of what *session* was already pointed to, as it was then."""
    return set(db.execute("SELECT ref, digest FROM pointed WHERE session = ?", (session,)))
