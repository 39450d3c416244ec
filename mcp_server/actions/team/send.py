"""send: store in the team what waits here because its server could not be reached."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mcp_server.actions.team.store_in_team import StoredInTeam, store_new, store_promoted
from mcp_server.adapters import files, places, team_membership
from mcp_server.adapters.team_membership import Stayed
from mcp_server.core.errors import DaybookError, NotFound, Rejected, StorageUnavailable
from mcp_server.core.memory import Memory, check_id, timestamp, typed_id
from mcp_server.core.team import wire
from mcp_server.core.team.team import TeamStorage
from mcp_server.store import Store

LOCK = ".send.lock"


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
    return tuple(_waiting(store))


def _waiting(store: Store) -> Iterator[Waiting]:
    for path, entry in team_membership.waiting_of(store.home):
        with contextlib.suppress(Rejected, KeyError, TypeError):
            memory = wire.memory_of(entry["memory"], strict=False)
            at, refused, replaces = (str(entry.get(name) or "") for name in ("at", "refused", "replaces"))
            promoted = entry.get("promoted") is True
            yield Waiting(memory.id, memory.title, at, refused, memory, replaces, promoted, path)


def put_off(store: Store, memory: Memory, *, replaces: str = "", promoted: bool = False) -> Waiting:
    """Keep *memory* until the team's server can be reached; a later version replaces an earlier."""
    before = next((other for other in waiting(store) if other.id == memory.id), None)
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
                stored.append(_give(team, entry, store.clock().replace(microsecond=0)))
            except StorageUnavailable as error:
                return Sent(tuple(stored), tuple(refused), str(error))
            except DaybookError as error:
                why = error.with_hint
                _note(
                    store, entry.path.stem, entry.memory,
                    at=entry.at, replaces=entry.replaces, promoted=entry.promoted, refused=why,
                )  # fmt: skip
                refused.append(entry)
                continue
            team_membership.delete_waiting(entry.path)
    return Sent(tuple(stored), tuple(refused))


def stayed_after(sent: Sent) -> list[Stayed]:
    """Return which of the team's memories what was sent was to replace, and did not."""
    return [Stayed(name, gift.stored.memory.id, why) for gift in sent.given for name, why in gift.kept]


def drop(store: Store, memory_id: str) -> Waiting:
    """Delete what waits under that id, and return it; raises NotFound."""
    name = check_id(typed_id(memory_id))
    for entry in waiting(store):
        if entry.id == name:
            team_membership.delete_waiting(entry.path)
            return entry
    raise NotFound(name, sentence=f"Nothing called '{name}' waits.", hint="'daybook team status' lists it.")


def _give(team: TeamStorage, entry: Waiting, now: datetime) -> StoredInTeam:
    if entry.replaces:
        return StoredInTeam(team.save(entry.memory, replaces=entry.replaces))
    return (store_promoted if entry.promoted else store_new)(team, entry.memory, now=now)


def _note(
    store: Store, name: str, memory: Memory, *, at: str, replaces: str, promoted: bool, refused: str = ""
) -> None:
    payload = {
        "memory": wire.value_of(memory),
        "replaces": replaces,
        "promoted": promoted,
        "at": at,
        "refused": refused,
    }
    team_membership.note_waiting(store.home, name, payload)
