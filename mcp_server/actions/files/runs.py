"""
Runs: many changes, each written into the ledger before it is made, that can be completed and taken back.

A process that is killed leaves at most one entry half done, which the next run completes.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from mcp_server.actions.files.commit import create, indexed, one_change, one_run, put, tell
from mcp_server.actions.files.load import MemoryFile, load
from mcp_server.actions.files.read import is_accepted
from mcp_server.actions.files.sync import catch_up, catch_up_if_free, sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.trash import path_in_trash, unnoted_place
from mcp_server.adapters import files, history, places
from mcp_server.adapters.index.events import deeds, tidying
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault, make_vault_folders
from mcp_server.core.errors import Conflict, DaybookError, Held, NotFound, Rejected, Unreadable, disk_refused
from mcp_server.core.memory_parts import TRASH, id_in
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.runs import PLACE, UNDONE, Change, NotMade, RunEntry, stands_between, with_values
from mcp_server.store import Store

LOCK = ".tidy.lock"
DUPLICATES = "duplicates"  # the step whose first change is of an existing memory that absorbed others


class ChangeOutcome(StrEnum):
    """What became of one change."""

    DONE = "done"
    NOTHING = "nothing to do"
    GONE = "it is gone"
    CHANGED = "it was changed since"


@dataclass(slots=True)
class Undone:
    """
    What was taken back of a run: the ids restored, and (id, reason) of those left alone.

    `masked` are those restored whose earlier text held what looked like a secret, which is masked now;
    `session` is the id of the session that was forgotten, if that is what was taken back.
    """

    run: str
    restored: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    masked: list[str] = field(default_factory=list)
    session: str = ""


@contextlib.contextmanager
def alone(store: Store, lock: str = LOCK, *, act: str = "tidying") -> Iterator[None]:
    """Hold a lock, by default that of tidying; raise Conflict when another process holds it for seconds."""
    files.make_folder(store.home)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files.lock(store.home / lock))
        except Held as error:
            raise Conflict(f"Another process is {act}: {error.holder}.", "Try again in a minute.") from None
        yield


def trash_place(store: Store, file: MemoryFile) -> str:
    """Return a free place in the trash for the file of a memory."""
    path = path_in_trash(store, file.vault, file.path, file.memory.id)
    return places.place_of(store.home, file.vault, path)


def perform(store: Store, entry: RunEntry, run: str, *, began: str = "") -> dict[str, ChangeOutcome]:
    """
    Write *entry* into the ledger, then do it; return ref → outcome of what could not be done.

    A run that *began* a scope with it is open there until an event ends it.
    Raises OSError when the ledger cannot be written; nothing is done then.
    """
    changes = [change.as_json() for change in entry.changes]
    data = {"run": run, "step": entry.step, "reason": entry.reason.as_json(), "by": store.by()}
    data |= {"began": began} if began else {}
    store.record("tidied", **data, changes=changes)
    if entry.new:
        with one_run(run):
            _create(store, entry)
    failed = _apply_all(store, entry)
    if entry.heir and not failed:
        store.try_record("merged", refs=[entry.heir], **{"from": list(entry.ancestors)})
    catch_up_if_free(store)
    return failed


def attempt(store: Store, entry: RunEntry, run: str, not_made: list[NotMade]) -> bool:
    """
    Perform *entry* and add to *not_made* what could not be done; return False when nothing of it could be.

    A run goes on after an entry that cannot be performed.
    """
    try:
        failed = perform(store, entry, run)
    except (DaybookError, OSError) as error:
        why = disk_refused(error) if isinstance(error, OSError) else str(error)
        not_made.append(NotMade(entry, why))
        return False
    not_made += [NotMade(entry, outcome, ref) for ref, outcome in failed.items()]
    return True


def complete(store: Store, run: str) -> None:
    """Complete the last entry of a killed run, or void it when its new memory was not made."""
    with store.database.read() as db:
        last = tidying.entries(db, run)[-1:]
    for entry in last:
        if all(change.was or file_of(store, change) for change in entry.changes):
            with contextlib.suppress(DaybookError):  # a person has to clear what stands in the way
                _apply_all(store, entry)
        else:
            store.record("tidied", run=run, voids=run)
            catch_up(store)


@one_change()
def undo(store: Store, run: str, *, ref: str = "") -> Undone:
    """
    Put back what the named run of tidying changed; merged memories go to the trash.

    With *ref*, only what the run did to that memory. A memory changed since is left alone and reported.
    A change that cannot be undone now is reported too, and the next undo of that run does the rest.
    Raises NotFound for an unknown run, and for one that was undone.
    """
    with alone(store):
        sync(store)
        with store.database.read() as db:
            entries = tidying.entries(db, run)
        if not entries:
            raise NotFound(
                run,
                sentence=f"No run of tidying that can be undone is called '{run[:80]}'.",
                hint="'daybook history' lists what was done.",
            )
        undone, refs_left = Undone(run), set[str]()
        for entry in reversed(entries):
            # By its id: the memory may have moved to another vault.
            is_meant = not ref or any(change.id == id_in(ref) for change in entry.changes)
            if not is_meant or not _undo(store, entry, undone):
                refs_left |= entry.refs
        data = {"left": sorted(refs_left)} if refs_left else {}
        store.record("tidied", run=new_run(store), undoes=run, **data)
        catch_up_if_free(store)
        return undone


def new_run(store: Store) -> str:
    """Return a name for a run that begins now."""
    return f"{store.clock():%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"


def _undo(store: Store, entry: RunEntry, undone: Undone) -> bool:
    """Take *entry* back; return whether nothing stood in the way."""
    free = True
    for change in reversed(entry.changes):
        back = change.reversed()
        is_new = not change.was  # a merged memory, which did not exist before
        if is_new:
            file = file_of(store, change)
            place = trash_place(store, file) if file else unnoted_place(store, change.ref)
            back = Change(change.ref, change.words_hash, change.now, {PLACE: place}) if place else back
        try:
            outcome: str = _apply(store, back, UNDONE, undoes=undone.run)
        except (DaybookError, OSError) as error:
            outcome, free = str(error), False
        if outcome == ChangeOutcome.DONE and not is_new:
            undone.restored.append(change.id)
        elif outcome not in (ChangeOutcome.DONE, ChangeOutcome.NOTHING):
            undone.skipped.append((change.id, outcome))
    if free and entry.step == DUPLICATES:
        heirs, ancestors = [entry.changes[0].ref], [change.ref for change in entry.changes[1:]]
        store.try_record("unmerged", refs=heirs, **{"from": ancestors})
    return free


def _apply_all(store: Store, entry: RunEntry) -> dict[str, ChangeOutcome]:
    failed: dict[str, ChangeOutcome] = {}
    for change in entry.changes:
        if change.was:
            outcome = _apply(store, change, entry.step.replace(" ", "_"))
            if outcome in (ChangeOutcome.GONE, ChangeOutcome.CHANGED):
                failed[change.ref] = outcome
    return failed


def _create(store: Store, entry: RunEntry) -> None:
    creation = entry.changes[0]
    vault = store.vault(creation.vault)
    assert vault and entry.new
    make_vault_folders(vault)
    path = places.at_place(store.home, vault, creation.now[PLACE])
    waits = reads_like_instruction(f"{entry.new.title}\n{entry.new.text}")
    create(store, vault, path, entry.new, accept=not waits)


def _apply(store: Store, change: Change, verb: str, *, undoes: str = "") -> ChangeOutcome:
    """
    Apply *change* to its memory, from the values `was` to the values `now`, unless it was edited.

    The event of the run exists already; only an undo, which names the run that it *undoes*, writes one here.
    """
    if not change.now:
        return ChangeOutcome.NOTHING
    file = file_of(store, change)
    if file is None:
        return ChangeOutcome.GONE
    if not stands_between(file.memory, change):
        return ChangeOutcome.CHANGED
    stays = change.was.get(PLACE) == change.now[PLACE]
    target = file.path if stays else places.at_place(store.home, file.vault, change.now[PLACE])
    accepted = is_accepted(store, file)
    now = put(store, file, with_values(file.memory, change.now), to=target, verb=verb)
    if (now.digest, now.path) == (file.digest, file.path):
        before = _before_kill(store, change, file)
        if before is None:
            return ChangeOutcome.NOTHING
        file, accepted = before, accepted or is_accepted(store, before)
    if undoes:
        tell(store, UNDONE, file, now, accept=accepted, undoes=undoes)
        return ChangeOutcome.DONE
    if now.digest != file.digest and accepted:  # tidying changes nothing of what it says
        store.try_record("accepted", refs=[file.ref], digests=[now.digest])
    paths = [places.at_place(store.home, file.vault, values[PLACE]) for values in (change.was, change.now)]
    take_in(store, file.vault, *indexed(file.vault, [*paths, file.path]))
    return ChangeOutcome.DONE


def _before_kill(store: Store, change: Change, file: MemoryFile) -> MemoryFile | None:
    """Return *file* as it was before a process made *change* and was killed before its event; else None."""
    with store.database.read() as db:
        written = deeds.last_written(db, file.ref)
    is_away = change.now[PLACE].startswith(TRASH)
    if written and (written.digest, written.is_away) == (file.digest, is_away):
        return None
    versions = reversed(history.versions(store.home, file.ref))
    digest = next((version.was for version in versions if version.now == file.digest), file.digest)
    before = replace(file, path=places.at_place(store.home, file.vault, change.was[PLACE]), digest=digest)
    return None if (before.path, digest) == (file.path, file.digest) else before


def file_of(store: Store, change: Change) -> MemoryFile | None:
    """Return the file that *change* is about: at its old or new place, or where a person moved it."""
    vault = store.vault(change.vault)
    if vault is None:
        return _moved(store, change)
    possible = _places(change)
    with store.database.read() as db:
        row = selections.with_ref(db, change.ref)
    if row and (path := Path(row.path)).is_relative_to(vault.root):
        possible.append(path.relative_to(vault.root).as_posix())
    return _at(store, vault, change, possible) or _moved(store, change)


def _moved(store: Store, change: Change) -> MemoryFile | None:
    """Return the file in a vault that the person made, if it has the same words: the memory moved there."""
    candidates = (_at(store, vault, change, _places(change)) for vault in store.vaults if vault.adopted)
    return next((file for file in candidates if file and stands_between(file.memory, change)), None)


def _places(change: Change) -> list[str]:
    return [values[PLACE] for values in (change.was, change.now) if PLACE in values]


def _at(store: Store, vault: Vault, change: Change, possible: list[str]) -> MemoryFile | None:
    for place in possible:
        with contextlib.suppress(NotFound, Unreadable, Rejected):
            file = load_at(store, vault, place)
            if file.memory.id == change.id:
                return file
    return None


def load_at(store: Store, vault: Vault, place: str) -> MemoryFile:
    """Return the memory whose file is at *place* in *vault*; raises NotFound, Unreadable, Rejected."""
    path = places.at_place(store.home, vault, place)
    try:
        return load(vault, path, place=place.removeprefix(TRASH))
    except FileNotFoundError:
        raise NotFound(path.stem) from None
