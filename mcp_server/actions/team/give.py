"""give: remember something for the team, or change what the team remembers; offline it waits here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.memory.remember import checked
from mcp_server.actions.memory.revise import Revision, revised
from mcp_server.actions.team.send import put_off
from mcp_server.adapters import joined, places
from mcp_server.core.errors import Conflict, DaybookError, NotAllowed, NotFound, Rejected, StorageUnavailable
from mcp_server.core.links import is_artifact
from mcp_server.core.memory import (
    WORDS,
    Draft,
    Kind,
    Level,
    Link,
    Memory,
    Status,
    check_id,
    fingerprint,
    made_of,
    new_id,
    typed_id,
)
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.core.secrets.redaction import KEEP_SECRETS, refuse_secrets
from mcp_server.core.storage.port import Result, Stored
from mcp_server.core.team.team import JoinedTeam
from mcp_server.core.text.verdict import Statement, contains
from mcp_server.store import Store

NAMED = 3  # memories near a new one that an answer names
NEAREST = 5  # memories of the team that are compared with a new one
LOOKED_FOR = 1_000  # characters of a new memory that are searched for
NO_TEAM = "You are in no team."
HOW_TO_JOIN = "Join one with 'daybook team join URL'."


@dataclass(frozen=True, slots=True)
class GivenToTeam:
    """
    What became of a memory for the team.

    `stored` is what the team has now: the new one, or with `known` the one that says the same already; None
    while it waits here, and `waits` says why. `near` are the team's memories about the same subject. `gone`
    are the ids of the team's that it took the place of, `kept` id → why that one stays.
    """

    memory: Memory
    stored: Stored | None = None
    known: bool = False
    waits: str = ""
    near: tuple[Result, ...] = ()
    gone: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()


def team_of(store: Store) -> JoinedTeam:
    """Return the team's memory; raise Rejected when the person is in no team."""
    team = store.team()
    if team is None:
        raise Rejected(NO_TEAM, HOW_TO_JOIN)
    return team


def remember_for_team(store: Store, draft: Draft, *, keep_secrets: bool = False) -> GivenToTeam:
    """
    Give the team a memory that says what *draft* says; its `supersedes` are ids of the team's memories.

    What says the same in the team already is returned instead. While the server cannot be reached it waits.
    Raises Rejected as `remember` does, and what the server answers: NotAllowed for a reader.
    """
    team = team_of(store)
    draft = checked(draft, keep_secrets=keep_secrets)
    if draft.kind is not Kind.KNOWLEDGE:
        raise Rejected(f"A team keeps knowledge, no {draft.kind.value}.", "Remember what matters of it.")
    now = store.clock().replace(microsecond=0)
    memory = made_of(draft, draft.id or new_id(draft.title, draft.text, now), now)
    return _give(store, team, for_team(store, memory))


def promote_to_team(store: Store, memory_id: str, *, keep_secrets: bool = False) -> GivenToTeam:
    """
    Give the team a memory of the person's, under its id; the person keeps their own.

    GivenToTeam again after a change, the team's is changed. Raises NotFound, Rejected for what is not active
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
            f"'{memory.id}' waits for your word, so it is not given to others.",
            f"Accept it first: daybook trust {memory.id}",
        )
    if not keep_secrets:
        words = (getattr(memory, name) for name in WORDS)
        refuse_secrets(memory.title, memory.text, *memory.tags, *words, *memory.notes, anyway=KEEP_SECRETS)
    given = replace(for_team(store, memory), updated=store.clock().replace(microsecond=0))
    try:
        there = team.load(memory.id)
    except NotFound:
        return _give(store, team, given)
    except StorageUnavailable as error:
        return _waits(store, given, "", error)
    if fingerprint(there.memory.title, there.memory.text) == fingerprint(memory.title, memory.text):
        return GivenToTeam(there.memory, there, known=True)
    return _change(store, team, there, given)


def revise_for_team(
    store: Store, memory_id: str, revision: Revision, *, version: str = "", keep_secrets: bool = False
) -> GivenToTeam:
    """
    Change a memory of the team; what a curator confirmed before is unconfirmed then.

    *version* is as for `revise`. Raises NotFound, Conflict, and what the server answers. Offline the change
    of what is copied here waits.
    """
    team = team_of(store)
    name = check_id(typed_id(memory_id))
    try:
        there = team.load(name)
    except StorageUnavailable as error:
        there = _copied(store, name, error)
    if version and not there.digest.startswith(version.strip()):
        raise Conflict(f"'{name}' changed since version {version.strip()} was read.")
    if revision.pinned is not None:
        raise Rejected("A team's memory cannot be pinned.", "It is told where it fits.")
    changed = revised(there.memory, revision, keep_secrets=keep_secrets)
    if changed == there.memory:
        return GivenToTeam(there.memory, there, known=True)
    return _change(store, team, there, replace(changed, updated=store.clock().replace(microsecond=0)))


def for_team(store: Store, memory: Memory) -> Memory:
    """
    Return *memory* as it is given to others: without ranks and without the person's sessions.

    Its links keep paths, and ids that the team has here; the ids of the person's own memories are theirs.
    """
    known = joined.copied_of(store.home)

    def kept(link: Link) -> bool:
        return is_artifact(link.to) or link.to in known

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
        links=tuple(filter(kept, memory.links)),
    )


def _give(store: Store, team: JoinedTeam, memory: Memory) -> GivenToTeam:
    """Store a new memory in the team, unless one says it already."""
    asked = Query(
        f"{memory.title} {memory.text}"[:1000], limit=NEAREST, filter=Filter(kinds=(Kind.KNOWLEDGE,))
    )
    try:
        results = [each for each in team.search(asked).results if each.stored.memory.status is Status.ACTIVE]
        same = next((each.stored for each in results if _says(each.stored.memory, memory)), None)
        if same and same.memory.id not in memory.supersedes:
            return GivenToTeam(same.memory, same, known=True)
        stored = team.save(memory)
    except StorageUnavailable as error:
        return _waits(store, memory, "", error)
    gone, kept = _take_place(store, team, stored.memory)
    near = [each for each in results if each.confidence is not Confidence.NONE]
    near = [each for each in near if each.stored.memory.id not in (memory.id, *gone)]
    return GivenToTeam(stored.memory, stored, near=tuple(near[:NAMED]), gone=gone, kept=kept)


def _change(store: Store, team: JoinedTeam, there: Stored, memory: Memory) -> GivenToTeam:
    try:
        return GivenToTeam(memory, team.save(memory, replaces=there.digest))
    except StorageUnavailable as error:
        return _waits(store, memory, there.digest, error)


def _waits(store: Store, memory: Memory, replaces: str, error: StorageUnavailable) -> GivenToTeam:
    put_off(store, memory, replaces=replaces)
    return GivenToTeam(memory, waits=str(error))


def _take_place(
    store: Store, team: JoinedTeam, memory: Memory
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Make the team's memories that *memory* names in `supersedes` superseded, as far as the member may."""
    gone, kept = list[str](), list[tuple[str, str]]()
    for name in memory.supersedes:
        try:
            old = team.load(name)
            if old.memory.status is not Status.ACTIVE:
                continue
            moment = store.clock().replace(microsecond=0)
            now = replace(
                old.memory, status=Status.SUPERSEDED, superseded_by=memory.id, valid_to=moment, updated=moment
            )
            team.save(now, replaces=old.digest)
            gone.append(name)
        except NotFound:
            kept.append((name, "the team has no such memory"))
        except (NotAllowed, Conflict, StorageUnavailable, Rejected) as error:
            kept.append((name, str(error)))
    return tuple(gone), tuple(kept)


def _copied(store: Store, memory_id: str, error: DaybookError) -> Stored:
    """Return what the copy says of a memory; raise *error* when it has none."""
    known = joined.copied_of(store.home).get(memory_id)
    vaults = places.team_vaults(store.home)
    if not known or not vaults:
        raise error
    memory = read(store.scoped(vaults), memory_id).memory
    notes = memory.notes[:-3]  # the last three say whose it is, see `copy`
    return Stored(replace(memory, notes=notes), known.version, known.author, known.confirmed_by)


def _says(whole: Memory, part: Memory) -> bool:
    """Tell whether one memory says all that another says."""
    stated, other = (Statement(each.title, each.text, each.type, each.source) for each in (whole, part))
    same = fingerprint(whole.title, whole.text) == fingerprint(part.title, part.text)
    return same or contains(stated, other)


def superseded_in(names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids that were typed as *names*; raise Rejected for what is no id."""
    return tuple(check_id(typed_id(name)) for name in names)
