"""
What happened in each session: what it was given, how often each event happens, what recurs.

A session that no hook reported is known from its transcript and memories.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_server.adapters.index import events
from mcp_server.adapters.index.events import EventRow, deeds, receipts, usage
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.adapters.index.table import VAULT_OF_REF, Table
from mcp_server.core.memory_parts import DAY

TABLES = (Table("tally", {"day": int, "event": str, "times": int}, pk=("day", "event")),)


@dataclass(frozen=True, slots=True)
class Episode:
    """One session, from any source; times in Unix seconds, 0 where unknown."""

    id: str
    short: str
    folder: str
    started: int
    last: int
    ended: int
    topic: str
    summary: str
    forgotten: int


@dataclass(frozen=True, slots=True)
class Again:
    """A memory (its ref and title) or a tag that several sessions used, and how many did."""

    name: str
    title: str
    sessions: int
    times: int


def takes(row: EventRow) -> bool:
    """Tell whether events of that *row* are counted."""
    return row.counted


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger."""
    db.execute(
        "INSERT INTO tally VALUES (?, ?, 1) ON CONFLICT (day, event) DO UPDATE SET times = times + 1",
        (at - at % DAY, event),
    )


def days_of_use(db: sqlite3.Connection) -> list[int]:
    """Return the first second of each UTC day with an event; tidying does not count."""
    return [int(row[0]) for row in db.execute("SELECT DISTINCT day FROM tally WHERE event != 'tidied'")]


def tally(db: sqlite3.Connection, since: int) -> dict[str, int]:
    """Return event → how often it is in the ledger since that Unix second, which begins a day."""
    rows = db.execute("SELECT event, sum(times) FROM tally WHERE day >= ? GROUP BY event", (since,))
    counts = {str(event): int(times) for event, times in rows}
    return {event: counts.get(event, 0) for event, row in events.table().items() if row.counted}


_GIVEN = f"""
    (SELECT session, ref, 1 AS recalled, 0 AS used, at FROM receipts
      WHERE session != '' AND why = '{receipts.RECALL}'
    UNION ALL SELECT session, ref, 0, 1, at FROM used WHERE session NOT GLOB '{usage.OUTSIDE}*')
"""
_WRITTEN_DOWN = f"event = 'remembered' AND NOT instr(detail, '{deeds.FILES}')"
"""A deed by which the worker wrote down what was said, which it did at any time after."""
_HEARD = f"""
    SELECT id, short, folder, vault, started, last, ended, topic, summary, forgotten FROM sessions
    UNION ALL SELECT session, '', folder, '', began, at, iif(ended, at, 0), '', '', 0 FROM transcripts
      WHERE session != '' AND path NOT LIKE '%/subagents/%'
    UNION ALL SELECT session, '', '', vault, created, created, 0, '', '', 0 FROM memories WHERE session != ''
    UNION ALL SELECT session, '', '', '', at, at, 0, '', '', 0 FROM {_GIVEN}
    UNION ALL SELECT session, '', '', {VAULT_OF_REF}, at, at, 0, '', '', 0 FROM deeds
      WHERE session != '' AND event NOT LIKE 'session%' AND NOT ({_WRITTEN_DOWN})
"""
_ONE = (
    "id, max(short), max(folder), min(started), max(last), max(ended), max(topic), max(summary),"
    " max(forgotten)"
)


def known(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    folder: str,
    *,
    everywhere: bool,
    limit: int,
    offset: int = 0,
) -> list[Episode]:
    """
    Return the sessions that worked in *folder* or in a project with these *vaults*, latest first.

    *everywhere*: all sessions. The first *offset* of them are left out.
    """
    where, bound = _in_project(vaults, folder, everywhere=everywhere)
    rows = db.execute(
        f"SELECT {_ONE} FROM ({_HEARD}) GROUP BY id HAVING {where}"
        f" ORDER BY max(last) DESC, id LIMIT {int(limit)} OFFSET {int(offset)}",
        bound,
    )
    return [Episode(*row) for row in rows]


def started_by_day(
    db: sqlite3.Connection, vaults: Sequence[str], folder: str, *, everywhere: bool, since: int
) -> list[tuple[int, int]]:
    """Return (first second of the UTC day, sessions that began then) of the `known` ones, from *since* on."""
    where, bound = _in_project(vaults, folder, everywhere=everywhere)
    rows = db.execute(
        "SELECT began - began % ?, count(*) FROM"
        f" (SELECT min(nullif(started, 0)) AS began FROM ({_HEARD}) GROUP BY id HAVING {where})"
        " WHERE began >= ? GROUP BY 1 ORDER BY 1",
        (DAY, *bound, since),
    )
    return [(int(day), int(number)) for day, number in rows]


def _in_project(vaults: Sequence[str], folder: str, *, everywhere: bool) -> tuple[str, Sequence[object]]:
    """Return (SQL condition on a group, values) for sessions that worked in *folder* or with *vaults*."""
    inside = folder.rstrip("/") + "/"
    of_project = f"vault IN ({marks(vaults)}) OR folder = ? OR substr(folder, 1, ?) = ?"
    return f"? OR sum({of_project})", (everywhere, *vaults, folder, len(inside), inside)


def named(db: sqlite3.Connection, name: str) -> list[Episode]:
    """Return the sessions with that id or short id, else those whose id starts with it; at most ten."""
    episodes = [
        Episode(*row)
        for row in db.execute(
            f"SELECT {_ONE} FROM ({_HEARD}) GROUP BY id HAVING id = ? OR max(short) = ?"
            " OR substr(id, 1, ?) = ? ORDER BY max(last) DESC, id LIMIT 10",
            (name, name, len(name), name),
        )
    ]
    return [episode for episode in episodes if name in (episode.id, episode.short)] or episodes


def memories_of(db: sqlite3.Connection, session: str) -> list[Row]:
    """Return what was remembered in *session*, by the files or the ledger; oldest first."""
    return rows(
        db,
        "session = ? OR vault || '/' || id IN"
        " (SELECT ref FROM deeds WHERE session = ? AND event = 'remembered')",
        (session, session),
        "created, id",
    )


def given_to(db: sqlite3.Connection, session: str) -> list[tuple[str, str, int, int]]:
    """Return (ref, title, times recalled, times used) of what *session* was given, the latest first."""
    rows = db.execute(
        f"SELECT g.ref, coalesce(m.title, ''), sum(g.recalled), sum(g.used) FROM {_GIVEN} g"
        " LEFT JOIN memories m ON m.vault || '/' || m.id = g.ref WHERE g.session = ?"
        " GROUP BY g.ref ORDER BY max(g.at) DESC, g.ref",
        (session,),
    )
    return [(str(ref), str(title), int(recalled), int(used)) for ref, title, recalled, used in rows]


def made_of(db: sqlite3.Connection, refs: Collection[str]) -> list[Row]:
    """Return the memories that a merge wrote, in new words, from any of *refs*, unless it was undone."""
    merges = db.execute(
        "SELECT DISTINCT json_extract(t.changes, '$[0].ref') FROM tidied t, json_each(t.changes) c"
        " WHERE NOT t.undone AND json_extract(t.changes, '$[0].was') = '{}'"
        " AND json_extract(c.value, '$.ref') IN (SELECT value FROM json_each(?))",
        (json.dumps(list(refs)),),
    )
    merged_refs = [str(row[0]) for row in merges]
    return rows(db, "vault || '/' || id IN (SELECT value FROM json_each(?))", (json.dumps(merged_refs),))


def recurring_memories(db: sqlite3.Connection, vaults: Sequence[str], *, limit: int) -> list[Again]:
    """Return the memories of *vaults* that at least two sessions recalled or used, most sessions first."""
    rows = db.execute(
        f"SELECT g.ref, m.title, count(DISTINCT g.session), sum(g.recalled + g.used) FROM {_GIVEN} g"
        " JOIN memories m ON m.vault || '/' || m.id = g.ref"
        f" WHERE m.vault IN ({marks(vaults)}) GROUP BY g.ref HAVING count(DISTINCT g.session) >= 2"
        f" ORDER BY 3 DESC, 4 DESC, 1 LIMIT {int(limit)}",
        vaults,
    )
    return [Again(*row) for row in rows]


def recurring_tags(db: sqlite3.Connection, vaults: Sequence[str], *, limit: int) -> list[Again]:
    """Return the tags of active memories from at least two sessions, most sessions first."""
    rows = db.execute(
        "SELECT t.tag, '', count(DISTINCT m.session), count(*) FROM tags t"
        " JOIN memories m ON m.row = t.memory"
        f" WHERE m.session != '' AND m.status = 'active' AND m.vault IN ({marks(vaults)})"
        " GROUP BY t.tag HAVING count(DISTINCT m.session) >= 2"
        f" ORDER BY 3 DESC, 4 DESC, 1 LIMIT {int(limit)}",
        vaults,
    )
    return [Again(*row) for row in rows]
