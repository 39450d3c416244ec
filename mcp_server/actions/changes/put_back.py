"""put_back: restore the files of a change to their state before it, many at a time, one event for each."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.between_vaults import Crossing, cross, other_place, parted
from mcp_server.actions.files.commit import Effect, by_whom, index_files, put_bytes, tell_ledger
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.files.sync import take_across
from mcp_server.actions.files.trash import in_trash, path_in_trash
from mcp_server.adapters import files, history, moving, places
from mcp_server.adapters.index.events import deeds, usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, PlaceTaken, Unreadable
from mcp_server.core.memory_parts import TRASH, id_in, vault_in
from mcp_server.core.runs import UNDONE
from mcp_server.store import Store

GONE = "its file is gone: it was forgotten or deleted since."
CHANGED_SINCE = "it was changed since"  # the one reason that `anyway` overrides
BATCH = 250  # files that are moved, and then indexed, together


@dataclass(frozen=True, slots=True)
class Restoration:
    """
    A file on its way back: its path and target, its bytes now and then, the digest of the bytes then.

    `to` is the vault of its target: another than its own when its move to another level is taken back.
    `place` and `digest` are what its event says of it before: of a file that a killed process put back
    already, what the change had left. `masked`: the history masks a secret in the bytes then.
    """

    vault: Vault
    ref: str
    path: Path
    to: Vault
    target: Path
    data: bytes
    former: bytes
    was: str
    place: str
    digest: str
    masked: bool

    @property
    def id(self) -> str:
        return id_in(self.ref)

    @property
    def is_there(self) -> bool:
        return self.path == self.target or (os.path.lexists(self.target) and not os.path.lexists(self.path))


def put_back(store: Store, name: str, effects: Sequence[Effect], *, undoes: str, anyway: bool) -> Undone:
    """
    Restore the files of the change *name* to their state before its *effects*, the last effect first.

    Each file's event names what it *undoes*. With *anyway*, files that were changed since are restored, too.
    The events come last and together: when the process is killed before them or the disk refuses, the next
    call finds each file as far as it came, and completes it. Raises OSError; files that were restored until
    then stay restored.
    """
    undone, moves, busy, back = Undone(name), list[Restoration](), set[Path](), list[Restoration]()

    def go() -> None:
        back.extend(_moved(undone, moves))
        moves.clear()
        busy.clear()

    for effect in reversed(effects):
        with _skipping(undone, id_in(effect[0])):
            move = looked_at(store, effect, anyway=anyway)
            if not busy.isdisjoint((move.path, move.target)):  # another file waits to leave or take it
                go()
                move = looked_at(store, effect, anyway=anyway)
            put_bytes(store, move.vault, move.ref, move.path, move.data, move.former, verb=UNDONE)
            _date(store, move)
            if move.to != move.vault:
                _cross_back(store, undone, move, undoes=undoes)
                continue
            moves.append(move)
            busy.update((move.path, move.target))
        if len(moves) == BATCH:
            go()
    go()
    _tell(store, undone, back, undoes=undoes)
    return undone


def where(store: Store, vault: Vault, ref: str, place: str) -> Path | None:
    """Return the path of a memory's file: at *place*, or else where the index has it; None if it is gone."""
    path = places.at_place(store.home, vault, place)
    if path.is_file():
        return path
    with store.database.read() as db:
        row = selections.with_ref(db, ref)
    return Path(row.path) if row and Path(row.path).is_file() else None


def kept(store: Store, ref: str, digest: str) -> bytes | None:
    """Return the bytes that the history keeps for that digest, secrets masked; None when it keeps none."""
    for version in reversed(history.versions(store.home, ref)):
        if version.was == digest:
            with contextlib.suppress(OSError, Unreadable):
                return files.read(version.path)
    return None


def _date(store: Store, move: Restoration) -> None:
    """Give a file the date of the words that it has again: where it says none, it is the memory's."""
    if move.data == move.former or move.masked:
        return
    for version in reversed(history.versions(store.home, move.ref)):
        if version.was == move.was:
            written = version.path.stat().st_mtime_ns
            os.utime(move.path, ns=(written, written))
            return


def looked_at(store: Store, effect: Effect, *, anyway: bool) -> Restoration:
    """
    Return what is to be done for one file, without doing it.

    Raises Conflict, Unreadable when it cannot be restored, without *anyway* also when it was changed since.
    """
    ref, _, was, now_place, now = effect
    vault = store.vault(vault_in(ref))
    if vault is None:
        raise Conflict("it belongs to a project that is gone.")
    path = where(store, vault, ref, now_place)
    if path is None:
        if back := _back_already(store, vault, effect):
            return back
        raise Conflict(GONE)
    data = files.read(path)
    digest = files.digest(data)
    former = data if was in ("", now, digest) else kept(store, ref, was)
    is_back = was not in ("", now) and data == former  # a killed process came so far, or the person typed it
    if digest != now and not is_back and not anyway:
        before = next(
            (version.path for version in history.versions(store.home, ref) if version.was == was), None
        )
        and_before = f", what it said before the change in {before}" if before else ""
        raise Conflict(f"{CHANGED_SINCE}; what it says now is in {path}{and_before}.")
    if former is None:
        raise Conflict("its earlier version is not kept on this machine.")
    to, target = _target(store, vault, effect, path)
    place = now_place if path == target else places.place_of(store.home, vault, path)
    masked, left = _is_masked(effect, former), now if is_back else digest
    return Restoration(vault, ref, path, to, target, data, former, was, place, left, masked)


def _is_masked(effect: Effect, former: bytes) -> bool:
    """Tell whether the history kept *former* without a secret that the file had before the change."""
    _, _, was, _, now = effect
    return was not in ("", now) and files.digest(former) != was


def _target(store: Store, vault: Vault, effect: Effect, path: Path) -> tuple[Vault, Path]:
    """Return the vault and the path to which the file at *path* goes back; raises Conflict."""
    ref, was_place, *_ = effect
    if not was_place:
        trash = places.trash_folder(store.home, vault)
        is_away = not path.is_relative_to(vault.root) or path.is_relative_to(trash)
        return vault, path if is_away else path_in_trash(store, vault, path, id_in(ref))
    key, place = parted(was_place)
    to = store.vault(key) if key else vault
    if to is None:
        raise Conflict("it was moved here from a project that is gone.")
    with store.database.read() as db:
        if to != vault and selections.with_id(db, [to.key], id_in(ref)):
            raise Conflict(f"another memory has its id at {to.level.value} level now.")
    return to, places.at_place(store.home, to, place)


def _back_already(store: Store, vault: Vault, effect: Effect) -> Restoration | None:
    """
    Return how a file went back whose process was killed before the ledger knew; None if it did not.

    Only its event is missing. A file that went to the trash by a later word, which the ledger knows, did not
    go back.
    """
    ref, was_place, was, now_place, now = effect
    if parted(was_place)[0]:  # a move to another vault completes itself
        return None
    with store.database.read() as db:
        written = deeds.last_written(db, ref)
    if written and written.is_away and not now_place.startswith(TRASH):
        return None
    memory_id = id_in(ref)
    possible = [places.at_place(store.home, vault, was_place)] if was_place else []
    possible += [] if was_place else [path for owner, path in in_trash(store, memory_id) if owner == vault]
    for target in possible:
        with contextlib.suppress(FileNotFoundError, Unreadable):
            data = files.read(target)
            if files.digest(data) == (was or now) or (was != now and data == kept(store, ref, was)):
                path = places.at_place(store.home, vault, now_place)
                masked = _is_masked(effect, data)
                return Restoration(vault, ref, path, vault, target, data, data, was, now_place, now, masked)
    return None


def _moved(undone: Undone, moves: Sequence[Restoration]) -> list[Restoration]:
    """Move the files, whose bytes are restored, back to their places; return those that are there now."""
    problems = moving.move_many({move.path: move.target for move in moves if not move.is_there})
    for move in moves:
        if problem := problems.get(move.path):
            with _skipping(undone, move.id):
                raise problem
    return [move for move in moves if move.path not in problems]


def _cross_back(store: Store, undone: Undone, move: Restoration, *, undoes: str) -> None:
    """Move a file, whose bytes are restored, back to the level where it was."""
    now, digest = move.to.ref(move.id), files.digest(move.former)
    before = other_place(move.vault.key, move.place)
    after = places.place_of(store.home, move.to, move.target)
    effect = [now, before, move.digest, after, digest]
    with store.database.read() as db:
        digests = [digest] if usage.accepted_digests(db, [move.was]) else []
    data = {"files": [effect], "digests": digests, "undoes": undoes}
    crossing = Crossing(move.ref, now, str(move.path), str(move.target), digest)
    cross(store, crossing, UNDONE, **by_whom(store), **data)
    _note_restored(undone, move)
    take_across(store, move.vault, move.path, move.to, move.target)


def _note_restored(undone: Undone, move: Restoration) -> None:
    undone.restored.append(move.id)
    if move.masked:
        undone.masked.append(move.id)


def _tell(store: Store, undone: Undone, back: Sequence[Restoration], *, undoes: str) -> None:
    """Write the events of the files that are *back*, and take them into the index."""
    with store.database.read() as db:
        accepted = usage.accepted_digests(db, [move.was for move in back])
    effects: dict[str, list[Effect]] = {}
    details: dict[str, dict[str, object]] = {}
    paths: dict[Vault, list[Path]] = {}
    for move in back:
        digest = files.digest(move.former)
        after = places.place_of(store.home, move.vault, move.target)
        effects[move.ref] = [[move.ref, move.place, move.digest, after, digest]]
        digests = [digest] if move.was in accepted else []
        details[move.ref] = {"digests": digests, "undoes": undoes}
        paths.setdefault(move.vault, []).extend((move.path, move.target))
        _note_restored(undone, move)
    if back:
        tell_ledger(store, UNDONE, effects, details)
        index_files(store, paths)


@contextlib.contextmanager
def _skipping(undone: Undone, memory_id: str) -> Iterator[None]:
    """Note what stands in the way of one file, which is left alone."""
    try:
        yield
    except (PlaceTaken, Conflict, Unreadable) as error:
        undone.skipped.append((memory_id, str(error)))
    except FileNotFoundError:  # another process took it at this moment
        undone.skipped.append((memory_id, GONE))
