"""age: what nobody uses goes to the archive, what lies there for long to the trash; nothing is deleted."""

from collections.abc import Iterator, Sequence

from mcp_server.actions.clock_check import dated_from, old_before
from mcp_server.actions.consolidate import put_away
from mcp_server.actions.journal import trash_place
from mcp_server.actions.read import Found, read_row
from mcp_server.adapters.index import ageing
from mcp_server.adapters.index.memories import Row
from mcp_server.adapters.index.tidying import AGEING, ORPHANS, TRASH
from mcp_server.core.dials import DAY
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.journal import Entry, change
from mcp_server.core.memory import Status
from mcp_server.store import Store

DROPPED_DAYS = 14  # days that a dropped memory waits in the archive
MOST = 200  # memories of one step in one run


def aged(store: Store, vaults: Sequence[str]) -> Iterator[Entry]:
    """Yield the way to the archive for what had no activity for AUTO_ARCHIVE_DAYS, and is not hot."""
    days = store.settings.auto_archive_days
    if not days:
        return
    before = old_before(store, days * DAY)
    with store.database.read() as db:
        rows = ageing.idle(db, vaults, before, store.now(), MOST)
    for found in _found(store, rows):
        yield put_away(found, AGEING, "aged", f"archive: [{found.memory.id}] unused for {days} days")


def crowded(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[Entry]:
    """
    Yield the way to the archive for conversations that nobody ever used, after half of AUTO_ARCHIVE_DAYS.

    For a store above its size limit: the oldest first; what is archived and linked to nothing ends in the
    trash in time, which gives room. Not for the *new* in the archive.
    """
    days = store.settings.auto_archive_days // 2
    if not days:
        return
    before = old_before(store, days * DAY)
    with store.database.read() as db:
        rows = ageing.idle(db, vaults, before, store.now(), MOST, raw_and_unused=True)
    for found in _found(store, [row for row in rows if row.ref not in new]):
        yield put_away(
            found, AGEING, "aged", f"archive: [{found.memory.id}] unused for {days} days, room is short"
        )


def orphaned(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[Entry]:
    """Yield the mark of an orphan for what is in the archive without a link; not for the *new* there."""
    with store.database.read() as db:
        rows = ageing.unlinked(db, vaults, Status.ARCHIVED)
    for found in _found(store, [row for row in rows if row.ref not in new][:MOST]):
        line = f"orphan: [{found.memory.id}] has no link from or to an active memory"
        changed = change(found.ref, found.memory, found.place, status=Status.ORPHANED)
        yield Entry(ORPHANS, line, (changed,))


def thrown_away(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[Entry]:
    """Yield the way to the trash for what was dropped 14 days ago, and for orphans after their grace."""
    start, dropped_before = dated_from(store), old_before(store, DROPPED_DAYS * DAY)
    orphaned_before = old_before(store, store.settings.orphan_grace_days * DAY)
    with store.database.read() as db:
        dropped = ageing.put_away_within(db, vaults, start, dropped_before, reason="dropped")
        late = ageing.put_away_within(db, vaults, start, orphaned_before, status=Status.ORPHANED.value)
        orphans = {row.ref for row in ageing.unlinked(db, vaults, Status.ORPHANED)}
    rows = {row.ref: row for row in [*dropped, *(row for row in late if row.ref in orphans)]}
    for found in _found(store, [row for row in list(rows.values())[:MOST] if row.ref not in new]):
        line = f"trash: [{found.memory.id}] was {found.memory.archived_reason or found.memory.status.value}"
        changed = change(found.ref, found.memory, found.place, to=trash_place(store, found))
        yield Entry(TRASH, line, (changed,))


def _found(store: Store, rows: Sequence[Row]) -> Iterator[Found]:
    for row in rows:
        try:
            yield read_row(store, row)
        except (NotFound, Unreadable):
            continue
