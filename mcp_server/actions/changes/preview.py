"""preview: what a change did, and what taking it back would do, as the two states of each of its memories."""

import contextlib
from dataclasses import dataclass

from mcp_server.actions.changes.put_back import GONE, kept, looked_at, where
from mcp_server.actions.changes.undo import LastChange, effects_of
from mcp_server.actions.files import runs
from mcp_server.actions.files.between_vaults import parted
from mcp_server.actions.files.commit import Effect
from mcp_server.actions.files.load import bytes_at, memory_in
from mcp_server.adapters import files
from mcp_server.adapters.index.events import tidying
from mcp_server.adapters.index.events.deeds import Deed
from mcp_server.core.errors import Conflict, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import TRASH, id_in, vault_in
from mcp_server.core.runs import PLACE, Change, RunEntry, stands_between, with_values
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Preview:
    """
    One memory before and after; None where it is not there, or where what it said is not kept.

    `to_trash`: its file moves there; `level`: it moves to that level, '' for none. `refused` says why taking
    back leaves it alone, '' when it does not; `anyway` tells whether it can be taken back all the same.
    """

    ref: str
    before: Memory | None
    after: Memory | None
    to_trash: bool = False
    level: str = ""
    refused: str = ""
    anyway: bool = False

    @property
    def id(self) -> str:
        return id_in(self.ref)


def preview_of_deed(store: Store, deed: Deed) -> list[Preview]:
    """Return what *deed* did to each file, as far as what these said is kept."""
    store = store.everywhere()
    previews = []
    for ref, was_place, was, now_place, now in effects_of(deed):
        if deed.ref not in ("", ref):
            continue
        before = _memory(store, ref, was_place, _bytes(store, ref, was, now_place)) if was else None
        after = _memory(store, ref, now_place, _bytes(store, ref, now, now_place)) if now else None
        level = _level(store, ref) if parted(was_place)[0] else ""
        previews.append(Preview(ref, before, after, to_trash=now_place.startswith(TRASH), level=level))
    return previews


def preview_of_undo(store: Store, change: LastChange) -> list[Preview]:
    """Return what taking *change* back would do to each memory; it changes nothing."""
    store = store.everywhere()
    entries = entries_of(store, change.name)
    if not entries:
        return [_of_effect(store, effect) for effect in reversed(change.effects)]
    return [
        _of_change(store, part)
        for entry in reversed(entries)
        if not change.ref or id_in(change.ref) in {part.id for part in entry.changes}
        for part in reversed(entry.changes)
    ]


def entries_of(store: Store, run: str) -> list[RunEntry]:
    """Return what *run* did and was not taken back; none if it is no run."""
    with store.database.read() as db:
        return tidying.entries(db, run)


def _of_effect(store: Store, effect: Effect) -> Preview:
    ref, was_place, _, now_place, _ = effect
    refused, anyway = "", False
    try:
        restoration = looked_at(store, effect, anyway=False)
    except (Conflict, Unreadable) as error:
        refused = str(error)
        with contextlib.suppress(Conflict, Unreadable):
            restoration = looked_at(store, effect, anyway=True)
            anyway = True
        if not anyway:
            return Preview(ref, None, None, refused=refused)
    now = _memory(store, ref, now_place, restoration.data)
    former = _memory(store, ref, was_place or now_place, restoration.former)
    level = restoration.to.level.value if restoration.to != restoration.vault else ""
    return Preview(ref, now, former, to_trash=not was_place, level=level, refused=refused, anyway=anyway)


def _of_change(store: Store, change: Change) -> Preview:
    file = runs.file_of(store, change)
    if file is None:
        return Preview(change.ref, None, None, refused=GONE)
    if not change.was:  # the run made it
        return Preview(change.ref, file.memory, None, to_trash=True)
    if not stands_between(file.memory, change):
        return Preview(change.ref, file.memory, None, refused="it was changed since.")
    former = with_values(file.memory, change.was)
    return Preview(change.ref, file.memory, former, to_trash=str(change.was.get(PLACE)).startswith(TRASH))


def _level(store: Store, ref: str) -> str:
    vault = store.vault(vault_in(ref))
    return vault.level.value if vault else ""


def _bytes(store: Store, ref: str, digest: str, place: str) -> bytes:
    """Return the bytes with that digest: those of the file, else what the history keeps; b'' for none."""
    vault = store.vault(vault_in(ref))
    path = where(store, vault, ref, place) if vault else None
    if path and files.digest(data := bytes_at(path)) == digest:
        return data
    return kept(store, ref, digest) or b""


def _memory(store: Store, ref: str, place: str, data: bytes) -> Memory | None:
    vault = store.vault(vault_in(ref))
    return memory_in(vault, vault.root / place, data) if vault else None
