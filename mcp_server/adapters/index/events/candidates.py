"""How often each candidate was seen, and its verdict, by the ledger."""

import sqlite3
from typing import Any

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.table import Table

TABLES = (
    Table(
        "sightings", {"candidate": str, "session": str, "times": int, "at": int}, pk=("candidate", "session")
    ),
    Table("judged", {"candidate": str, "verdict": str}, pk="candidate"),
)
EVENTS = (EventRow("mined", None, local=True), EventRow("judged", "a candidate was settled", counted=True))
ALSO = frozenset({"transcript_kept"})
TAKEN_BACK = frozenset({"judged"})


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in one event of the ledger: candidates seen in a piece of transcript, or a verdict."""
    if event == "judged":
        verdict = str(data.get("verdict"))
        judged = [(str(key), verdict) for key in data.get("candidates") or ()]
        db.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", judged)
        return
    session = str(data.get("session", ""))
    db.executemany(
        "INSERT INTO sightings VALUES (?, ?, 1, ?) ON CONFLICT (candidate, session)"
        " DO UPDATE SET times = times + 1, at = max(at, excluded.at)",
        [(str(key), session, at) for key in data.get("sighted") or ()],
    )


def take_back(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take back verdicts on candidates: they wait again."""
    keys = [(str(key),) for key in data.get("candidates") or ()]
    db.executemany("DELETE FROM judged WHERE candidate = ?", keys)


def times(db: sqlite3.Connection, candidate: str) -> list[int]:
    """Return how often *candidate* was seen in each session, without those forgotten since."""
    rows = db.execute(
        "SELECT s.times FROM sightings s LEFT JOIN sessions f ON f.id = s.session"
        " WHERE s.candidate = ? AND s.at > coalesce(f.forgotten, 0)",
        (candidate,),
    )
    return [int(row[0]) for row in rows]


def last_seen(db: sqlite3.Connection, candidate: str) -> int:
    """Return when *candidate* was last seen, in Unix seconds, 0 for never."""
    row = db.execute("SELECT max(at) FROM sightings WHERE candidate = ?", (candidate,)).fetchone()
    return int(row[0] or 0)


def verdict_on(db: sqlite3.Connection, candidate: str) -> str:
    """Return the verdict on *candidate*: approved, rejected, expired; '' while it waits."""
    row = db.execute("SELECT verdict FROM judged WHERE candidate = ?", (candidate,)).fetchone()
    return str(row[0]) if row else ""


def times_in(db: sqlite3.Connection, candidate: str, session: str) -> int:
    """Return how often *candidate* was seen in *session*."""
    row = db.execute(
        "SELECT times FROM sightings WHERE candidate = ? AND session = ?", (candidate, session)
    ).fetchone()
    return int(row[0]) if row else 0


def verdicts(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many candidates were approved and rejected."""
    return dict(db.execute("SELECT verdict, count(*) FROM judged GROUP BY 1 ORDER BY 1").fetchall())


def verdicts_since(db: sqlite3.Connection, since: int) -> dict[str, int]:
    """Return verdict → how many candidates have got it from *since* on, in any project."""
    rows = db.execute(
        "SELECT j.verdict, count(DISTINCT j.candidate) FROM deeds d, json_each(d.detail, '$.candidates') c"
        " JOIN judged j ON j.candidate = c.value AND j.verdict = d.detail ->> 'verdict'"
        " WHERE d.event = 'judged' AND d.at >= ? GROUP BY 1 ORDER BY 1",
        (since,),
    )
    return {str(verdict): int(number) for verdict, number in rows}
