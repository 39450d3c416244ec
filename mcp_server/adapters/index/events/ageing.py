"""The memories that upkeep chooses by their age and their links, not by their text."""

import sqlite3
from collections.abc import Sequence

from mcp_server.adapters.index.events import signs_of_life
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.core.judge import ageing
from mcp_server.core.memory_parts import Status
from mcp_server.core.worth.ratings import HotRule

_REF = "memories.vault || '/' || memories.id"


def idle(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    before: int,
    now: int,
    limit: int,
    rule: HotRule,
    *,
    apart: bool,
    only_conversations: bool = False,
) -> list[Row]:
    """
    Return the memories of passing types without a sign of life since *before*, oldest first.

    None is pinned, by *rule* hot at *now*, or the person's, and the ledger names each: one that it never
    named is not known to be old. *apart*: conversations, sessions and logged output; otherwise knowledge.
    Nodes of the graph do not age, but are compacted: each session reads all of them, which counts as no use.
    """
    own, passing = ageing.PERSONS, ageing.PASSING
    # A date far in the future does not count: a typing error must not keep a memory for ever.
    last_word = "max(iif(updated > ?, 0, updated), iif(verified > ?, 0, verified))"
    ahead = now + ageing.AHEAD
    kind = f"(kind != 'knowledge' OR source = '{ageing.APART}')"
    if not apart:
        kind = f"NOT {kind} AND type IN ({marks(passing)}) AND category != 'graph'"
    if only_conversations:
        kind += " AND kind = 'conversation'"
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = 'active' AND pinned = 0 AND {kind}"
        f" AND source NOT IN ({marks(own)}) AND (kind != 'conversation' OR source != 'assistant')"
        f" AND {last_word} < ?"
        f" AND NOT {signs_of_life.shown_since(_REF)} AND {signs_of_life.shown_since(_REF)}"
        f" AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.ref = {_REF})"
        f" AND NOT EXISTS (SELECT 1 FROM usage u WHERE u.ref = {_REF} AND (u.promoted >= ?"
        " OR (u.accesses >= ? AND u.last_access > ?)))",
        (
            *vaults, *([] if apart else passing), *own, ahead, ahead, before, before, ahead, 0, ahead,
            before, rule.accesses, rule.since(now), ahead, ahead, ahead,
        ),
        f"max({last_word}, {signs_of_life.last_shown(_REF)}), id LIMIT {int(limit)}",
    )  # fmt: skip


def unlinked(db: sqlite3.Connection, vaults: Sequence[str], status: Status) -> list[Row]:
    """Return the graph nodes with *status* that were compacted and link to or from no active memory."""
    ends = "links l JOIN names n ON n.name = l.name JOIN memories a"  # l.memory is linked with n.memory
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = ? AND category = 'graph'"
        f" AND {_REF} IN (SELECT ref FROM put_away WHERE reason = 'compacted')"
        f" AND row NOT IN (SELECT n.memory FROM {ends} ON a.row = l.memory WHERE a.status = 'active')"
        f" AND row NOT IN (SELECT l.memory FROM {ends} ON a.row = n.memory WHERE a.status = 'active')",
        (*vaults, status.value),
        "row",
    )


def no_orphans(db: sqlite3.Connection, vaults: Sequence[str]) -> list[str]:
    """Return the refs of memories with the status orphaned that are not, or no longer, `unlinked`."""
    alone = {row.ref for row in unlinked(db, vaults, Status.ORPHANED)}
    orphans = rows(db, f"vault IN ({marks(vaults)}) AND status = 'orphaned'", vaults, "row")
    return [row.ref for row in orphans if row.ref not in alone]


def put_away_within(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    start: int,
    end: int,
    *,
    status: str = "",
    reason: str = "",
    kind: str = "",
) -> list[Row]:
    """
    Return what tidying archived from *start* to before *end*, with that *status* or for that *reason*.

    With *kind*, only memories of that kind.
    """
    return rows(
        db,
        f"vault IN ({marks(vaults)}) AND status IN ('archived', 'orphaned') AND ? IN ('', kind)"
        " AND vault || '/' || id IN"
        " (SELECT ref FROM put_away WHERE at >= ? AND at < ?"
        " AND (status = ? OR (reason = ? AND reason != '')))",
        (*vaults, kind, start, end, status, reason),
        "row",
    )
