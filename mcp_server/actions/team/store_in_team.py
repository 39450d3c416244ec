"""
store in team: save a memory on the team's server, unless it has it already; supersede what it replaces.

The steps are the same for a new memory and for one that waited here. Repeating them changes nothing, so they
are repeated after a kill or a lost connection.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from mcp_server.core.errors import Conflict, NotAllowed, NotFound, Rejected
from mcp_server.core.memory import BESIDE, Memory
from mcp_server.core.memory_parts import Kind, Status, fingerprint
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.core.storage.port import ChangeKind, Result, Stored
from mcp_server.core.team.team import TeamStorage
from mcp_server.core.text.containment import contains
from mcp_server.core.text.text_relation import Statement

NAMED = 3  # memories near a new one that an answer names
NEAREST = 5  # memories of the team that are compared with a new one
LOOKED_FOR = 1_000  # characters of a new memory that are searched for
WRITING = (ChangeKind.CREATED, ChangeKind.REVISED)
PROMOTED = ("title", "text", "type", *BESIDE)
"""The keys of a memory that count as a change when it is promoted again."""


@dataclass(frozen=True, slots=True)
class StoredInTeam:
    """
    What the team has now: `stored`, the memory sent, or with `known` the one that says the same already.

    `near` are the team's memories about the same subject. `gone` are the ids of memories that it superseded,
    `kept` are (id, reason) of those that it should have superseded.
    """

    stored: Stored
    known: bool = False
    near: tuple[Result, ...] = ()
    gone: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()


def store_new(team: TeamStorage, memory: Memory, *, now: datetime) -> StoredInTeam:
    """
    Store a new memory in the team, unless a memory of the team says it already.

    Raises StorageUnavailable, even when only some steps were done, and other errors of the server.
    """
    text = f"{memory.title} {memory.text}"[:LOOKED_FOR]
    query = Query(text, limit=NEAREST, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    results = [
        result
        for result in team.search(query).results
        if result.stored.memory.status is Status.ACTIVE and result.stored.memory.id != memory.id
    ]
    same = next((result.stored for result in results if _says(result.stored.memory, memory)), None)
    if same and same.memory.id not in memory.supersedes:
        return StoredInTeam(same, known=True)
    memory, missing = _without_missing(team, memory)
    stored = team.save(memory)
    gone, kept = _take_place(team, stored.memory, now)
    kept += missing
    near = [result for result in results if result.confidence is not Confidence.NONE]
    near = [result for result in near if result.stored.memory.id not in gone]
    return StoredInTeam(stored, near=tuple(near[:NAMED]), gone=gone, kept=kept)


def store_promoted(team: TeamStorage, memory: Memory, *, now: datetime) -> StoredInTeam:
    """
    Store a memory of the person's in the team, or change the one with its id there.

    Raises what `store_new` does, and Conflict when another member wrote what it says there now.
    """
    try:
        current = team.load(memory.id)
    except NotFound:
        return store_new(team, memory, now=now)
    if all(getattr(current.memory, name) == getattr(memory, name) for name in PROMOTED):
        return StoredInTeam(current, known=True)
    if (author := _last_writer(team, memory.id)) != team.team().member:
        name = memory.id
        raise Conflict(
            f"{author} wrote what '{name}' says in the team now, so it was not replaced by yours.",
            f"After 'daybook forget {name}' that id is the team's for you too: read it and revise it there.",
        )
    return StoredInTeam(team.save(_without_missing(team, memory)[0], replaces=current.digest))


def _without_missing(team: TeamStorage, memory: Memory) -> tuple[Memory, tuple[tuple[str, str], ...]]:
    """
    Return *memory*, superseding only what the team has, and (id, reason) of the others.

    Those may be the person's own, whose ids say what they are about.
    """
    missing: dict[str, str] = {}
    for name in memory.supersedes:
        try:
            team.load(name)
        except NotFound:
            missing[name] = "the team has no such memory"
    supersedes = tuple(name for name in memory.supersedes if name not in missing)
    return replace(memory, supersedes=supersedes), tuple(missing.items())


def _last_writer(team: TeamStorage, memory_id: str) -> str:
    """Return who wrote what a memory of the team says now."""
    written = [change for change in team.history(memory_id) if change.kind in WRITING]
    return written[-1].author if written else ""


def _take_place(
    team: TeamStorage, memory: Memory, now: datetime
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Supersede what *memory* names in `supersedes`, where the member may; return (gone, kept)."""
    gone, kept = list[str](), list[tuple[str, str]]()
    for name in memory.supersedes:
        try:
            old = team.load(name)
            if old.memory.status is not Status.ACTIVE:
                continue
            superseded = replace(
                old.memory, status=Status.SUPERSEDED, superseded_by=memory.id, valid_to=now, updated=now
            )
            team.save(superseded, replaces=old.digest)
            gone.append(name)
        except (NotFound, NotAllowed, Conflict, Rejected) as error:
            kept.append((name, str(error)))
    return tuple(gone), tuple(kept)


def _says(whole: Memory, part: Memory) -> bool:
    """Tell whether one memory says all that another says."""
    stated, other = (
        Statement(memory.title, memory.text, memory.type, memory.source) for memory in (whole, part)
    )
    same = fingerprint(whole.title, whole.text) == fingerprint(part.title, part.text)
    return same or contains(stated, other)
