"""
Calls of the model, by the ledger: their cost, their tries, and when the model is not called.

A reservation counts in full until its real cost is known; if its process died, it counts for ever.
"""

import json
import math
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.table import Table
from mcp_server.core.budget import MOST_TRIES, CallOutcome, Cost
from mcp_server.core.memory_parts import DAY, moment_in

TABLES = (
    Table(
        "calls",
        {"call": str, "at": int, "item": str, "usd": float, "settled": int, "outcome": str, "tokens": int},
        pk="call",
        defaults={"tokens": 0},
        indexes=(("item",),),
    ),
    Table("call_sessions", {"session": str, "call": str, "share": float}, pk=("session", "call")),
    Table("pauses", {"at": int, "until": int, "reason": str, "settings": str}),
)
EVENTS = (
    EventRow("reserved", None, local=True),
    EventRow("spent", None, counted=True, local=True),
    EventRow("paused", None, local=True),
)
PLAN = "plan"
"""The start of the names of calls on the person's own plan, and the name that its pauses are bound to."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Why the model is not called, and until when (Unix seconds, 0 for until the settings change)."""

    reason: str
    until: int


def add(db: sqlite3.Connection, event: str, data: Mapping[str, object], at: int) -> None:
    """Add one line of the ledger; a line that does not parse costs nothing."""
    call, usd = str(data.get("call")), _amount(data.get("usd"))
    if event == "reserved":
        db.execute(
            "INSERT INTO calls (call, at, item, usd, settled, outcome) VALUES (?, ?, ?, ?, 0, '')"
            " ON CONFLICT (call) DO UPDATE SET at = excluded.at, item = excluded.item",
            (call, at, str(data.get("item")), usd),
        )
        sessions = data.get("sessions")
        for session, share in sessions.items() if isinstance(sessions, dict) else ():
            db.execute(
                "INSERT OR REPLACE INTO call_sessions VALUES (?, ?, ?)",
                (session, call, min(1.0, _amount(share))),
            )
    elif event == "spent":
        db.execute(
            "INSERT INTO calls (call, at, item, usd, settled, outcome, tokens) VALUES (?, ?, '', ?, 1, ?, ?)"
            " ON CONFLICT (call) DO UPDATE SET usd = excluded.usd, settled = 1, outcome = excluded.outcome,"
            " tokens = excluded.tokens",
            (
                call,
                at,
                usd,
                str(data.get("outcome")),
                int(_amount(data.get("input")) + _amount(data.get("output"))),
            ),
        )
    elif event == "paused":
        db.execute(
            "INSERT INTO pauses (at, until, reason, settings) VALUES (?, ?, ?, ?)",
            (at, _moment(data.get("until")), str(data.get("reason")), str(data.get("settings"))),
        )


_UNREAD = ", ".join(
    f"'{outcome.value}'"
    for outcome in CallOutcome
    if outcome.needs_person or outcome in (CallOutcome.UNREACHABLE, CallOutcome.STOPPED)
)
_ON_DAY = f"at - at % {DAY} = ?"  # no later one: a clock that was ahead would use up each day until then
_ON_PLAN = f"call GLOB '{PLAN}-*'"
_ASKED = f"NOT (settled AND usd = 0 AND outcome IN ({_UNREAD}))"


def today(db: sqlite3.Connection, now: int) -> tuple[float, int]:
    """Return (USD, number) of the paid calls on the UTC day of *now*, in Unix seconds."""
    rows = db.execute(
        f"SELECT total(usd), count(*) FROM calls WHERE {_ON_DAY} AND NOT {_ON_PLAN}", (now - now % DAY,)
    )
    usd, calls = rows.fetchone()
    return float(usd), int(calls)


def today_on_plan(db: sqlite3.Connection, now: int) -> int:
    """Return the number of that day's calls on the person's own plan."""
    rows = db.execute(f"SELECT count(*) FROM calls WHERE {_ON_DAY} AND {_ON_PLAN}", (now - now % DAY,))
    return int(rows.fetchone()[0])


def today_about(db: sqlite3.Connection, beginning: str, now: int) -> int:
    """Return the number of that day's calls, paid or on the plan, about items with that *beginning*."""
    rows = db.execute(
        f"SELECT count(*) FROM calls WHERE {_ON_DAY} AND substr(item, 1, ?) = ?",
        (now - now % DAY, len(beginning), beginning),
    )
    return int(rows.fetchone()[0])


def by_day(db: sqlite3.Connection, *, since: int) -> list[tuple[int, float, int, int]]:
    """Return (first second of the UTC day, USD, paid calls, calls on the plan) from *since* on."""
    rows = db.execute(
        f"SELECT at - at % {DAY}, total(iif({_ON_PLAN}, 0, usd)), sum(NOT {_ON_PLAN}), sum({_ON_PLAN})"
        " FROM calls WHERE at >= ? GROUP BY 1 ORDER BY 1",
        (since,),
    )
    return [(int(day), float(usd), int(paid), int(plan)) for day, usd, paid, plan in rows]


def learned_today(db: sqlite3.Connection, now: int) -> int:
    """Return the number of that day's answers about sessions, usable or not, paid or on the plan."""
    rows = db.execute(
        f"SELECT count(*) FROM calls WHERE {_ON_DAY} AND outcome IN (?, ?)"
        " AND call IN (SELECT call FROM call_sessions)",
        (now - now % DAY, CallOutcome.OK.value, CallOutcome.UNUSABLE.value),
    )
    return int(rows.fetchone()[0])


def of_sessions(db: sqlite3.Connection, sessions: Collection[str]) -> dict[str, Cost]:
    """Return session → the cost of learning from it, for those of *sessions* with a call."""
    rows = db.execute(
        f"SELECT session, sum(NOT {_ON_PLAN}), sum({_ON_PLAN}), total(tokens * share), total(usd * share)"
        " FROM call_sessions JOIN calls USING (call)"
        " WHERE session IN (SELECT value FROM json_each(?)) GROUP BY session",
        (json.dumps(list(sessions)),),
    )
    return {
        str(session): Cost(int(calls), int(plan), round(tokens), float(usd))
        for session, calls, plan, tokens, usd in rows
    }


def latest_sessions(db: sqlite3.Connection, *, limit: int) -> list[tuple[str, str]]:
    """Return (id, short id) of the sessions for which a call was made, latest call first."""
    rows = db.execute(
        "SELECT s.session, coalesce(nullif(max(k.short), ''), substr(s.session, 1, 8))"
        " FROM call_sessions s JOIN calls c USING (call) LEFT JOIN sessions k ON k.id = s.session"
        " GROUP BY s.session ORDER BY max(c.at) DESC, max(c.rowid) DESC LIMIT ?",
        (limit,),
    )
    return [(str(session), str(short)) for session, short in rows]


def open_on_plan(db: sqlite3.Connection) -> list[str]:
    """Return the calls on the person's own plan whose end is not in the ledger."""
    return [str(call) for (call,) in db.execute(f"SELECT call FROM calls WHERE {_ON_PLAN} AND NOT settled")]


def tries(db: sqlite3.Connection, item: str) -> tuple[int, str]:
    """
    Return how often *item* was tried, and the outcome of its last call that ended.

    A call that never reached the service, or that it refused unread, does not count: an item is not given up
    after a day without network or credit.
    """
    rows = db.execute(
        f"SELECT outcome, settled FROM calls WHERE item = ? AND {_ASKED} ORDER BY at, rowid", (item,)
    ).fetchall()
    return len(rows), next((str(outcome) for outcome, settled in reversed(rows) if settled), "")


def timed_pause(db: sqlite3.Connection, now: int) -> Pause | None:
    """Return the pause that holds whatever the settings are."""
    return _pause(db, "", now)


def settings_pause(db: sqlite3.Connection, settings: str, now: int) -> Pause | None:
    """Return the pause that holds while the settings have the digest *settings*."""
    return _pause(db, settings, now) if settings else None


def waits_for_person(db: sqlite3.Connection, now: int) -> bool:
    """Tell whether a pause depends on some settings: whether `settings_pause` needs to be asked."""
    rows = db.execute(
        "SELECT DISTINCT settings FROM pauses WHERE settings NOT IN ('', ?)", (PLAN,)
    ).fetchall()
    return any(_pause(db, str(settings), now) for (settings,) in rows)


def given_up(db: sqlite3.Connection) -> int:
    """Return how many items will not be tried again and never got a usable reply."""
    rows = db.execute(
        f"SELECT count(*) FROM (SELECT item FROM calls WHERE item != '' AND {_ASKED} GROUP BY item"
        " HAVING (count(*) >= ? OR max(outcome = ?)) AND NOT max(outcome = ?))",
        (MOST_TRIES, CallOutcome.BAD_REQUEST.value, CallOutcome.OK.value),
    )
    return int(rows.fetchone()[0])


def _pause(db: sqlite3.Connection, settings: str, now: int) -> Pause | None:
    # The last line counts: a pause whose end has passed ends an earlier pause. A pause that begins after now
    # comes from a wrong clock, and might last for years.
    row = db.execute(
        "SELECT reason, until FROM pauses WHERE settings = ? AND at <= ?"
        " ORDER BY at DESC, rowid DESC LIMIT 1",
        (settings, now),
    ).fetchone()
    if row is None or 0 < row[1] <= now:
        return None
    return Pause(str(row[0]), int(row[1]))


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        return float(value) if math.isfinite(value) and value > 0 else 0.0
    except OverflowError:
        return 0.0


def _moment(value: object) -> int:
    """Return the Unix seconds of a timestamp in the ledger, 0 when it is '' or invalid."""
    moment = moment_in(value)
    return int(moment.timestamp()) if moment else 0
