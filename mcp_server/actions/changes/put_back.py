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
from mcp_server.actions.files.trash import free_name
from mcp_server.adapters import files, history, moving, places
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, Unreadable
from mcp_server.core.runs import UNDONE
from mcp_server.store import Store

CHANGED_SINCE = "it was changed since"  # the one reason that `anyway` overrides
BATCH = 250  # files that are moved, and then indexed, together


@dataclass(frozen=True, slots=True)
class Restoration:
    """
    A file on its way back: its path and target, its bytes now and then, the digest of the bytes then.

    `to` is the vault of its target: another than its own when its move to another level is taken back.
    """

    vault: Vault
    ref: str
    path: Path
    to: Vault
    target: Path
    data: bytes
    former: bytes
    was: str

    @property
    def id(self) -> str:
        return self.ref.rpartition("/")[2]

    @property
    def is_there(self) -> bool:
        return self.path == self.target or not os.path.lexists(self.path)


def put_back(
    store: Store, name: str, effects: Sequence[Effect], *, undoes: str, anyway: bool, session: str
) -> Undone:
    """
    Restore the files of the change *name* to their state before its *effects*, the last effect first.

    Each file's event names what it *undoes*. With *anyway*, files that were changed since are restored, too.
    Raises OSError; files that were restored until then stay restored.
    """
    undone, moves, busy = Undone(name), list[Restoration](), set[Path]()

    def go() -> None:
        _move(store, undone, moves, undoes=undoes, session=session)
        moves.clear()
        busy.clear()

    for effect in reversed(effects):
        with _skipping(undone, effect[0].rpartition("/")[2]):
            move = looked_at(store, effect, anyway=anyway)
            if not busy.isdisjoint((move.path, move.target)):  # another file waits to leave or take it
                go()
                move = looked_at(store, effect, anyway=anyway)
            put_bytes(store, move.vault, move.ref, move.path, move.data, move.former, verb=UNDONE)
            if move.to != move.vault:
                _cross_back(store, undone, move, undoes=undoes, session=session)
                continue
            moves.append(move)
            busy.update((move.path, move.target))
        if len(moves) == BATCH:
            go()
    go()
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


def looked_at(store: Store, effect: Effect, *, anyway: bool) -> Restoration:
    """
    Return what is to be done for one file, without doing it.

    Raises Conflict, Unreadable when it cannot be restored, without *anyway* also when it was changed since.
    """
    ref, was_place, was, now_place, now = effect
    vault = store.vault(ref.rpartition("/")[0])
    if vault is None:
        raise Conflict("it belongs to a project that is gone.")
    path = where(store, vault, ref, now_place)
    if path is None:
        raise Conflict("its file is gone: it was forgotten since.")
    data = files.read(path)
    digest = files.digest(data)
    if digest != now and not anyway:
        before = next(
            (version.path for version in history.versions(store.home, ref) if version.was == was), None
        )
        and_before = f", what it said before the change in {before}" if before else ""
        raise Conflict(f"{CHANGED_SINCE}; what it says now is in {path}{and_before}.")
    former = data if was in ("", now) else kept(store, ref, was)
    if former is None:
        raise Conflict("its earlier version is no longer kept.")
    if not was_place:
        return Restoration(vault, ref, path, vault, _trashed(store, vault, path, ref), data, former, was)
    key, place = parted(was_place)
    to = store.vault(key) if key else vault
    if to is None:
        raise Conflict("it was moved here from a project that is gone.")
    with store.database.read() as db:
        if to != vault and selections.with_id(db, [to.key], ref.rpartition("/")[2]):
            raise Conflict(f"another memory has its id at {to.level.value} level now.")
    return Restoration(vault, ref, path, to, places.at_place(store.home, to, place), data, former, was)


def _trashed(store: Store, vault: Vault, path: Path, ref: str) -> Path:
    """Return a free path in the trash for a file that did not exist before the change."""
    folder = places.trash_folder(store.home, vault)
    if not path.is_relative_to(vault.root) or path.is_relative_to(folder):
        return path
    return free_name(folder / path.relative_to(vault.root).with_name(f"{ref.rpartition('/')[2]}.md"))


def _move(store: Store, undone: Undone, moves: Sequence[Restoration], *, undoes: str, session: str) -> None:
    """Move the files, whose bytes are restored, back to their places; update the ledger and the index."""
    try:
        moving.move_many({move.path: move.target for move in moves if move.path != move.target})
        for move in moves:
            if not move.is_there:  # report what stands in its way, or finish the move of a killed process
                with _skipping(undone, move.id):
                    put_bytes(
                        store, move.vault, move.ref, move.path, move.former, move.former,
                        to=move.target, verb=UNDONE,
                    )  # fmt: skip
    finally:
        _tell(store, undone, [move for move in moves if move.is_there], undoes=undoes, session=session)


def _cross_back(store: Store, undone: Undone, move: Restoration, *, undoes: str, session: str) -> None:
    """Move a file, whose bytes are restored, back to the level where it was."""
    now, digest = f"{move.to.key}/{move.id}", files.digest(move.former)
    before = other_place(move.vault.key, places.place_of(store.home, move.vault, move.path))
    after = places.place_of(store.home, move.to, move.target)
    effect = [now, before, files.digest(move.data), after, digest]
    with store.database.read() as db:
        digests = [digest] if usage.accepted_digests(db, [move.was]) else []
    data = {"files": [effect], "digests": digests, "session": session, "undoes": undoes}
    crossing = Crossing(move.ref, now, str(move.path), str(move.target), digest)
    cross(store, crossing, UNDONE, **by_whom(store), **data)
    undone.restored.append(move.id)
    take_across(store, move.vault, move.path, move.to, move.target)


def _tell(store: Store, undone: Undone, back: Sequence[Restoration], *, undoes: str, session: str) -> None:
    with store.database.read() as db:
        accepted = usage.accepted_digests(db, [move.was for move in back])
    paths: dict[Vault, list[Path]] = {}
    for move in back:
        places_now = [places.place_of(store.home, move.vault, path) for path in (move.path, move.target)]
        digest = files.digest(move.former)
        effect = [move.ref, places_now[0], files.digest(move.data), places_now[1], digest]
        digests = [digest] if move.was in accepted else []
        tell_ledger(store, UNDONE, move.ref, [effect], digests=digests, session=session, undoes=undoes)
        paths.setdefault(move.vault, []).extend((move.path, move.target))
        undone.restored.append(move.id)
    index_files(store, paths)


@contextlib.contextmanager
def _skipping(undone: Undone, memory_id: str) -> Iterator[None]:
    """Note what stands in the way of one file, which is left alone."""
    try:
        yield
    except FileExistsError as error:
        undone.skipped.append((memory_id, f"another file is at {error.filename2}"))
    except (Conflict, Unreadable) as error:
        undone.skipped.append((memory_id, str(error)))
