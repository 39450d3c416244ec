"""
take: turn the records of a source into memories; every source is imported by this module.

The ledger notes what each record became, by its origin. A repeated import changes nothing; a record that
changed in the source is revised; a memory edited or forgotten here stays as it is. What `undo` took back is
taken in again: to undo an import decides nothing about its memories. Most records are written in batches;
those that are words alone (documents, Claude Code's own memory) one by one, as by `remember`.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from mcp_server.actions.exchange.imports.again import FORGOTTEN, forgotten_before, given_back, words_in_trash
from mcp_server.actions.exchange.imports.batch import (
    Batch,
    Imported,
    Item,
    Outcome,
    elsewhere,
    note,
    note_outcome,
    prepare,
    write_pending,
    written,
)
from mcp_server.actions.exchange.imports.existing import ExistingMemories
from mcp_server.actions.exchange.imports.from_text import compared, is_made_of, remembered, reworded
from mcp_server.actions.exchange.imports.part import part
from mcp_server.actions.exchange.imports.plan import (
    AWAY,
    Around,
    LeftOut,
    Plan,
    build,
    checked,
    choose_id,
    parsed,
    vault_at,
)
from mcp_server.actions.files.commit import one_run, put
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.sync import ensure_synced, sync
from mcp_server.actions.memory.remember import lists_with
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import files, memory_file, places
from mcp_server.adapters.index.events import imports
from mcp_server.adapters.vault import confined, kept_path, stamp
from mcp_server.core.errors import Conflict, DaybookError, NotFound, Rejected, Unreadable
from mcp_server.core.exchange.foreign import Reading
from mcp_server.core.memory_parts import Level, id_in, ref_of
from mcp_server.store import Store

BATCH = 250  # records in one line of the ledger and one transaction
WRITTEN = (Outcome.TAKEN, Outcome.MERGED, Outcome.REVISED)
LOCK = ".import.lock"
CHANGED_HERE = "it changed there and here; yours was kept"
STAYS = "it was imported to another level; 'daybook revise {} --level {}' moves it"
GONE = "it is no longer in its source; the memory stays"


@one_run()
def take(
    store: Store,
    readings: Sequence[Reading],
    *,
    source_name: str,
    level: Level | None = None,
    dry_run: bool = False,
    own_export: bool = False,
    progress: Callable[[int], None] | None = None,
) -> list[Imported]:
    """
    Take in the records of *readings*, of the format *source_name*; return what became of each, refused first.

    *progress* is called with how many records are done since its last call. Raises IndexUnavailable, and
    OSError when the disk refuses; what was written until then stays.
    """

    def take_all() -> list[Imported]:
        return [
            Imported(
                reading.place,
                tuple(
                    _take(
                        store,
                        reading,
                        source_name=source_name,
                        level=level,
                        dry_run=dry_run,
                        own_export=own_export,
                        progress=progress,
                    )
                ),
                tuple(reading.remarks),
                () if level else elsewhere(store, reading),
            )
            for reading in readings
        ]

    if dry_run:
        ensure_synced(store)
        return take_all()
    files.make_folder(store.home)
    with files.lock(store.home / LOCK):
        everywhere = any(reading.portable for reading in readings)
        sync(store, vaults=places.all_vaults(store.home, store.vaults) if everywhere else store.vaults)
        return take_all()


def _take(
    store: Store,
    reading: Reading,
    *,
    source_name: str,
    level: Level | None,
    dry_run: bool,
    own_export: bool,
    progress: Callable[[int], None] | None,
) -> list[Item]:
    now = store.moment()
    items = [Item(key, Outcome.REFUSED, why=why) for key, why in reading.refused]
    items += [Item(key, Outcome.UNCHANGED, key.rpartition("/")[2], why) for key, why in reading.existing]
    plans, around = _planned(store, reading, source_name, level, now, items, own_export=own_export)
    batch, failed = Batch(), dict[str, Item]()
    if progress:
        progress(len(reading.records) - len(plans))
    try:
        for number, plan in enumerate(plans, start=1):
            if progress:
                progress(1)
            plan.memory, remark = build(plan, around, now)
            try:
                item = forgotten_before(plan, around) or given_back(store, plan, batch, dry_run=dry_run)
                item = item or _take_one(store, plan, batch, dry_run=dry_run)
            except (Rejected, Unreadable, Conflict, NotFound) as error:
                item = Item(plan.record.key, Outcome.REFUSED, why=str(error))
            stays = level and item.outcome is Outcome.UNCHANGED and not _is_at(plan, level)
            told = STAYS.format(item.id, level) if stays else remark if item.outcome in WRITTEN else ""
            why = "; ".join(filter(None, [item.why, told]))
            items.append(replace(item, why=why))
            if plan.revises or number % BATCH == 0:
                failed |= write_pending(store, batch)
                note(store, source_name, reading, batch)
        failed |= write_pending(store, batch)
    finally:
        note(store, source_name, reading, batch)
    return [failed.get(item.key, item) for item in items]


def _is_at(plan: Plan, level: Level) -> bool:
    """Tell whether the memory that a record became before is at *level*."""
    return not plan.holder or (plan.holder.vault == places.USER_KEY) == (level is Level.USER)


def _planned(
    store: Store,
    reading: Reading,
    source_name: str,
    level: Level | None,
    now: datetime,
    items: list[Item],
    *,
    own_export: bool,
) -> tuple[list[Plan], Around]:
    """
    Return a plan for each record that can be taken, and their common context.

    The other records join *items*; one that was forgotten here keeps its id, so that links to it stay.
    """
    place = "" if reading.portable else reading.place
    origins = {record.key: imports.origin(source_name, place, record.key) for record in reading.records}
    adopted = (vault for vault in places.all_vaults(store.home) if vault.in_repository and vault.project)
    existing = ExistingMemories(repositories={vault.key: vault.project for vault in adopted})
    with store.database.read() as db:
        last_imports = imports.known(db, origins.values())
        for holder in imports.holders(db):
            existing.add(holder)
        present = {
            *origins.values(),
            *(imports.origin(source_name, place, key) for key, _ in reading.refused),
        }
        forgotten = words_in_trash(store, imports.forgotten(db, source_name))
        gone = imports.gone(db, source_name, place, present) if reading.whole else []
    renamed = {entry.text: entry.record for entry in gone if entry.record.own}
    ids_before = frozenset(existing.by_id)
    plans, around = [], Around({record.key: record for record in reading.records}, forgotten)
    for record in reading.records:
        last_import = last_imports.get(origins[record.key])
        memory_id = id_in(last_import.ref) if last_import else ""
        try:
            plan = checked(store, reading, record, origins[record.key], level=level, own_export=own_export)
            plan.last_import = last_import or (None if record.id else renamed.pop(plan.text, None))
            if last_import and memory_id not in ids_before:
                if not last_import.undone_to:
                    raise LeftOut(FORGOTTEN.format(memory_id))
                plan.last_import, plan.undone = None, last_import.ref
            choose_id(plan, existing, now)
        except LeftOut as reason:
            items.append(Item(record.key, Outcome.LEFT, why=str(reason)))
        except Rejected as error:
            items.append(Item(record.key, Outcome.REFUSED, why=str(error)))
        else:
            plans.append(plan)
            memory_id = plan.id
        if memory_id:
            around.ids[record.key] = memory_id
    part(plans, around, existing, now)
    moved = {plan.id for plan in plans}  # a note that was renamed has another key now
    items += [Item(entry.title, Outcome.GONE, entry.id, GONE) for entry in gone if entry.id not in moved]
    return plans, around


def _take_one(store: Store, plan: Plan, batch: Batch, *, dry_run: bool) -> Item:
    memory, key = plan.memory, plan.record.key
    assert memory
    digest = plan.digest(memory)
    if plan.record.path:
        return _take_over(store, plan, Path(plan.record.path), digest, batch, dry_run=dry_run)
    is_known = plan.last_import and plan.last_import.digest == digest and not plan.last_import.undone_to
    if is_known and not plan.inherits:
        return Item(key, Outcome.UNCHANGED, plan.id)
    if plan.last_import and plan.last_import.own:
        return _revise(store, plan, digest, batch, dry_run=dry_run)
    if plan.revises and not plan.record.id and not dry_run:
        return compared(store, plan, digest, batch)
    if plan.holder:
        return _merge(store, plan, digest, batch, dry_run=dry_run)
    if dry_run:
        memory_file.render(memory)
    elif plan.revises:
        remembered(store, plan, digest, batch)
    else:
        _write(store, plan, digest, batch)
    return Item(key, Outcome.TAKEN, plan.id)


def _write(store: Store, plan: Plan, digest: str, batch: Batch) -> None:
    """Add the file of a new memory to those to be written; raises Rejected when it cannot be a memory."""
    memory, vault = plan.memory, plan.vault
    assert memory and plan.path
    path = confined(vault, plan.path)
    data = plan.record.data
    data = memory_file.rewrite(data, memory, path=str(path)) if data else memory_file.render(memory)
    if vault not in batch.paths:
        prepare(store, vault)
        batch.paths[vault] = []
    batch.pending[path] = (plan, MemoryFile(memory, vault, path, data, files.digest(data)), digest)


def _revise(store: Store, plan: Plan, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Revise the memory that a record became to what the record says now, unless it was changed here."""
    assert plan.holder and plan.last_import and plan.memory
    key, path = plan.record.key, Path(plan.holder.path)
    vault = vault_at(store, plan)
    file = parsed(vault, path)
    memory = file.memory
    if plan.digest(memory) == digest:  # changed here in the same way, or not noted because of a kill
        if not dry_run:
            note_outcome(plan, file.ref, digest, batch, own=True)
        return Item(key, Outcome.UNCHANGED, plan.id)
    if plan.digest(memory) != plan.last_import.digest and file.digest != plan.last_import.undone_to:
        if digest == plan.last_import.digest:
            return Item(key, Outcome.UNCHANGED, plan.id)
        return Item(key, Outcome.LEFT, plan.id, CHANGED_HERE)
    if plan.revises:
        return reworded(store, plan, file, digest, batch, dry_run=dry_run)
    if dry_run:
        return Item(key, Outcome.REVISED, plan.id)
    revised = replace(
        plan.memory,
        id=memory.id,
        created=memory.created,
        updated=max(plan.memory.updated, memory.updated),
        pinned=memory.pinned or plan.memory.pinned,
        trust=memory.trust if plan.memory.trust is None else plan.memory.trust,
        verified=memory.verified,
        source=memory.source if plan.record.lossless is None else plan.memory.source,
    )
    target = kept_path(vault, memory.kind, place=file.place, archived=revised.status in AWAY)
    moves = (revised.status in AWAY) != (memory.status in AWAY) and not stamp(target)
    now = put(store, file, revised, to=target if moves else None, verb="imported")
    plan.vault = vault
    written(store, plan, file, now, digest, batch)
    return Item(key, Outcome.REVISED, plan.id)


def _take_over(store: Store, plan: Plan, path: Path, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Rewrite another tool's file that is in our vault, so that our frontmatter holds what it says."""
    assert plan.memory
    file = parsed(plan.vault, path)
    if not dry_run:
        now = put(store, file, plan.memory, verb="imported")
        written(store, plan, file, now, digest, batch)
    return Item(plan.record.key, Outcome.TAKEN, plan.id)


def _merge(store: Store, plan: Plan, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Note that a memory here says what the record says; it gets the record's tags and occasions."""
    assert plan.holder and plan.memory
    if dry_run:
        return Item(plan.record.key, Outcome.MERGED, plan.id)
    own, ref = False, ref_of(plan.holder.vault, plan.holder.id)
    path = Path(plan.holder.path)
    if plan.twin:
        if not stamp(path) and path not in batch.pending:
            raise Rejected("it says the same as another record, which was refused")
    elif stamp(path):
        file = parsed(vault_at(store, plan), path)
        memory = file.memory
        own = is_made_of(plan, memory, digest)
        lists = lists_with(memory, plan.memory)
        brings = any(getattr(memory, name) != texts for name, texts in lists.items())
        if brings and store.vault(plan.holder.vault) and not plan.record.lossless:
            with contextlib.suppress(DaybookError):
                revise(store, plan.id, Revision(**lists))
    note_outcome(plan, ref, digest, batch, own=own)
    return Item(plan.record.key, Outcome.MERGED, plan.id)
