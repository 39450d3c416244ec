"""
session_overview: the memories that Claude was given in a session and the new ones, for the person to see.

No event is written: a person's look at a memory does not count as its use.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.sessions.quality import why
from mcp_server.adapters import files
from mcp_server.adapters.index.events import deeds
from mcp_server.adapters.index.events.deeds import Deed, Place
from mcp_server.adapters.index.events.receipts import Receipt
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.ledger import size
from mcp_server.core.authors import MODEL
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store

REMEMBERED = "remembered"
MOST_SHOWN = 500  # receipts that are read; a memory that was given twice takes two
MOST_NEW = 50  # memories of one day that are listed
NOTHING_YET: Place = ("", 0)


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """One memory that Claude was given, and why each time, the latest first; `row` is None if it is gone."""

    id: str
    row: Row | None
    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True)
class New:
    """An active memory; `by` is who stored it, a word of `core.authors`, '' when that was not noted."""

    row: Row
    by: str
    place: Place


def shown_memories(store: Store, session: str) -> list[ShownMemory]:
    """Return the memories that Claude was given in *session*, the last first. Raises IndexUnavailable."""
    by_ref: dict[str, list[Receipt]] = {}
    for receipt in why(store, session=session, limit=MOST_SHOWN) if session else ():
        by_ref.setdefault(receipt.ref, []).append(receipt)
    with store.database.read() as db:
        return [
            ShownMemory(receipts[0].id, selections.with_ref(db, ref), tuple(receipts))
            for ref, receipts in by_ref.items()
        ]


def new_today(store: Store) -> list[New]:
    """Return what was stored today (UTC) and is active, the last first. Raises IndexUnavailable."""
    midnight = store.clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return _rows(store, [deed for deed in _stored(store) if deed.at >= int(midnight.timestamp())])


def learned_since(store: Store, last_seen: Place) -> tuple[Place, list[New]]:
    """
    Return the place of the last memory that was stored, and what was learned from sessions since *last_seen*.

    *last_seen* is a place returned earlier, or NOTHING_YET for the start. Raises IndexUnavailable.
    """
    stored_deeds = _stored(store)
    places = [deed.place for deed in stored_deeds]
    since = stored_deeds[: places.index(last_seen)] if last_seen in places else stored_deeds
    return (places[0] if places else NOTHING_YET), [new for new in _rows(store, since) if new.by == MODEL]


def mark(store: Store) -> str:
    """Return a text that differs as soon as something shown here may have changed; cheap."""
    stamps = [(path.name, size(path)) for path in store.ledger.paths()]
    for suffix in ("", "-wal"):
        try:
            stat = os.stat(f"{store.database.path}{suffix}")
            stamps.append((suffix, stat.st_mtime_ns))
        except OSError:
            stamps.append((suffix, 0))
    return files.digest(repr(stamps).encode())


def _stored(store: Store) -> list[Deed]:
    catch_up_if_free(store)
    with store.database.read() as db:
        return deeds.listed(db, events=[REMEMBERED], vaults=store.keys, limit=MOST_NEW)


def _rows(store: Store, deeds: Sequence[Deed]) -> list[New]:
    with store.database.read() as db:
        with_rows = [(deed, selections.with_ref(db, deed.ref)) for deed in deeds if deed.ref]
    return [
        New(row, str(deed.detail.get("by") or ""), deed.place)
        for deed, row in with_rows
        if row and row.status is Status.ACTIVE
    ]
