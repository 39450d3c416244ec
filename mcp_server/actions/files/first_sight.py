"""
first_sight: note in the ledger, as a sign of life, that a file came into the store or was edited by hand.

So a rebuilt index knows of it. One event covers many memories; one a day for each memory is enough.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from mcp_server.adapters.index.events import replay
from mcp_server.core.batches import batches
from mcp_server.core.judge.ageing import AHEAD
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store

AT_ONCE = 1_000  # memories in one event, whose length is limited


class Sight(StrEnum):
    """What a file was seen to be: new here, or with other words than the index has; the event's name."""

    ARRIVED = "arrived"
    EDITED = "edited"


def note_seen(store: Store, sights: Mapping[str, Sight], *, first: bool = False) -> None:
    """
    Note *sights* (ref → what was seen), except arrivals with a sign of life today and edits noted today.

    *first*: the index is new here, so only memories that the ledger never named have just arrived. No edit is
    noted then: it looks like another file with the same id.
    Raises IndexUnavailable; what cannot be written is noted by the next run of upkeep.
    """
    if not sights or store.database.stands_in:
        return
    from mcp_server.adapters.index.events import deeds, signs_of_life  # loaded late: usually nothing was seen

    now = store.now()
    with store.database.write() as db:
        replay.catch_up(db, store.ledger)
        alive = signs_of_life.alive(db, sights, 0 if first else now - DAY, now)
        edited = deeds.last_done(db, sights, event=Sight.EDITED, until=now + AHEAD)
    # Another sign of life today does not cover an edit: only the edit's event dates the words.
    today = sights.keys() if first else {ref for ref, at in edited.items() if at > now - DAY}
    noted_refs = {Sight.ARRIVED: alive, Sight.EDITED: today}
    for sight in Sight:
        _note(
            store,
            sight,
            [ref for ref, seen_as in sights.items() if seen_as is sight and ref not in noted_refs[sight]],
        )


def note_arrived(store: Store, refs: Collection[str]) -> None:
    """Note that *refs* are here from today on."""
    _note(store, Sight.ARRIVED, list(refs))


def _note(store: Store, sight: Sight, refs: list[str]) -> None:
    for batch in batches(refs, AT_ONCE):
        # The person changed these files, in no session.
        store.try_record(sight.value, session="", refs=batch)
