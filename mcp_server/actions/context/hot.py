"""
hot: the memories kept at hand without searching, and those likely to be wanted next.

Read before every session, so it stays light: the index is only read, and nothing slow is imported.
"""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mcp_server.actions.context.current import timely
from mcp_server.actions.files.shadows import is_pushable, shadowed
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import UNUSED, Usage
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory_parts import DAY, Kind, Status
from mcp_server.core.worth import ratings
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.adapters.index.memories.memories import Row
    from mcp_server.core.worth.prediction import Prediction


TELLING = 14 * DAY  # seconds for which a recall tells what is likely next


class Warm(NamedTuple):
    """One memory of the hot set: how hot, and why it is there: pinned, promoted, accessed or predicted."""

    row: "Row"
    why: str
    heat: float
    accesses: int
    last: int
    probability: float = 0.0


def hot_set(store: Store, db: sqlite3.Connection) -> list["Row"]:
    """
    Return the memories kept at hand, at most HOT_CACHE_MAX_ITEMS: pinned first, then by heat.

    Free places, and only those, go to the memories likely to follow the last recall of this session, or when
    it has recalled nothing yet of any.
    """
    placed, _ = places(store, db)
    return [warm.row for warm in (*placed, *predicted(store, db, placed))]


def places(store: Store, db: sqlite3.Connection) -> tuple[list[Warm], list[Warm]]:
    """
    Return (memories with a place, hot memories without one), pinned first, then by heat.

    A memory that has faded is hot only while it is pinned or promoted. One that may not be shown unasked,
    such as one pinned by a repository's file, takes no place from one that may.
    """
    now, rule = store.now(), ratings.hot_rule(store.settings)
    rows = selections.hot(db, store.keys, rule, now=now)  # pinned ones however seldom they were used
    elsewhere = shadowed(store, db) if rows else {}
    rows = [row for row in rows if row.row not in elsewhere]
    usages = usage.usage_of(db, [row.ref for row in rows])
    current = {row.row for row in timely(db, rows, now)}
    promoted = {ref for ref, counts in usages.items() if counts.is_promoted(rule)}
    rows = [row for row in rows if row.row in current or row.pinned or row.ref in promoted]
    allowed = allowed_unasked(store, db, rows)
    warm = []
    for row in rows:
        counts = usages.get(row.ref, UNUSED)
        why = "pinned" if row.pinned else "promoted" if row.ref in promoted else "accessed"
        least = store.settings.hot_after if row.ref in promoted else 0
        warm.append(_warm(row, why, counts, now, least=least))
    warm.sort(
        key=lambda warm_row: (
            warm_row.row.row not in allowed,
            not warm_row.row.pinned,
            -warm_row.heat,
            warm_row.row.id,
        )
    )
    most = store.settings.hot_cache_max_items
    return warm[:most], warm[most:]


def pinned(store: Store, db: sqlite3.Connection) -> list["Row"]:
    """Return the pinned memories that take places: those that may be shown unasked."""
    rows = selections.hot(db, store.keys, ratings.HotRule(ratings.NEVER, 0), now=store.now())
    pinned_rows = [row for row in rows if row.pinned]
    allowed = allowed_unasked(store, db, pinned_rows)
    return sorted((row for row in pinned_rows if row.row in allowed), key=lambda row: row.id)


def allowed_unasked(store: Store, db: sqlite3.Connection, rows: Sequence["Row"]) -> set[int]:
    """Return which of *rows* may be shown unasked here, judged only by where they come from."""
    elsewhere = shadowed(store, db) if rows else {}
    accepted = usage.accepted_digests(db, {row.digest for row in rows})
    private = store.private
    return {
        row.row
        for row in rows
        if row.row not in elsewhere and is_pushable(row, private, accepted=row.digest in accepted)
    }


def predicted(store: Store, db: sqlite3.Connection, placed: Sequence[Warm]) -> list[Warm]:
    """Return the memories for the places beside those *placed*: the likeliest next that are not hot."""
    free = store.settings.hot_cache_max_items - len(placed)
    hot = {warm.row.ref for warm in placed}
    likely = likely_next(store, db) if free > 0 else []
    current_rows = timely(db, [row for _, row in likely if row.ref not in hot], store.now())
    allowed = allowed_unasked(store, db, current_rows)
    fitting = [(prediction, row) for prediction, row in likely if row.row in allowed][:free]
    usages = usage.usage_of(db, [row.ref for _, row in fitting])
    return [
        _warm(row, "predicted", usages.get(row.ref, UNUSED), store.now(), probability=prediction.probability)
        for prediction, row in fitting
    ]


def likely_next(
    store: Store, db: sqlite3.Connection, *, refs: Sequence[str] = ()
) -> list[tuple["Prediction", "Row"]]:
    """
    Return the active memories that most likely follow those with *refs*, by default the last recall.

    That is the last recall of this session, or when it has recalled nothing, of any session in a fortnight.
    """
    # Slow to load, and not needed when the hot set is full.
    from mcp_server.adapters.index.events import transitions
    from mcp_server.core.worth import prediction

    keys = store.keys
    now = store.now()
    refs = refs or (transitions.last_recall(db, store.session) if store.session else ())
    refs = refs or transitions.latest_recall(db, keys, since=now - TELLING)
    state = refs[: prediction.STATE]
    likely = prediction.next_after(state, transitions.steps(db, state, now))
    rows = [(forecast, selections.with_ref(db, forecast.ref)) for forecast in likely]
    return [
        (forecast, row)
        for forecast, row in rows
        if row and row.vault in keys and row.kind is Kind.KNOWLEDGE and row.status is Status.ACTIVE
    ]


def _warm(row: "Row", why: str, counts: Usage, now: int, *, least: int = 0, probability: float = 0.0) -> Warm:
    """Return a memory with its heat by those *counts*, as of at least *least* accesses."""
    heat = ratings.heat(max(counts.accesses, least), (now - counts.last_heat) / DAY)
    return Warm(row, why, heat, counts.accesses, counts.last_access, probability)
