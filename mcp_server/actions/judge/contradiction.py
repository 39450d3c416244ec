"""
contradictions: find memories that may contradict each other, mark them, and settle as the person says.

Finding changes nothing. Marking writes a `contradicts` link: until it is resolved both memories are shown,
the older one with a mark.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.context.open_questions import newer_first, open_questions
from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, is_accepted, read
from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced, refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import (
    Linked,
    link,
    must_be_active,
    note_resolved,
    says_it_contradicts,
)
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import chosen_model
from mcp_server.adapters.index.events import settled_pairs, tidying
from mcp_server.adapters.index.memories import memories, relations, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.relations import End
from mcp_server.core.errors import Rejected
from mcp_server.core.judge.contradictions import opposed
from mcp_server.core.judge.questions import FAR, MOST_COMPARED
from mcp_server.core.link_outcome import LinkOutcome
from mcp_server.core.links import CONTRADICTS, SUPERSEDES, as_label, as_name, names
from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.search.query import MAX_LIMIT, check_limit
from mcp_server.core.text.text_relation import Statement
from mcp_server.store import Store

WAYS = ("supersede", "keep_both", "weaken", "delete")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """
    Two memories that contradict each other, or may: `why` says in what, '' when a link marks it.

    `said_by_person` are the rows of those that the person said; a repository's file that claims so does not
    count.
    """

    first: Row
    other: Row
    why: str = ""
    nearness: float = 0.0
    sure: bool = True
    said_by_person: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Resolved:
    """
    How a contradiction was settled: the id that holds, the other's, and the way.

    `became`: the other was not simply superseded, for it belongs to another level.
    """

    id: str
    other: str
    how: str
    became: tuple[LinkOutcome, ...] = ()


@self_healing
def find_contradictions(store: Store, memory_id: str = "", *, limit: int = 5) -> list[Contradiction]:
    """
    Return pairs of active memories that may contradict each other, the likeliest first; with *memory_id*
    only those with that one.

    Pairs that are marked, or were settled and did not change since, are left out. Nothing is changed.
    Raises NotFound, Rejected for a bad limit.
    """
    check_limit(limit)
    refresh_index(store)
    about = find(store, memory_id) if memory_id.strip() else None
    vaults = store.keys
    with store.database.read() as db:
        rows = {row.row: row for key in vaults for row in tidying.active(db, key, MOST_COMPARED)}
        if about:
            if about.status is not Status.ACTIVE or about.kind is not Kind.KNOWLEDGE:
                return []
            rows[about.row] = about
        embedded, cosines = tidying.likeness(db, chosen_model(store), list(rows), FAR)
        marked = _marked(db, vaults, private=store.private)
        statements = {
            number: Statement(row.title, row.text, row.type, row.source, row.verified > 0)
            for number, row in rows.items()
        }
        contradictions: list[Contradiction] = []
        for opposition in opposed(statements, cosines, embedded, about=about.row if about else None):
            first, other = rows[opposition.first], rows[opposition.other]
            if frozenset((first.ref, other.ref)) in marked:
                continue
            if settled_pairs.is_resolved(db, first, other):
                continue
            by_person = _said_by_person(store, first, other)
            contradictions.append(
                Contradiction(
                    *newer_first(first, other),
                    opposition.why,
                    opposition.nearness,
                    opposition.sure,
                    by_person,
                )
            )
            if len(contradictions) == limit:
                break
    return contradictions


@self_healing
def get_contradictions(store: Store) -> list[Contradiction]:
    """Return the pairs of active memories that a link marks as contradicting each other."""
    ensure_synced(store)
    vaults = store.keys
    with store.database.read() as db:
        marked = _marked(db, vaults, private=vaults)
        rows = memories.by_rows(db, {end.row for ends in marked.values() for end in ends})
    return [
        Contradiction(first, second, said_by_person=_said_by_person(store, first, second))
        for first, second in ((rows[end.row], rows[other.row]) for end, other in marked.values())
    ]


def _marked(
    db: sqlite3.Connection, vaults: Sequence[str], *, private: Sequence[str]
) -> dict[frozenset[str], tuple[End, End]]:
    """Return the refs of two memories → both, for those that a link marks, as `relations.contradicting`."""
    ends = relations.contradicting(db, vaults, private=private)
    return {frozenset((end.ref, other.ref)): (end, other) for end, other in ends}


def mark_contradiction(store: Store, memory_id: str, other: str) -> Linked:
    """Mark two memories as contradicting each other. Raises NotFound, Rejected when one is not active."""
    first, second = read(store, memory_id), read(store, other)
    must_be_active(first.memory)
    must_be_active(second.memory)
    ids = first.memory.id, second.memory.id
    with store.database.read() as db:
        marked = _marked(db, store.keys, private=store.private)
    if frozenset((first.ref, second.ref)) in marked:
        return Linked(ids[0], CONTRADICTS, ids[1], changed=False)
    if first.vault.in_repository and not is_accepted(store, first):
        ids = ids[::-1]  # a link in a file that is not accepted does not count
    return link(store, *ids, CONTRADICTS)


@one_change()
def resolve_contradiction(store: Store, memory_id: str, other: str, how: str) -> Resolved:
    """
    Settle the contradiction of two memories, marked or found; the first one holds.

    *how*: `supersede` makes the first replace the other, `keep_both` keeps both, `weaken` keeps the other but
    lowers the trust in it, `delete` moves the other to the trash.
    Raises NotFound, Rejected for another word, for one memory twice, for one that is not active, and for two
    that are neither marked nor found to differ, and about which no question is open.
    """
    how = how.strip().lower().replace("-", "_")
    if how not in WAYS:
        raise Rejected(
            f"'{how[:40]}' is not a way to settle a contradiction.", f"Use one of: {', '.join(WAYS)}."
        )
    first, second = read(store, memory_id), read(store, other)
    if first.memory.id == second.memory.id:
        raise Rejected("A memory cannot contradict itself.", "Give two ids.")
    must_be_active(first.memory)
    must_be_active(second.memory)
    must_differ(store, first, second)
    holds, loses = first.memory.id, second.memory.id
    if how == "weaken":
        # Before the link is removed: after an interruption here the pair is still marked.
        reason = "contradiction_resolved"
        write_line(store, "trusted", refs=[second.ref], reason=reason, note="")
    _drop_links(store, first, second)
    _drop_links(store, second, first)
    became: tuple[LinkOutcome, ...] = ()
    if how == "supersede":
        linked = link(store, holds, loses, SUPERSEDES)
        became = linked.became if second.vault.level is Level.USER is not first.vault.level else ()
    if how == "delete":
        forget(store, loses)
    if how in ("keep_both", "weaken"):
        # Noted last: when the process is killed before, the pair is found again.
        note_resolved(store, first, second, how=how)
    catch_up_if_free(store)
    return Resolved(holds, loses, how, became)


def must_differ(store: Store, first: MemoryFile, second: MemoryFile) -> None:
    """
    Raise Rejected unless two memories are marked or found as contradicting, or a question is open.

    A mark counts here before the memory that says it is accepted: the person may settle it all the same.
    """
    first_id, other = first.memory.id, second.memory.id
    pairs = [*get_contradictions(store), *find_contradictions(store, first_id, limit=MAX_LIMIT)]
    ref_pairs = [{pair.first.ref, pair.other.ref} for pair in pairs]
    with store.database.read() as db:
        row = selections.with_ref(db, first.ref)
        questions = open_questions(store, db, about=row.row) if row else []
    ref_pairs += [{question.newer.ref, question.older.ref} for question in questions]
    waiting = says_it_contradicts(first, second.memory) or says_it_contradicts(second, first.memory)
    if {first.ref, second.ref} not in ref_pairs and not waiting:
        raise Rejected(
            f"'{first_id}' and '{other}' are not marked as contradicting each other.",
            f"Mark them first: daybook contradictions --mark {first_id} {other}",
        )


def tell_apart(store: Store, memory_id: str, others: Sequence[str]) -> tuple[str, ...]:
    """
    Note that a memory and each of *others* are both right, so that the person is not asked about them again.

    That ends when a telling word of one of them changes. Return the ids of the others. Raises NotFound, and
    Rejected for one memory twice and for two that are marked as contradicting each other.
    """
    own_file = read(store, memory_id)
    other_files = [read(store, other) for other in others]
    marked = [{pair.first.ref, pair.other.ref} for pair in get_contradictions(store)] if other_files else []
    for file in other_files:
        if file.ref == own_file.ref:
            raise Rejected("A memory is not distinct from itself.", "Give the id of another one.")
        if {own_file.ref, file.ref} in marked:
            raise Rejected(
                f"'{own_file.memory.id}' and '{file.memory.id}' are marked as contradicting each other.",
                "Settled in a terminal: daybook contradictions --resolve.",
            )
    for file in other_files:
        note_resolved(store, own_file, file, how="distinct")
    catch_up_if_free(store)
    return tuple(file.memory.id for file in other_files)


def apart(store: Store, outcome: DraftOutcome, others: Sequence[str]) -> DraftOutcome:
    """Do `tell_apart` for *outcome* and *others*; return *outcome* without these among `near`."""
    if not others:
        return outcome
    told_apart = tell_apart(store, outcome.id, others)
    return replace(
        outcome, apart=told_apart, near=tuple(near for near in outcome.near if near.id not in told_apart)
    )


def _drop_links(store: Store, source: MemoryFile, target: MemoryFile) -> None:
    """Remove the `contradicts` links to *target* from the file of *source*."""
    called = names(target.memory)
    links = tuple(
        link
        for link in source.memory.links
        if as_label(link.rel) != CONTRADICTS or as_name(link.to) not in called
    )
    if links != source.memory.links:
        revise(store, source.memory.id, Revision(links=links))


def _said_by_person(store: Store, *rows: Row) -> frozenset[int]:
    """Return the numbers of those *rows* that the person said, outside a repository."""
    return frozenset(row.row for row in rows if row.source == MANUAL and row.vault in store.private)
