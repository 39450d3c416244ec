"""read, history, revise, forget, restore, confirm, review: the team's memories on its server."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, read_told
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.judge.change_memory import Wanted
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.team.copy import copy
from mcp_server.actions.team.give import GivenToTeam, revise_for_team, team_of
from mcp_server.actions.team.send import waiting_as
from mcp_server.actions.team.where import on_server, unknown
from mcp_server.adapters import team_membership
from mcp_server.core.errors import Conflict, DaybookError, NotFound, Rejected, StorageUnavailable
from mcp_server.core.memory import LISTS
from mcp_server.core.memory_parts import ID, Level, Status, typed_id
from mcp_server.core.storage.port import ChangeRecord, Stored, all_pages
from mcp_server.store import Store

LOOKED_AT = 5_000  # memories of the team that a curator's review looks at
SHOWN = 50  # of those, the newest unconfirmed ones that are shown


CHANGING_TEAMS = "changing what the team shares"
ONLY_REVISED = (
    f"Of a team's memory only words, type, {', '.join(key.several for key in LISTS)}, files, links"
    " and category are changed from here.",
    "Leave out level, supersedes, distinct and metadata.",
)
NOT_FOREVER = (
    "A team's memory cannot be deleted for good from here.",
    "'daybook forget ID' removes it for everyone; how an administrator deletes it is in docs/team.md.",
)


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The memories that no curator confirmed, newest first; their number; whether all were looked at."""

    stored: tuple[Stored, ...]
    total: int
    all: bool


@dataclass(frozen=True, slots=True)
class ForgottenInTeam:
    """A memory that the team forgot, and the memories that it had superseded, which stay so."""

    id: str
    superseded: tuple[str, ...]


def is_of_team(store: Store, memory_id: str) -> bool:
    """
    Tell whether *memory_id* is a memory of the team, or waits for it; one of the person's comes first.

    Asks the server only about an id that no memory here has, which may raise StorageUnavailable.
    """
    if not team_membership.has_team(store.home):
        return False
    try:
        row = find(store, memory_id)
    except NotFound:
        if waiting_as(store, typed_id(memory_id)):
            return True
        try:
            return on_server(store, memory_id) is not None
        except StorageUnavailable:
            if next(in_trash(store, typed_id(memory_id)), None):
                return False  # it is the person's own, forgotten
            raise
    vault = store.vault(row.vault)
    return vault is not None and vault.level is Level.TEAM


def _is_persons(store: Store, memory_id: str) -> bool:
    """Tell whether a memory of the person's has that id, here or in the trash."""
    with contextlib.suppress(NotFound):
        return find(store, memory_id).vault not in store.of_team
    return next(in_trash(store, memory_id), None) is not None


def read_anywhere(store: Store, memory_id: str) -> MemoryFile | Stored:
    """
    Return a memory of this machine, or one that only the team's server has; raises NotFound.

    A search in all projects may have shown one of another project. What waits for the server has no digest,
    and comes before what the team has, unless the server refused it: `revise_for_team` changes it, too.
    """
    waits = _waiting(store, memory_id, refused=False)
    try:
        file = read_told(store, memory_id)
        return waits if waits and file.vault.level is Level.TEAM else file
    except NotFound as missing:
        with contextlib.suppress(NotFound):
            return read_told(store.everywhere(), memory_id)
        if waits:
            return waits
        try:
            stored = on_server(store, memory_id)
        except StorageUnavailable as error:
            if waits := _waiting(store, memory_id):
                return waits
            raise unknown(missing, error) from None
        stored = stored or _waiting(store, memory_id)
        if stored is None:
            raise
        return stored


def _waiting(store: Store, memory_id: str, *, refused: bool = True) -> Stored | None:
    """Return what waits for the team's server, with *refused* also if it did, as a version of no server."""
    waits, joined = waiting_as(store, typed_id(memory_id)), team_membership.joined_of(store.home)
    if waits is None or joined is None or (waits.refused and not refused):
        return None
    copy = team_membership.copied_of(store.home).get(waits.id)
    return Stored(waits.memory, "", copy.author if copy else joined.member)


def history_if_of_team(
    store: Store, memory_id: str
) -> tuple[str, Sequence[ChangeRecord], Stored | None] | None:
    """
    Return (id, the changes of that memory of the team, oldest first, its version now or None if forgotten).

    Returns None for a memory that is not the team's. Raises StorageUnavailable.
    """
    team, name = store.team(), typed_id(memory_id)
    if team is None or not ID.fullmatch(name) or _is_persons(store, name):
        return None
    try:
        changes = team.history(name)
    except NotFound:
        return None
    return name, changes, on_server(store, name)


def revise_if_of_team(
    store: Store,
    memory_id: str,
    wanted: Wanted,
    *,
    version: str,
    keep_secrets: bool,
    consent: Callable[[], None],
) -> GivenToTeam | None:
    """
    Change a memory of the team as *wanted*, after *consent*; return None for one that is not the team's.

    *consent* raises PersonNeeded unless the person agrees. Raises Rejected for what only a memory of the
    person's has, and what `revise_for_team` raises.
    """
    if not is_of_team(store, memory_id):
        return None
    if not wanted.is_revision:
        raise Rejected(*ONLY_REVISED)
    consent()
    return revise_for_team(store, memory_id, wanted.revision, version=version, keep_secrets=keep_secrets)


def forget_if_of_team(
    store: Store, memory_id: str, *, forever: bool, consent: Callable[[], None]
) -> ForgottenInTeam | None:
    """
    Forget a memory for the whole team, restorable, after *consent*.

    Returns None for one that is not the team's. *consent* raises PersonNeeded unless the person agrees.
    Raises Rejected for one that is to go *forever*, and what the server answers.
    """
    if not is_of_team(store, memory_id):
        return None
    if forever:
        raise Rejected(*NOT_FOREVER)
    team, name = team_of(store), typed_id(memory_id)
    waits = waiting_as(store, name)
    if waits and not waits.replaces:
        raise Rejected(
            f"'{name}' waits here, and was not given to the team yet.",
            f"'daybook team drop {name}' gives it up.",
        )
    consent()
    stored = team.load(name)
    team.forget(stored.memory.id, digest=stored.digest)
    refresh(store)
    olds = [on_server(store, old) for old in stored.memory.supersedes]
    return ForgottenInTeam(
        name, tuple(old.memory.id for old in olds if old and old.memory.superseded_by == name)
    )


def restore_anywhere(store: Store, memory_id: str, *, consent: Callable[[], None]) -> MemoryFile | Stored:
    """
    Restore a memory of this machine, or, after *consent*, one that was forgotten or superseded in the team.

    *consent* raises PersonNeeded unless the person agrees. Raises what `forget.restore` raises and, in a
    team, Rejected for one that is active, and what its server answers.
    """
    try:
        return restore(store, memory_id)
    except NotFound:
        team, name = store.team(), typed_id(memory_id)
        if team is None:
            raise
        if stored := on_server(store, name):
            old = stored.memory
            if old.status is not Status.SUPERSEDED:
                raise Rejected(f"'{name}' was not forgotten: the team has it.", "Nothing changed.") from None
            consent()
            again = replace(
                old, status=Status.ACTIVE, superseded_by="", valid_to=None, updated=store.moment()
            )
            return team.save(again, replaces=stored.digest)
        if ID.fullmatch(name):
            team.history(name)  # asks nobody about what the team never had
        consent()
        return team.restore(name)


def load_in_team(store: Store, memory_id: str) -> Stored:
    """Return a memory as the team's server has it now; raises NotFound, StorageUnavailable."""
    return team_of(store).load(typed_id(memory_id))


def confirm_in_team(store: Store, stored: Stored) -> Stored:
    """
    Confirm *stored*, exactly as it was read: all members are shown it unasked.

    Raises Conflict when it changed meanwhile, NotAllowed for a member who is no curator.
    """
    confirmed = team_of(store).confirm(stored.memory.id, digest=stored.digest)
    if confirmed.digest != stored.digest:
        raise Conflict(f"'{stored.memory.id}' was changed meanwhile.")
    refresh(store)
    return confirmed


def unconfirmed(store: Store) -> Unconfirmed:
    """Return what waits for a curator's word; raises StorageUnavailable, NotAllowed."""
    team = team_of(store)
    waiting: list[Stored] = []
    looked_at = 0
    for page in all_pages(team.page):
        looked_at += len(page)
        waiting += [
            stored for stored in page if not stored.confirmed_by and stored.memory.status is Status.ACTIVE
        ]
        if looked_at >= LOOKED_AT:
            break
    waiting.sort(key=lambda stored: (-stored.memory.updated.timestamp(), stored.memory.id))
    return Unconfirmed(tuple(waiting[:SHOWN]), len(waiting), looked_at < LOOKED_AT)


def refresh(store: Store) -> None:
    """Update the copy after a change by this member; if that fails, the next worker does it."""
    team = store.team()
    if team:
        try:
            copy(store, team)
        except (DaybookError, OSError):
            return
