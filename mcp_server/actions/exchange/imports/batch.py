"""What an import writes: many files at a time, and then one line of the ledger and one transaction."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mcp_server.actions.exchange.imports.plan import Plan
from mcp_server.actions.files.commit import Effect, by_whom, create_many, effect_of, index_files
from mcp_server.actions.files.load import MemoryFile
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events.imports import DOCUMENT, SEEDED
from mcp_server.adapters.project import name_in
from mcp_server.adapters.vault import Vault, make_vault_folders
from mcp_server.core.exchange.foreign import Reading
from mcp_server.core.memory_parts import timestamp
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.store import Store


class Outcome(StrEnum):
    """What became of a record."""

    TAKEN = "taken"
    MERGED = "merged"  # a memory here says the same already
    REVISED = "revised"
    UNCHANGED = "unchanged"
    LEFT = "left"  # the memory here was kept, or the record belongs elsewhere
    REFUSED = "refused"
    GONE = "gone"  # a section that its document no longer has: its memory stays


@dataclass(frozen=True, slots=True)
class Item:
    """One record: its key in the source, the outcome, the id of its memory ('' for none), and why."""

    key: str
    outcome: Outcome
    id: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """
    What importing one place did, or would do: each record, and remarks on what is no record.

    `elsewhere` are (key, number of records) of projects that have no folder here.
    """

    place: str
    items: tuple[Item, ...] = ()
    remarks: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, int], ...] = ()


def counts(items: Iterable[Item]) -> dict[Outcome, int]:
    """Return outcome → number of records, in the order of `Outcome`, without outcomes that did not occur."""
    number = Counter(item.outcome for item in items)
    return {outcome: number[outcome] for outcome in Outcome if number[outcome]}


def elsewhere(store: Store, reading: Reading) -> tuple[tuple[str, int], ...]:
    """Return (key, number of records) of the projects in an export that have no folder known here."""
    here = {"", store.project.key, store.project.former} if store.project else {""}
    numbers = Counter(record.project for record in reading.records if record.lossless)
    return tuple(
        (key, number)
        for key, number in numbers.items()
        if key not in here and not places.project_notes(store.home, key).get("root")
    )


@dataclass(slots=True)
class Batch:
    """
    What was written and is not yet in the ledger and the index; `taken`, `used` and `effects` go into the
    event.

    `pending` are new files that will be written together: path → plan, file, digest of the content.
    """

    taken: list[list[object]] = field(default_factory=list)
    used: list[list[object]] = field(default_factory=list)
    paths: dict[Vault, list[Path]] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    pending: dict[Path, tuple[Plan, MemoryFile, str]] = field(default_factory=dict)


def write_pending(store: Store, batch: Batch) -> dict[str, Item]:
    """Write the new files of a batch; return key → item of those whose place was taken."""
    pending, batch.pending = batch.pending, {}
    taken_paths = create_many([file for _, file, _ in pending.values()]) if pending else set()
    for path, (plan, file, digest) in pending.items():
        if path in taken_paths:
            continue
        if plan.record.data:
            files.set_date(path, file.memory.updated)  # a hand-written file may have no date but the file's
        written(store, plan, None, file, digest, batch)
    keys = {path: pending[path][0].record.key for path in taken_paths}
    return {
        key: Item(key, Outcome.REFUSED, why=f"there is a file {path} already") for path, key in keys.items()
    }


def prepare(store: Store, vault: Vault) -> None:
    """Make the folders of *vault* before the first file is written into it. Raises OSError."""
    if store.project and vault.project == store.project.key:
        places.note_project(store.home, store.project)
    elif vault.project:  # so that `adopt` knows it
        places.note_elsewhere(store.home, vault.project, name_in(vault.project), "")
    make_vault_folders(vault)


def written(
    store: Store, plan: Plan, was: MemoryFile | None, now: MemoryFile, digest: str, batch: Batch
) -> None:
    """Note in *batch* the file *now*, written for *plan* over *was*, with the *digest* of its content."""
    memory, vault, ref = now.memory, now.vault, now.ref
    batch.paths.setdefault(vault, []).extend([*([was.path] if was else []), now.path])
    batch.effects.append(effect_of(store, was, now))
    note_outcome(plan, ref, digest, batch, own=True)
    # The person asked for these, so they are accepted, except what reads like an instruction.
    if (vault.in_repository or memory.source == ASSISTANT) and not reads_like_instruction(
        f"{memory.title}\n{memory.text}"
    ):
        batch.accepted[ref] = now.digest


def note_outcome(plan: Plan, ref: str, digest: str, batch: Batch, *, own: bool) -> None:
    """Note in *batch* what a record became, and the first time how often it had been used in the source."""
    batch.taken.append([plan.origin, ref, digest, own])
    record = plan.record
    counts = (record.accesses, record.retrieved, record.used, record.moves)
    if any(counts) and not plan.last_import and plan.undone != ref:
        last = timestamp(record.last_access) if record.last_access else ""
        batch.used.append([ref, record.accesses, last, record.retrieved, record.used, list(record.moves)])


def note(store: Store, source_name: str, reading: Reading, batch: Batch) -> None:
    """Write a batch into the ledger and the index, and empty it."""
    if not batch.taken:
        return
    used = {"used": batch.used} if batch.used else {}
    by = by_whom(store)
    # The run tells which import is taken back; what `remember` and `revise` wrote is in events of their own.
    data = {**by, "files": batch.effects} if batch.effects else {"run": by.get("run", "")}
    event = "imported"
    if source_name == DOCUMENT:
        event, data["refs"] = SEEDED, [str(ref) for _, ref, *_ in batch.taken]
    store.try_record(event, what=source_name, place=reading.place, taken=batch.taken, **used, **data)
    if batch.accepted:
        store.try_record("accepted", refs=list(batch.accepted), digests=list(batch.accepted.values()))
    index_files(store, batch.paths)
    batch.taken, batch.used, batch.accepted, batch.effects = [], [], {}, []
    for paths in batch.paths.values():
        paths.clear()
