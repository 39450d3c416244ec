"""
age: move passing memories without a sign of life to the archive, and on to the trash; nothing is deleted.

A graph that grew too long loses its least valuable nodes to the archive, too: only those stored by the
graph's tools. Their traces stay in the graph, and `kg_recall` brings them back.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_server.actions.files.clock_check import dated_from, old_before
from mcp_server.actions.files.first_sight import note_arrived
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read_rows
from mcp_server.actions.files.runs import trash_place
from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.upkeep.consolidate import put_away
from mcp_server.adapters.index.events import ageing, signs_of_life
from mcp_server.adapters.index.events.tidying import AGEING, COMPACTION, ORPHANS, TRASH
from mcp_server.adapters.index.memories import counts, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.graph.text import LEAVES, TOKEN, measured, to_archive
from mcp_server.core.judge.ageing import MOST_APART, within_bounds
from mcp_server.core.memory_parts import DAY, Kind, Status, vault_in
from mcp_server.core.runs import Reason, RunEntry, Why, change
from mcp_server.core.worth.ratings import hot_rule
from mcp_server.store import Store

AGED, COMPACTED = "aged", "compacted"  # the reason that the file gives
DROPPED_DAYS = 14  # days that a dropped memory waits in the archive
MOST = 200  # memories of one step in one run
LOOKED_AT = 5_000  # aged memories that are counted, at most
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Due:
    """Passing memories without a sign of life for AUTO_ARCHIVE_DAYS: those one run may take, those left."""

    selected: tuple[Row, ...] = ()
    remaining: tuple[Row, ...] = ()


def due(store: Store, vaults: Sequence[str]) -> Due:
    """Return the memories to archive for their age, within a run's bounds; none if the clock is in doubt."""
    days = store.settings.auto_archive_days
    if not days:
        return Due()
    before, now, rule = old_before(store, days * DAY), store.now(), hot_rule(store.settings)
    levels: dict[str, list[str]] = {}
    for vault in store.vaults:
        levels.setdefault(vault.level, []).append(vault.key)
    level_of = {key: level for level, keys in levels.items() for key in keys}
    with store.database.read() as db:
        knowledge = ageing.idle(db, vaults, before, now, LOOKED_AT, rule, apart=False)
        set_apart = ageing.idle(db, vaults, before, now, LOOKED_AT, rule, apart=True)
        sizes = {level: counts.active_knowledge(db, keys) for level, keys in levels.items()}
    selected = within_bounds([(level_of[row.vault], row) for row in knowledge], sizes)
    selected_rows = {row.row for row in selected}
    remaining = [row for row in knowledge if row.row not in selected_rows]
    return Due((*set_apart[:MOST_APART], *selected), (*remaining, *set_apart[MOST_APART:]))


def aged(store: Store, rows: Sequence[Row]) -> Iterator[RunEntry]:
    """Yield entries that archive *rows*, which showed no sign of life for AUTO_ARCHIVE_DAYS."""
    days = store.settings.auto_archive_days
    for file in read_rows(store, rows):
        yield put_away(store, file, AGEING, AGED, Why.AGED, days)


def note_unseen(store: Store, vaults: Sequence[str]) -> None:
    """Note as arrived today each memory that the ledger never named: its age is not known."""
    with store.database.read() as db:
        refs = signs_of_life.never_seen(db, vaults)
    if refs:
        note_arrived(store, refs)
        catch_up(store)


def crowded(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[RunEntry]:
    """
    Yield entries that archive conversations without a sign of life for half of AUTO_ARCHIVE_DAYS, and move to
    the trash those that have been archived as long as an orphan would wait.

    For a store above its size limit, the oldest first. Not for the *new* in the archive.
    """
    days = store.settings.auto_archive_days // 2
    if not days:
        return
    before, grace = old_before(store, days * DAY), store.settings.orphan_grace_days
    rule = hot_rule(store.settings)
    with store.database.read() as db:
        rows = ageing.idle(
            db, vaults, before, store.now(), MOST_APART, rule, apart=True, only_conversations=True
        )
        overdue = ageing.put_away_within(
            db, vaults, dated_from(store), old_before(store, grace * DAY), reason=AGED, kind=Kind.CONVERSATION
        )
    for file in read_rows(store, [row for row in rows if row.ref not in new]):
        yield put_away(store, file, AGEING, AGED, Why.AGED_ROOM_SHORT, days)
    for file in read_rows(store, [row for row in overdue if row.ref not in new][:MOST]):
        yield _to_trash(store, file, Reason(Why.OVERDUE_ROOM_SHORT, (file.memory.id,), grace))


def compacted(store: Store, vaults: Sequence[str]) -> Iterator[RunEntry]:
    """Yield entries that archive the lowest nodes of each level whose graph is over KG_MAX_TOKENS."""
    most = store.settings.kg_max_tokens
    if not most:
        return
    for graph in read_graph(store):
        limit = most * TOKEN
        lowest = to_archive(graph, now=store.now(), limit=limit)
        own_nodes = [node for node in lowest if vault_in(node.ref) in vaults][:MOST]
        for file in read_rows(store, _rows(store, [node.ref for node in own_nodes])):
            yield put_away(store, file, COMPACTION, COMPACTED, Why.COMPACTED, most)
        length = measured(graph, left_out=frozenset(node.name for node in own_nodes))
        if length > limit * LEAVES and measured(graph) > limit:
            log.warning(
                "The graph of level %s has %d tokens, %d are its budget, and all else in it is protected.",
                *(graph.level.value, length // TOKEN, most),
            )


def reconnected(store: Store, vaults: Sequence[str]) -> Iterator[RunEntry]:
    """Yield entries that unmark orphans which are no longer compacted nodes without a link."""
    with store.database.read() as db:
        refs = ageing.no_orphans(db, vaults)
    for file in read_rows(store, _rows(store, refs[:MOST])):
        changed = change(file.ref, file.memory, file.place, status=Status.ARCHIVED)
        yield RunEntry(ORPHANS, Reason(Why.LINKED_AGAIN, (file.memory.id,)), (changed,))


def orphaned(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[RunEntry]:
    """Yield entries that mark compacted nodes of the graph without a link as orphans, except *new* ones."""
    with store.database.read() as db:
        rows = ageing.unlinked(db, vaults, Status.ARCHIVED)
    for file in read_rows(store, [row for row in rows if row.ref not in new][:MOST]):
        changed = change(file.ref, file.memory, file.place, status=Status.ORPHANED)
        yield RunEntry(ORPHANS, Reason(Why.ORPHANED, (file.memory.id,)), (changed,))


def thrown_away(store: Store, vaults: Sequence[str], new: frozenset[str]) -> Iterator[RunEntry]:
    """Yield entries that move to the trash what was dropped 14 days ago, and orphans after their grace."""
    start, dropped_before = dated_from(store), old_before(store, DROPPED_DAYS * DAY)
    orphaned_before = old_before(store, store.settings.orphan_grace_days * DAY)
    with store.database.read() as db:
        dropped = ageing.put_away_within(db, vaults, start, dropped_before, reason="dropped")
        overdue = ageing.put_away_within(db, vaults, start, orphaned_before, status=Status.ORPHANED.value)
        orphans = {row.ref for row in ageing.unlinked(db, vaults, Status.ORPHANED)}
    rows = {row.ref: row for row in [*dropped, *(row for row in overdue if row.ref in orphans)]}
    for file in read_rows(store, [row for row in list(rows.values())[:MOST] if row.ref not in new]):
        was = file.memory.archived_reason or file.memory.status.value
        yield _to_trash(store, file, Reason(Why.OVERDUE, (file.memory.id,), word=was))


def _to_trash(store: Store, file: MemoryFile, reason: Reason) -> RunEntry:
    changed = change(file.ref, file.memory, file.place, to=trash_place(store, file))
    return RunEntry(TRASH, reason, (changed,))


def _rows(store: Store, refs: Sequence[str]) -> list[Row]:
    with store.database.read() as db:
        return [row for ref in refs if (row := selections.with_ref(db, ref))]
