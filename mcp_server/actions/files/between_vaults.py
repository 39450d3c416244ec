"""
between_vaults: move a memory's file into another vault, with its history and what the ledger says of it.

While a move is under way, a note describes it: after a kill the next sync completes the move, or drops it if
the file did not arrive.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp_server.adapters import files, history, leftovers, moving, places
from mcp_server.adapters.index.events import deeds, replay
from mcp_server.adapters.vault import stamp
from mcp_server.core.errors import Conflict, Held
from mcp_server.core.remarks import NotRecorded
from mcp_server.store import Store

LOCK = ".crossing.lock"
NOTE = "crossing.json"  # in the folder `work` while a move is under way; only one is at a time
_OTHER = "vault/"  # how a place in another vault begins, before the key of that vault


@dataclass(frozen=True, slots=True)
class Crossing:
    """
    The move of a file to another vault: the ref of its memory and its path, before and after.

    `digest` is that of its bytes.
    """

    was: str
    now: str
    path: str
    target: str
    digest: str


def other_place(vault: str, place: str) -> str:
    """Return the ledger's name for *place* of the *vault* with that key, for a memory of another vault."""
    return f"{_OTHER}{vault}/{place}"


def parted(place: str) -> tuple[str, str]:
    """Return (key of the other vault that *place* names, the place in it); the key is '' if it names none."""
    if not place.startswith(_OTHER):
        return "", place
    key, _, within = place.removeprefix(_OTHER).partition("/")
    return key, within


def cross(store: Store, crossing: Crossing, event: str, **detail: object) -> None:
    """
    Move a file, and write *event* with *detail* and its two refs to the ledger.

    Raises PlaceTaken, Conflict, Held, OSError; the file stays then.
    """
    data = {"refs": [crossing.now], "session": store.session, **detail, "from": [crossing.was]}
    with _alone(store, patience=files.PATIENCE):
        _complete_noted(store)
        note = _note(store)
        files.write_new(note, json.dumps({**asdict(crossing), "event": event, "data": data}).encode())
        try:
            moving.move(Path(crossing.path), Path(crossing.target))
        except BaseException:
            files.delete(note)
            raise
        try:
            _tell(store, crossing, event, data)
        except OSError as error:  # the note stays: the next sync tells it
            store.database.trouble.remark(NotRecorded(event, error.strerror or str(error), later=True))
        else:
            files.delete(note)


def is_unfinished(store: Store) -> bool:
    """Tell whether a move is under way, or was when its process was killed; costs one look at the disk."""
    return os.path.lexists(_note(store))


def complete_crossing(store: Store) -> None:
    """Complete or drop the move of a killed process; a move under way is left alone."""
    if is_unfinished(store):
        with contextlib.suppress(Held, OSError), _alone(store, patience=0):
            _complete_noted(store)


def _note(store: Store) -> Path:
    return store.home / places.WORK / NOTE


def _complete_noted(store: Store) -> None:
    """Complete the move in the note, if there is one, and delete the note; raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        note_data = files.read(_note(store))
        with contextlib.suppress(ValueError, KeyError, TypeError):  # not a note of this version
            _complete(store, json.loads(note_data))
        files.delete(_note(store))


def _complete(store: Store, fields: dict[str, Any]) -> None:
    event, data = fields.pop("event"), fields.pop("data")
    crossing = Crossing(**fields)
    path, target = Path(crossing.path), Path(crossing.target)
    if stamp(path):
        if stamp(target):  # the file has both names, or was saved at the first one since: that one stays
            is_same = os.path.samefile(path, target)
            with contextlib.suppress(Conflict):
                files.delete(target, expected="" if is_same else crossing.digest)
    elif stamp(target):
        leftovers.sweep_taken_out(path.parent)
        with store.database.write() as db:
            replay.catch_up(db, store.ledger)
            is_noted = any(
                (deed.ref, deed.event) == (crossing.now, event) for deed in deeds.named(db, data["change"])
            )
        if is_noted:
            history.carry(store.home, crossing.was, crossing.now)
        else:
            _tell(store, crossing, event, data)


def _tell(store: Store, crossing: Crossing, event: str, data: dict[str, Any]) -> None:
    # On the disk before the note goes, which could tell it again.
    store.ledger.append_all(event, store.clock(), [data], durable=True)
    history.carry(store.home, crossing.was, crossing.now)


def _alone(store: Store, *, patience: float) -> contextlib.AbstractContextManager[None]:
    files.make_folder(store.home)
    return files.lock(store.home / LOCK, patience=patience)
