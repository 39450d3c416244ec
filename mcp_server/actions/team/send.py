"""send: store in the team what waits here because its server could not be reached."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_server.actions.team.store_in_team import StoredInTeam, store_new, store_promoted
from mcp_server.adapters import files, places, team_membership
from mcp_server.adapters.team_membership import Stayed
from mcp_server.core.errors import DaybookError, NotFound, Rejected, StorageUnavailable, TokenUnknown
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import check_id, timestamp, typed_id
from mcp_server.core.storage.port import Stored
from mcp_server.core.team import wire
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.team import TeamStorage
from mcp_server.store import Store

LOCK = ".send.lock"
QUEUE_LOCK = ".waiting.lock"  # held while a file of what waits changes, never while the server is asked


@dataclass(frozen=True, slots=True)
class Waiting:
    """
    One memory that waits to be sent to the team: since when, and why it was `refused`, '' if not.

    `replaces` is the version on the server that it changes, '' for a new or a `promoted` memory.
    """

    id: str
    title: str
    at: str
    refused: str
    memory: Memory
    replaces: str
    promoted: bool
    path: Path


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending: what the team was given, what was refused, why the rest waits ('' if none)."""

    given: tuple[StoredInTeam, ...] = ()
    refused: tuple[Waiting, ...] = ()
    trouble: str = ""


def waiting(store: Store) -> tuple[Waiting, ...]:
    """Return what waits, the oldest first."""
    return tuple(entry for file in team_membership.waiting_of(store.home) if (entry := _waiting(*file)))


def unreadable_waiting(store: Store) -> tuple[Path, ...]:
    """Return the files that wait and are damaged, or of another version: nothing sends them."""
    files_waiting = team_membership.waiting_of(store.home)
    return tuple(path for path, payload in files_waiting if not _waiting(path, payload) and path.exists())


def _waiting(path: Path, payload: Mapping[str, Any]) -> Waiting | None:
    with contextlib.suppress(Rejected, KeyError, TypeError):
        memory = wire.memory_of(payload["memory"], strict=False)
        at, refused, replaces = (str(payload.get(name) or "") for name in ("at", "refused", "replaces"))
        promoted = payload.get("promoted") is True
        return Waiting(memory.id, memory.title, at, refused, memory, replaces, promoted, path)
    return None


def put_off(store: Store, memory: Memory, *, replaces: str = "", promoted: bool = False) -> Waiting:
    """
    Keep *memory* until the team's server can be reached; a later version replaces an earlier.

    It need not wait for the server, which may be taking the earlier one. Raises Held, OSError.
    """
    with _alone(store):
        before = waiting_as(store, memory.id)
        at = timestamp(store.clock())
        if before:
            replaces, promoted = before.replaces, before.promoted
        name = before.path.stem if before else f"{store.clock():%Y%m%dT%H%M%S}-{memory.id}"
        _note(store, name, memory, at=at, replaces=replaces, promoted=promoted)
        return next(other for other in waiting(store) if other.id == memory.id)


def send(store: Store, team: TeamStorage, *, again: bool = False, patience: float = 0.0) -> Sent:
    """
    Send the team what waits; with *again* also what its server refused before.

    What the server refuses stays, with its sentence, until it is sent again or dropped. A kill loses nothing,
    because sending a memory twice changes nothing. Raises Held after *patience* seconds.
    """
    stored, refused = list[StoredInTeam](), list[Waiting]()
    with files.lock(store.home / places.TEAM_KEY / LOCK, patience=patience):
        for entry in waiting(store):
            if entry.refused and not again:
                continue
            try:
                stored.append(_give(team, entry, store.moment()))
            except StorageUnavailable as error:
                return Sent(tuple(stored), tuple(refused), str(error))
            except TokenUnknown as error:  # no word about this memory: another token may send it
                return Sent(tuple(stored), tuple(refused), error.with_hint)
            except DaybookError as error:
                if _refuse(store, entry, error.with_hint):
                    refused.append(entry)
            else:
                _take_off(store, entry, stored[-1].stored)
    return Sent(tuple(stored), tuple(refused))


def stayed_after(sent: Sent) -> list[Stayed]:
    """Return which of the team's memories what was sent was to replace, and did not."""
    return [Stayed(name, gift.stored.memory.id, why) for gift in sent.given for name, why in gift.kept]


def drop(store: Store, memory_id: str) -> Waiting:
    """Delete what waits under that id, and return it; raises NotFound."""
    name = check_id(typed_id(memory_id))
    with _alone(store):
        if entry := waiting_as(store, name):
            team_membership.delete_waiting(entry.path)
            return entry
    raise NotFound(name, sentence=f"Nothing called '{name}' waits.", hint="'daybook team status' lists it.")


def _give(team: TeamStorage, entry: Waiting, now: datetime) -> StoredInTeam:
    if entry.replaces:
        try:
            return StoredInTeam(team.save(entry.memory, replaces=entry.replaces))
        except NotFound:
            raise NotFound(
                entry.id,
                sentence=f"The team no longer has '{entry.id}', so it was not changed there.",
                hint=f"'daybook read {entry.id}' shows your words: remember them for the team anew.",
            ) from None
    return (store_promoted if entry.promoted else store_new)(team, entry.memory, now=now)


def _take_off(store: Store, sent: Waiting, stored: Stored) -> None:
    """Delete what was *sent*; a later version that came meanwhile stays, to replace what the team has now."""
    with _alone(store):
        now = waiting_as(store, sent.id)
        if now and now.memory == sent.memory:
            team_membership.delete_waiting(now.path)
        elif now and stored.memory.id == now.id:
            _note(store, now.path.stem, now.memory, at=now.at, replaces=stored.digest, promoted=now.promoted)


def _refuse(store: Store, sent: Waiting, why: str) -> bool:
    """Note why what was *sent* was refused; return False when a later version came, or it was dropped."""
    with _alone(store):
        now = waiting_as(store, sent.id)
        if now is None or now.memory != sent.memory:
            return False
        _note(
            store, now.path.stem, now.memory,
            at=now.at, replaces=now.replaces, promoted=now.promoted, refused=why,
        )  # fmt: skip
        return True


def waiting_as(store: Store, memory_id: str) -> Waiting | None:
    """Return what waits under that id, None for nothing."""
    return next((entry for entry in waiting(store) if entry.id == memory_id), None)


def _alone(store: Store) -> contextlib.AbstractContextManager[None]:
    files.make_folder(store.home / places.TEAM_KEY)
    return files.lock(store.home / places.TEAM_KEY / QUEUE_LOCK)


def _note(
    store: Store, name: str, memory: Memory, *, at: str, replaces: str, promoted: bool, refused: str = ""
) -> None:
    payload = {
        "memory": value_of(memory),
        "replaces": replaces,
        "promoted": promoted,
        "at": at,
        "refused": refused,
    }
    team_membership.note_waiting(store.home, name, payload)
