"""
undo: take back the last change, of one memory or of all, as if it had not been made.

Exactly the bytes from before come back, and what only the ledger says of the change (accepted, kept, settled,
believed) no longer holds. A memory that was changed since is left alone, and named. Taking back is a change
like any other, so it can be taken back the same way.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_server.actions.changes.put_back import CHANGED_SINCE, kept, put_back, where
from mcp_server.actions.files import runs
from mcp_server.actions.files.between_vaults import other_place, parted
from mcp_server.actions.files.commit import Effect, one_change, write_line
from mcp_server.actions.files.load import bytes_at, memory_in
from mcp_server.actions.files.read import find, look_up
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.files.sync import catch_up_if_free, refresh_index
from mcp_server.actions.sessions.forget_session import undo_forget_session
from mcp_server.adapters.index.events import deeds, replay, tidying
from mcp_server.adapters.index.events.deeds import Deed, Place
from mcp_server.adapters.index.events.tidying import FORGETTING
from mcp_server.adapters.ledger import Event
from mcp_server.core.authors import PERSON, TIDY
from mcp_server.core.errors import Conflict, DaybookError, Rejected
from mcp_server.core.memory_parts import id_in, ref_of, typed_id, vault_in
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.runs import UNDONE
from mcp_server.store import Store

ANYWAY = "Read both; '--anyway' (anyway) undoes it regardless, and that can be undone too."
NOTES = "notes"  # in an event that takes others back: what those say


@dataclass(frozen=True, slots=True)
class LastChange:
    """
    The change that would be taken back: its name, when, in which session, by whom and by which verb.

    `machine` is the person's other machine where it was made, '' for this one.
    `effects` is what became of each file; empty for a run of tidying, which has its own record.
    `notes` are its events that say more than what became of files. `undoes` is the run of tidying that
    this change took back, `ref` the one memory that is meant. `begun` is the change with which a killed
    process began to take it back, '' for none.
    """

    name: str
    at: int
    session: str
    by: str
    verb: str
    effects: tuple[Effect, ...] = ()
    notes: tuple[Event, ...] = ()
    undoes: str = ""
    ref: str = ""
    begun: str = ""
    machine: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories that it changed."""
        refs = [effect[0] for effect in self.effects] or [ref for event in self.notes for ref in _refs(event)]
        return tuple(id_in(ref) for ref in dict.fromkeys(refs))


def last_undoable(store: Store, memory_id: str) -> LastChange | None:
    """Return the last change of a memory, None when nothing of it can be taken back."""
    try:
        return last_change(store, memory_id)
    except DaybookError:
        return None


def last_change(store: Store, memory_id: str = "", *, of_session: str = "") -> LastChange:
    """
    Return the last change of a memory, or without an id that of this project, in *of_session* where given.

    Instead of a memory's id it may be the name of a run of tidying, which is returned whole. Raises Rejected
    when nothing can be taken back, NotFound for an id that no memory has or had.
    """
    refresh_index(store)
    name = typed_id(memory_id)
    row = look_up(store, name) if name else None
    refs = [row.ref] if row else [ref_of(key, name) for key in reversed(store.keys)] if name else []
    with store.database.read() as db:
        if name and row is None and tidying.is_run(db, name):
            if tidying.entries(db, name):
                return change_named(store, name)
            raise Rejected(f"The run '{name}' was undone already.", "'daybook history' lists all.")
        deed = deeds.last_change(db, store.keys, refs=refs, session="" if name else of_session)
        if deed is None and name and row is None:
            _refuse_names_of_others(db, name)
    if deed is None:
        if name:
            find(store, name)
        scope = f"of '{name}' " if name else "in this session " if of_session else ""
        raise Rejected(
            f"No change {scope}can be undone.",
            "'daybook history' lists what was done.",
        )
    if deed.is_for_good:
        raise Rejected(
            f"The last change deleted '{deed.id}' for good, which cannot be taken back.",
            "To take back what was done to another memory, name it: 'daybook history' lists them.",
        )
    return _change_with(store, deed, refs)


def _change_with(store: Store, deed: Deed, refs: Sequence[str]) -> LastChange:
    """
    Return the change or the run of tidying that *deed* is a part of.

    *refs* are those that the one memory which is meant may have, () for no memory: then a run is meant whole.
    """
    with store.database.read() as db:
        run = str(deed.detail.get("run") or "")
        if run and (deed.event == "tidied" or tidying.entries(db, run)):
            ref = deed.ref if refs else ""
            return LastChange(run, deed.at, deed.session, _by_whom(db, run), "tidied", ref=ref)
        undoes = str(deed.detail.get("undoes") or "")
        if deed.event == UNDONE and tidying.entries(db, undoes) and deeds.is_undo_unfinished(db, undoes):
            # A process was killed while it took that run back: the rest of it comes first.
            by, begun = _by_whom(db, undoes), str(deed.detail.get("change") or "")
            return LastChange(undoes, deed.at, deed.session, by, "tidied", begun=begun)
        name = str((not refs and run) or deed.detail.get("change") or "")
        its_deeds = deeds.named(db, name)
    return _change(store, name, deed, its_deeds, refs=refs if deed.ref == "" else ())


def _refuse_names_of_others(db: sqlite3.Connection, name: str) -> None:
    """Raise Rejected when *name*, which the history shows, is that of a run that cannot be undone."""
    lines = deeds.of_run(db, name)
    if lines and not any(line.detail.get("undoes") or line.detail.get("redoes") for line in lines):
        raise Rejected(
            f"The run '{name}' changed no memory, so there is nothing to undo.",
            "'daybook history' lists what was done.",
        )
    if lines or deeds.named(db, name):
        raise Rejected(
            f"'{name}' is the name of neither a memory nor a run of tidying.",
            "'daybook undo ID' undoes what it did to one memory, 'daybook undo' all of the last change.",
        )


def change_named(store: Store, name: str) -> LastChange:
    """
    Return the change or the run with that name, whatever was changed since.

    Raises Rejected when there is none, or when it was taken back as a whole.
    """
    refresh_index(store)
    with store.database.read() as db:
        if tidying.entries(db, name):
            last = deeds.of_run(db, name)[-1]
            return LastChange(name, last.at, last.session, _by_whom(db, name), "tidied")
        its_deeds = deeds.named(db, name) if name else []
    if not its_deeds:
        raise Rejected(
            f"There is no change '{name[:80]}', or it was already undone.",
            "'daybook history' lists what was done.",
        )
    return _change(store, name, its_deeds[-1], its_deeds)


def _change(
    store: Store, name: str, deed: Deed, its_deeds: Sequence[Deed], *, refs: Sequence[str] = ()
) -> LastChange:
    """Return the change *name* that made *its_deeds*; with *refs* only what became of those memories."""
    joined = _joined(effect for deed in its_deeds for effect in effects_of(deed))
    # One event may be about many memories.
    effects = [effect for effect in joined if not refs or effect[0] in refs]
    lines = [_line(store, place, noted_deeds) for place, noted_deeds in _that_may_note(its_deeds).items()]
    notes = tuple(
        event for event in lines if event and (replay.is_taken_back(event.event) or NOTES in event.data)
    )
    undoes = str(deed.detail.get("undoes") or "")
    by = str(deed.detail.get("by") or "")
    verb = next((event.event for event in reversed(its_deeds) if effects_of(event)), deed.event)
    return LastChange(
        name, deed.at, deed.session, by, verb, tuple(effects), notes, undoes, machine=deed.machine
    )


def is_persons(store: Store, change: LastChange) -> bool:
    """Tell whether only the person may take *change* back: they made it, or what it wrote is their word."""
    if change.by == PERSON:
        return True
    for ref, was_place, was, now_place, now in change.effects:
        vault = store.vault(vault_in(ref))
        path = where(store, vault, ref, now_place) if vault else None
        memory = memory_in(vault, path, bytes_at(path)) if vault and path else None
        if vault and path and memory and memory.source == MANUAL and was != now:
            before = kept(store, ref, was) if was_place else None
            former = memory_in(vault, path, before or b"")
            if former is None or (former.title, former.text) != (memory.title, memory.text):
                return True
    return False


def undo(store: Store, change: LastChange, *, anyway: bool = False, shown: str | None = None) -> Undone:
    """
    Take *change* back; return what was restored, and what was left alone with the reason.

    With *anyway*, memories that were changed since are restored, too; the history keeps what they said.
    *shown* is the name of the change that the person was shown, None where they were shown none.
    Raises Conflict when that was another one and when nothing could be taken back, Rejected, OSError.
    """
    if shown not in (None, change.name):
        raise overtaken()
    with one_change(change.begun):
        return _undo(store, change, anyway=anyway)


def overtaken() -> Conflict:
    """Return the error that another change came after the one that the person was shown."""
    return Conflict("Something else was changed since, so nothing was undone.", "Look at what changed last.")


def _undo(store: Store, change: LastChange, *, anyway: bool) -> Undone:
    store = store.everywhere()  # one change may have been made in several projects
    with store.database.read() as db:
        entries = tidying.entries(db, change.name)
        redoes = bool(change.undoes) and tidying.is_run(db, change.undoes)
        forgotten = FORGETTING in {entry.step for entry in entries}
        forgettings = deeds.listed(db, events=["session_forgotten"], limit=1000)
    of_run = {str(deed.detail.get("run")): deed.session for deed in forgettings if deed.detail.get("run")}
    if change.undoes in of_run:
        again = f"daybook forget-session {of_run[change.undoes]}"
        raise Rejected("That change brought back a forgotten session.", f"To forget it again: {again}")
    if forgotten and not change.ref:
        return undo_forget_session(store, of_run.get(change.name, change.session))
    if entries:
        return runs.undo(store, change.name, ref=change.ref)
    undoes = change.undoes or change.name
    undone = put_back(store, change.name, change.effects, undoes=undoes, anyway=anyway)
    if not change.effects or undone.restored:
        left_alone = {memory_id for memory_id, _ in undone.skipped}
        _take_back_notes(store, change, undone, left_alone=left_alone)
    else:
        why = " ".join(f"'{memory_id}': {why}" for memory_id, why in undone.skipped)
        raise Conflict(f"Nothing was undone. {why}", ANYWAY if CHANGED_SINCE in why else "")
    if redoes and not undone.skipped:
        store.record("tidied", run=runs.new_run(store), redoes=change.undoes)
        catch_up_if_free(store)
    return undone


def _take_back_notes(store: Store, change: LastChange, undone: Undone, *, left_alone: set[str]) -> None:
    """Take back what only the ledger says of *change*, except about the memories in *left_alone*."""
    for note in reversed(change.notes):
        refs = _refs(note)
        ids = [id_in(ref) for ref in refs]
        if not left_alone.isdisjoint(ids):
            continue
        again = NOTES in note.data and not note.data.get("again")
        notes = note.data.get(NOTES) or [{"event": note.event, "at": note.at, **note.data}]
        data = {NOTES: notes, "again": again, "undoes": change.undoes or change.name}
        write_line(store, UNDONE, refs=refs, **data)
        undone.restored += [memory_id for memory_id in ids if memory_id not in undone.restored]
    catch_up_if_free(store)


def _by_whom(db: sqlite3.Connection, run: str) -> str:
    """Return who made *run*; a run of an earlier version does not say, and was upkeep's."""
    return next((str(deed.detail["by"]) for deed in deeds.of_run(db, run) if deed.detail.get("by")), TIDY)


def _that_may_note(deeds: Iterable[Deed]) -> dict[Place, list[Deed]]:
    """Return, by the place of their event, the deeds whose event may say more than what became of files."""
    by_place: dict[Place, list[Deed]] = {}
    for deed in deeds:
        if replay.is_taken_back(deed.event) or not effects_of(deed):
            by_place.setdefault(deed.place, []).append(deed)
    return by_place


def _line(store: Store, place: Place, deeds: Iterable[Deed]) -> Event | None:
    """Return the event at *place*, its memories under the refs they have now, according to *deeds*."""
    line = store.ledger.event_before(*place)
    called = {deed.id: deed.ref for deed in deeds}

    def named(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "refs": [called.get(id_in(ref), ref) for ref in data.get("refs") or ()]}

    if line and NOTES in line.data:
        return line._replace(data={**named(line.data), NOTES: [*map(named, line.data[NOTES])]})
    return line._replace(data=named(line.data)) if line else None


def _refs(line: Event) -> list[str]:
    return [str(ref) for ref in line.data["refs"]]


def effects_of(deed: Deed) -> list[Effect]:
    """Return what became of each file, as the ledger says of *deed*."""
    effects = deed.detail.get("files")
    return [
        [str(part) for part in effect]
        for effect in (effects if isinstance(effects, list) else [])
        if isinstance(effect, list) and len(effect) == 5
    ]


def _joined(effects: Iterable[Effect]) -> list[Effect]:
    """Return one effect for each memory: from its state before the first to its state after the last."""
    by_ref: dict[str, Effect] = {}
    for effect in effects:
        ref, place, digest, *_ = by_ref.pop(effect[0], effect)
        vault, _ = parted(effect[1])
        if vault and place and not parted(place)[0]:
            place = other_place(vault, place)
        by_ref[ref] = [ref, place, digest, *effect[3:]]
    return list(by_ref.values())
