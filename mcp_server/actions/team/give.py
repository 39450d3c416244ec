"""give: store a memory in the team, or change one of the team's; without the server it waits here."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_server.actions.files.read import is_shown, look_up, read
from mcp_server.actions.files.touched import as_touched
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.memory.remember import checked
from mcp_server.actions.memory.revise import Revision, check_version, revised
from mcp_server.actions.team.send import Waiting, put_off, waiting_as
from mcp_server.actions.team.store_in_team import StoredInTeam, store_new, store_promoted
from mcp_server.actions.team.where import on_server
from mcp_server.adapters import places, team_membership
from mcp_server.core.errors import DaybookError, NotFound, Rejected, StorageUnavailable
from mcp_server.core.links import is_artifact
from mcp_server.core.memory import LISTS, Draft, Link, Memory, made_of, texts_beside
from mcp_server.core.memory_parts import Kind, Level, Status, check_id, new_id, typed_id
from mcp_server.core.secrets.redaction import KEEP_SECRETS, redact, refuse_secrets
from mcp_server.core.storage.port import Stored
from mcp_server.core.team.team import JoinedTeam
from mcp_server.core.text.private import has_private
from mcp_server.store import Store

NO_TEAM = "You are not in a team."
HOW_TO_JOIN = "Join one with 'daybook team join URL'."


@dataclass(frozen=True, slots=True)
class GivenToTeam:
    """
    What became of a memory for the team: `done`, or None while it waits here, and `waits` says why; '' where
    it waited before.

    `memory` is what the team has now, or what waits.
    """

    memory: Memory
    done: StoredInTeam | None = None
    waits: str = ""


def team_of(store: Store) -> JoinedTeam:
    """Return the team's memory; raise Rejected when the person is in no team."""
    team = store.team()
    if team is None:
        raise Rejected(NO_TEAM, HOW_TO_JOIN)
    return team


def remember_for_team(store: Store, draft: Draft, *, keep_secrets: bool = False) -> GivenToTeam:
    """
    Store *draft* as a memory of the team; its `supersedes` are ids of the team's memories.

    If a memory of the team says the same already, that one is returned. Without the server the new one waits.
    Raises Rejected as `remember` does, and what the server answers: NotAllowed for a reader.
    """
    team = team_of(store)
    replaced_ids = tuple(check_id(typed_id(name)) for name in draft.supersedes)
    draft = replace(checked(draft, keep_secrets=keep_secrets), supersedes=replaced_ids)
    if draft.kind is not Kind.KNOWLEDGE:
        raise Rejected(f"A team keeps knowledge, not a {draft.kind.value}.", "Remember what matters of it.")
    now = store.moment()
    memory = made_of(draft, draft.id or new_id(redact(draft.title), draft.text, now), now)
    gift = for_team(store, memory)
    try:
        return _given(store_new(team, gift, now=now))
    except StorageUnavailable as error:
        return _waits(error, put_off(store, gift))


def promote_to_team(store: Store, memory_id: str, *, keep_secrets: bool = False) -> GivenToTeam:
    """
    Store a memory of the person's in the team, under its id; the person keeps their own.

    Promoting it again after a change changes the team's. Raises NotFound, Rejected for what is not active
    knowledge or waits for the person's word, and what the server answers.
    """
    team = team_of(store)
    file = read(store, memory_id)
    memory = file.memory
    if file.vault.level is Level.TEAM:
        raise Rejected(f"'{memory.id}' is the team's already.")
    if memory.kind is not Kind.KNOWLEDGE or memory.status is not Status.ACTIVE:
        raise Rejected(
            f"'{memory.id}' cannot be given to the team: only active knowledge can.",
            "Restore it first, or remember for the team what matters of it.",
        )
    if not is_shown(store, file):
        raise Rejected(
            f"'{memory.id}' waits for you to accept it, so it is not shared yet.",
            f"Accept it first: daybook trust {memory.id}",
        )
    if not keep_secrets:
        refuse_secrets(memory.title, memory.text, *texts_beside(memory), anyway=KEEP_SECRETS)
    now = store.moment()
    gift = replace(for_team(store, memory), updated=now)
    try:
        return _given(store_promoted(team, gift, now=now))
    except StorageUnavailable as error:
        return _waits(error, put_off(store, gift, promoted=True))


def revise_for_team(
    store: Store, memory_id: str, revision: Revision, *, version: str = "", keep_secrets: bool = False
) -> GivenToTeam:
    """
    Change a memory of the team, which ends its confirmation.

    *version* is as for `revise`. Raises NotFound, Conflict, and what the server answers. Without the
    server, a change of a copied memory waits. What waits already is changed where it waits, so that no
    earlier change is lost; one that was refused only where the server has no such memory.
    """
    team = team_of(store)
    name = check_id(typed_id(memory_id))
    if revision.pinned is not None:
        raise Rejected("A team's memory cannot be pinned.", "Claude is shown it where it fits.")
    waits = waiting_as(store, name)
    if waits and not waits.refused:
        return _revised_waiting(store, waits, revision, version=version, keep_secrets=keep_secrets)
    try:
        current = team.load(name)
    except (NotFound, StorageUnavailable) as error:
        if waits:
            return _revised_waiting(store, waits, revision, version=version, keep_secrets=keep_secrets)
        if isinstance(error, NotFound):
            raise
        current = _copied(store, name, error)
    _check_version(store, name, current.digest, version)
    links = current.memory.links
    changed = _for_others(store, revised(current.memory, revision, keep_secrets=keep_secrets), known=links)
    if changed == current.memory:
        return _given(StoredInTeam(current, known=True))
    changed = replace(changed, updated=store.moment())
    try:
        return _given(StoredInTeam(team.save(changed, replaces=current.digest)))
    except StorageUnavailable as error:
        return _waits(error, put_off(store, changed, replaces=current.digest))


def _check_version(store: Store, memory_id: str, digest: str, version: str) -> None:
    """Check as `check_version` does; what was read may have been the copy, whose file has another digest."""
    copy = team_membership.copied_of(store.home).get(memory_id)
    if copy is None or copy.version != digest or not copy.digest.startswith(version.strip()):
        check_version(memory_id, digest, version)


def _revised_waiting(
    store: Store, waits: Waiting, revision: Revision, *, version: str, keep_secrets: bool
) -> GivenToTeam:
    """Change what waits to be sent; *version* is that of the team's memory that it replaces."""
    _check_version(store, waits.id, waits.replaces, version)
    links = waits.memory.links
    changed = _for_others(store, revised(waits.memory, revision, keep_secrets=keep_secrets), known=links)
    return GivenToTeam(put_off(store, replace(changed, updated=store.moment())).memory)


def _for_others(store: Store, memory: Memory, *, known: Sequence[Link] = ()) -> Memory:
    """
    Return *memory* with its files named without the person's home folder, which has their name.

    Links to files and to the team's memories stay, and those *known* to the team; others do not, because the
    id of a memory of the person's says what it is about.
    Raises Rejected where the person marked a part of it as private: that is for no team.
    """
    if any(map(has_private, (memory.title, memory.text, *texts_beside(memory)))):
        raise Rejected(
            "A part of it is marked <private>, so it is not given to the team.",
            "Give the team a memory without that part.",
        )
    links = (
        replace(link, to="".join(as_touched(store, [link.to]))) if is_artifact(link.to) else link
        for link in memory.links
        if link in known or is_artifact(link.to) or _is_of_team(store, link.to)
    )
    return replace(memory, touches=as_touched(store, memory.touches), links=tuple(links))


def _is_of_team(store: Store, name: str) -> bool:
    """Tell whether the team has a memory called *name*; its server is asked of no memory of the person's."""
    if name in team_membership.copied_of(store.home):
        return True
    if look_up(store.everywhere(), name) or next(in_trash(store, name), None):
        return False
    with contextlib.suppress(DaybookError):
        return on_server(store, name) is not None
    return False


def for_team(store: Store, memory: Memory) -> Memory:
    """
    Return *memory* without what others must not get: ranks, the person's sessions and evidence, their home.

    Raises Rejected for one in which `<private>` stands.
    Of more tags and the like than a memory may be given, they get the first.
    """
    memory = _for_others(store, memory)
    lists: dict[str, Any] = {key.name: key.first(getattr(memory, key.name)) for key in LISTS}
    return replace(
        memory,
        pinned=False,
        trust=None,
        verified=None,
        aliases=(),
        merged_from=(),
        session="",
        conversation="",
        evidence="",
        **lists,
    )


def _given(outcome: StoredInTeam) -> GivenToTeam:
    return GivenToTeam(outcome.stored.memory, outcome)


def _waits(error: StorageUnavailable, waiting: Waiting) -> GivenToTeam:
    return GivenToTeam(waiting.memory, waits=str(error))


def _copied(store: Store, memory_id: str, error: DaybookError) -> Stored:
    """Return what the copy says of a memory; raise *error* when it has none, or one that somebody edited."""
    copy = team_membership.copied_of(store.home).get(memory_id)
    vaults = places.team_vaults(store.home)
    if not copy or not vaults:
        raise error
    file = read(store.scoped(vaults), memory_id)
    if file.digest != copy.digest:
        raise error
    notes = file.memory.notes[:-3]  # the last three name team, author and curator, see `copy`
    return Stored(replace(file.memory, notes=notes), copy.version, copy.author, copy.confirmed_by)
