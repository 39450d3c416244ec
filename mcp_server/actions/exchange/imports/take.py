"""
take: what a source says becomes memories, in batches.

The ledger notes what each record became, by its origin: taking it again changes nothing, what changed
there is revised, what was edited or forgotten here stays as it is.
"""

import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from mcp_server.actions.exchange.imports.batch import (
    Batch,
    Item,
    Outcome,
    done,
    note,
    prepare,
    write_pending,
    written,
)
from mcp_server.actions.exchange.imports.plan import (
    AWAY,
    Around,
    Here,
    LeftOut,
    Plan,
    build,
    checked,
    choose_id,
    has_moved_on,
    origin,
    parsed,
    vault_at,
)
from mcp_server.actions.files.commit import one_run, put
from mcp_server.actions.files.sync import ensure_synced, sync
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import files, memory_file, places
from mcp_server.adapters.index.events import imports
from mcp_server.adapters.vault import confined, stamp
from mcp_server.core.errors import Conflict, DaybookError, Rejected, Unreadable
from mcp_server.core.exchange.foreign import Reading, content_digest
from mcp_server.core.memory import Level, clean_tags
from mcp_server.store import Store

BATCH = 250  # records in one line of the ledger and one transaction
LOCK = ".import.lock"
CHANGED_HERE = "it changed there, but here too since; yours was kept"
FORGOTTEN = "it was forgotten here, and stays so"


@one_run()
def take(
    store: Store, reading: Reading, *, what: str, level: Level | None, dry_run: bool, mine: bool = False
) -> list[Item]:
    """
    Take in the records of *reading*, the format *what*; return what became of each, refused ones first.

    Raises IndexUnavailable, and OSError when the disk refuses; what was written until then counts.
    """
    if dry_run:
        ensure_synced(store)
        return _take(store, reading, what=what, level=level, dry_run=True, mine=mine)
    files.make_folder(store.home)
    with files.lock(store.home / LOCK):
        vaults = places.all_vaults(store.home, store.vaults) if reading.portable else store.vaults
        sync(store, vaults=vaults)
        return _take(store, reading, what=what, level=level, dry_run=False, mine=mine)


def _take(
    store: Store, reading: Reading, *, what: str, level: Level | None, dry_run: bool, mine: bool
) -> list[Item]:
    now = store.clock().replace(microsecond=0)
    items = [Item(key, Outcome.REFUSED, why=why) for key, why in reading.refused]
    items += [Item(key, Outcome.UNCHANGED, key.rpartition("/")[2], why) for key, why in reading.here]
    plans, around = _planned(store, reading, what, level, now, items, mine=mine)
    batch, failed = Batch(), dict[str, Item]()
    try:
        for number, plan in enumerate(plans, start=1):
            plan.memory, remark = build(plan, around, now)
            try:
                item = _take_one(store, plan, batch, dry_run=dry_run)
            except (Rejected, Unreadable, Conflict) as error:
                item = Item(plan.record.key, Outcome.REFUSED, why=str(error))
            why = "; ".join(filter(None, [item.why, remark if item.outcome is Outcome.TAKEN else ""]))
            items.append(replace(item, why=why))
            if number % BATCH == 0:
                failed |= write_pending(store, batch)
                note(store, what, reading, batch)
        failed |= write_pending(store, batch)
    finally:
        note(store, what, reading, batch)
    return [failed.get(item.key, item) for item in items]


def _planned(
    store: Store,
    reading: Reading,
    what: str,
    level: Level | None,
    now: datetime,
    items: list[Item],
    *,
    mine: bool,
) -> tuple[list[Plan], Around]:
    """
    Return what is to be done with the records that can be taken, and what stands around each.

    The others join *items*; one that was forgotten here keeps its id, so that links to it stay.
    """
    place = "" if reading.portable else reading.place
    origins = {record.key: origin(what, place, record.key) for record in reading.records}
    adopted = (vault for vault in places.all_vaults(store.home) if vault.in_repository)
    here = Here(repositories={vault.key: vault.project for vault in adopted})
    with store.database.read() as db:
        known = imports.known(db, origins.values())
        for holder in imports.holders(db):
            here.add(holder)
    there = frozenset(here.by_id)
    plans, around = [], Around({record.key: record for record in reading.records})
    for record in reading.records:
        taken = known.get(origins[record.key])
        memory_id = taken.ref.rpartition("/")[2] if taken else ""
        try:
            plan = checked(store, record, origins[record.key], level=level, mine=mine)
            plan.known = taken
            if taken and memory_id not in there:
                raise LeftOut(FORGOTTEN)
            choose_id(plan, here, now)
        except LeftOut as left:
            items.append(Item(record.key, Outcome.LEFT, why=str(left)))
        except Rejected as error:
            items.append(Item(record.key, Outcome.REFUSED, why=str(error)))
        else:
            plans.append(plan)
            memory_id = plan.id
        if memory_id:
            around.ids[record.key] = memory_id
    for plan in plans:
        if plan.known and has_moved_on(plan, build(plan, around, now)[0]):
            plan.known = plan.holder = None
            choose_id(plan, here, now)
            around.ids[plan.record.key] = plan.id
    return plans, around


def _take_one(store: Store, plan: Plan, batch: Batch, *, dry_run: bool) -> Item:
    memory, key = plan.memory, plan.record.key
    assert memory
    digest = content_digest(memory)
    if plan.record.path:
        return _take_over(store, plan, Path(plan.record.path), digest, batch, dry_run=dry_run)
    if plan.known and plan.known.digest == digest:
        return Item(key, Outcome.UNCHANGED, plan.id)
    if plan.known and plan.known.own:
        return _revise(store, plan, digest, batch, dry_run=dry_run)
    if plan.holder:
        return _merge(store, plan, digest, batch, dry_run=dry_run)
    if not dry_run:
        _write(store, plan, digest, batch)
    else:
        memory_file.render(memory)
    return Item(key, Outcome.TAKEN, plan.id)


def _write(store: Store, plan: Plan, digest: str, batch: Batch) -> None:
    """Put the file of a new memory among those to be written; raises Rejected when it cannot be one."""
    memory, vault = plan.memory, plan.vault
    assert memory
    path = confined(vault, vault.path_for(memory.id, memory.kind, archived=memory.status in AWAY))
    data = plan.record.data
    data = memory_file.rewrite(data, memory, path=str(path)) if data else memory_file.render(memory)
    if vault not in batch.paths:
        prepare(store, vault)
        batch.paths[vault] = []
    batch.pending[path] = (plan, data, digest)


def _revise(store: Store, plan: Plan, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Let the memory that a record became say what the record says now, if nobody changed it here."""
    assert plan.holder and plan.known and plan.memory
    key, path = plan.record.key, Path(plan.holder.path)
    vault = vault_at(store, plan)
    found = parsed(vault, path)
    memory = found.memory
    if content_digest(memory) != plan.known.digest:
        return Item(key, Outcome.LEFT, plan.id, CHANGED_HERE)
    if dry_run:
        return Item(key, Outcome.REVISED, plan.id)
    wanted = replace(
        plan.memory,
        id=memory.id,
        created=memory.created,
        updated=max(plan.memory.updated, memory.updated),
        pinned=memory.pinned or plan.memory.pinned,
        trust=memory.trust if plan.memory.trust is None else plan.memory.trust,
        verified=memory.verified,
        source=memory.source if plan.record.lossless is None else plan.memory.source,
    )
    target = vault.path_for(memory.id, memory.kind, archived=wanted.status in AWAY)
    moves = (wanted.status in AWAY) != (memory.status in AWAY) and not stamp(target)
    now = put(store, found, wanted, to=target if moves else None, verb="imported")
    plan.vault = vault
    written(store, plan, found, now, digest, batch)
    return Item(key, Outcome.REVISED, plan.id)


def _take_over(store: Store, plan: Plan, path: Path, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Let a file of another tool's that lies in our vault say in frontmatter what it says."""
    assert plan.memory
    found = parsed(plan.vault, path)
    if not dry_run:
        now = put(store, found, plan.memory, verb="imported")
        written(store, plan, found, now, digest, batch)
    return Item(plan.record.key, Outcome.TAKEN, plan.id)


def _merge(store: Store, plan: Plan, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Note that a memory here says what the record says; it gets the record's tags."""
    assert plan.holder and plan.memory
    if dry_run:
        return Item(plan.record.key, Outcome.MERGED, plan.id)
    own, ref = False, f"{plan.holder.vault}/{plan.holder.id}"
    path = Path(plan.holder.path)
    if plan.twin:
        if not stamp(path) and path not in batch.pending:
            raise Rejected("it says the same as another record, which was refused")
    elif stamp(path):
        found = parsed(vault_at(store, plan), path)
        memory = found.memory
        own = content_digest(memory) == digest and memory.source == plan.memory.source
        tags = clean_tags([*memory.tags, *plan.memory.tags][:20])
        if tags != memory.tags and store.vault(plan.holder.vault) and not plan.record.lossless:
            with contextlib.suppress(DaybookError):
                revise(store, plan.id, Revision(tags=tags))
    done(plan, ref, digest, batch, own=own)
    return Item(plan.record.key, Outcome.MERGED, plan.id)
