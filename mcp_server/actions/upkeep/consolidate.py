"""
consolidate: memories with the same words become one; those that may differ are left to the person.

Each function yields entries for a run, each made from the files as they are at that moment, so that the
caller may carry out one before it takes the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

from mcp_server.actions.files.clock_check import old_before
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read_row
from mcp_server.actions.files.runs import DUPLICATES
from mcp_server.actions.memory.remember import still_superseded, unsaid
from mcp_server.actions.memory.revise import text_given, title_given
from mcp_server.adapters.index.events import tidying, usage
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.vault import Vault, free_path
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.judge.consolidation import (
    FRESH,
    Merge,
    MergePlan,
    TidyItem,
    absorbing,
    is_long,
    lowest_source,
)
from mcp_server.core.judge.questions import MOST_COMPARED
from mcp_server.core.list_key import extended
from mcp_server.core.memory import BESIDE, LISTS, TAGS, WORDS, Memory, as_draft
from mcp_server.core.memory_parts import (
    Kind,
    Status,
    fingerprint,
    new_id,
)
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.runs import Change, Reason, RunEntry, Why, change, creation
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.text_relation import Statement
from mcp_server.core.worth.ratings import hot_rule
from mcp_server.store import Store

MERGES = "merges"
LONGEST_TAG = 40  # characters of a tag that a model gives


@dataclass(slots=True)
class VaultKnowledge:
    """The active knowledge of one vault; `answered` is digest → type of the groups a model answered about."""

    vault: Vault
    rows: dict[str, Row]
    items: list[TidyItem]
    answered: dict[str, str] = field(default_factory=dict)


def knowledge_of(store: Store, vault: Vault) -> VaultKnowledge:
    """
    Return the active knowledge of *vault* that was updated last, at most a thousand memories.

    A repository's memory that was not accepted is neither merged nor compared: a merge would accept it, and
    it could hide what it contradicts.
    """
    now, old = store.now(), old_before(store, FRESH)
    rule = hot_rule(store.settings)
    with store.database.read() as db:
        rows = tidying.active(db, vault.key, MOST_COMPARED)
        if vault.in_repository:
            accepted = usage.accepted_digests(db, [row.digest for row in rows])
            rows = [row for row in rows if row.digest in accepted]
        usages = usage.usage_of(db, [row.ref for row in rows])
    items = []
    for row in rows:
        counts = usages.get(row.ref, usage.UNUSED)
        hot = counts.is_hot(rule, now, pinned=row.pinned)
        item = TidyItem(
            row.ref,
            row.digest,
            Statement(row.title, row.text, row.type, row.source, row.verified > 0),
            row.created,
            row.pinned,
            fresh=row.created > now - FRESH,
        )
        lasting = item.kept or hot or is_long(item) or row.created > old
        items.append(replace(item, lasting=lasting))
    return VaultKnowledge(vault, {row.ref: row for row in rows}, items)


def duplicates(store: Store, knowledge: VaultKnowledge, *, untouched: frozenset[str]) -> Iterator[RunEntry]:
    """
    Yield the entries that make one memory of two with the same words.

    Memories that are only alike, or may contradict, are a question for the person. None in *untouched* is
    archived.
    """
    by_words: dict[str, list[TidyItem]] = {}
    for item in knowledge.items:
        by_words.setdefault(fingerprint(item.statement.title, item.statement.text), []).append(item)
    absorbed_refs: set[str] = set()
    for first, other in (pair for items in by_words.values() for pair in combinations(items, 2)):
        pair = absorbing(first, other)
        if {first.ref, other.ref} & absorbed_refs or pair is None or pair[1].ref in untouched:
            continue
        files = _loaded(store, [knowledge.rows[item.ref] for item in pair])
        if files and (entry := _absorbed(store, *files)):
            absorbed_refs.add(pair[1].ref)
            yield entry
    knowledge.items = [item for item in knowledge.items if item.ref not in absorbed_refs]


def planned(
    store: Store, knowledge: VaultKnowledge, items: Sequence[TidyItem], plan: MergePlan
) -> Iterator[RunEntry]:
    """Yield the entries that carry out a model's checked *plan* for *items*."""
    for merge in plan.merges:
        if memory_files := _loaded(store, [knowledge.rows[items[number].ref] for number in merge.sources]):
            yield merged_entry(store, merge, memory_files, vault=knowledge.vault, by_person=False)
    for number in plan.drops:
        if memory_files := _loaded(store, [knowledge.rows[items[number].ref]]):
            yield put_away(store, memory_files[0], tidying.DROPS, "dropped", Why.DROPPED)


def put_away(
    store: Store, file: MemoryFile, step: str, archived_reason: str, why: Why, number: int = 0
) -> RunEntry:
    """Return the entry that archives a memory; the file gives *archived_reason*, the ledger says *why*."""
    replaced = still_superseded(store, file.memory.id) if file.memory.kind is Kind.KNOWLEDGE else ()
    reason = Reason(why, (file.memory.id,), number, replaced=replaced)
    path = free_path(file.vault, file.memory.id, file.memory.kind, place=file.place, archived=True)
    target = path.relative_to(file.vault.root).as_posix()
    changed = change(
        file.ref, file.memory, file.place, to=target, status=Status.ARCHIVED, archived_reason=archived_reason
    )
    return RunEntry(step, reason, (changed,))


def _absorbed(store: Store, stays: MemoryFile, goes: MemoryFile) -> RunEntry | None:
    """
    Return the entry by which a memory takes over what a second with the same words has beside them.

    None when the second has notes that the first lacks: the ledger, where changes stand, holds no text.
    """
    memory = stays.memory
    lacking = unsaid(memory, as_draft(goes.memory))
    if lacking.notes:
        return None
    beside = {name: value for name in BESIDE if (value := getattr(lacking, name)) is not None}
    lineage = tuple(dict.fromkeys([*memory.merged_from, goes.memory.id]))
    taking = change(stays.ref, memory, stays.place, merged_from=lineage, **beside)
    return RunEntry(
        DUPLICATES,
        Reason(Why.MERGED, (memory.id, goes.memory.id)),
        (taking, _superseded(store, goes, memory.id)),
        memory.title,
        heir=stays.ref,
        ancestors=(goes.ref,),
    )


def _superseded(store: Store, file: MemoryFile, by: str) -> Change:
    return change(
        file.ref,
        file.memory,
        file.place,
        status=Status.SUPERSEDED,
        superseded_by=by,
        valid_to=store.moment(),
    )


def merged_entry(
    store: Store,
    merge: Merge,
    memory_files: Sequence[MemoryFile],
    *,
    vault: Vault,
    by_person: bool,
) -> RunEntry:
    """
    Return the entry that merges several memories into one, whose source is the least trusted of theirs.

    It is in *vault*; files of a project mean nothing at another level.
    *by_person*: they read the text and want it so; it is verified, and theirs where one of the sources is.
    """
    sources = [file.memory for file in memory_files]
    is_persons = by_person and any(memory.source == MANUAL for memory in sources)
    ids = tuple(memory.id for memory in sources)
    newest = sorted(sources, key=lambda memory: memory.updated, reverse=True)
    last = newest[0]
    now = store.moment()
    title, text = title_given(merge.title, sources), text_given(merge.text, sources)
    joined: dict[str, Any] = {
        key.name: key.joined(getattr(memory, key.name) for memory in sources) for key in LISTS
    }
    joined |= {name: next(filter(None, (getattr(memory, name) for memory in newest)), "") for name in WORDS}
    tags = TAGS.once(tag for tag in merge.tags if len(tag) <= LONGEST_TAG)
    joined["tags"] = extended(joined["tags"], tags, TAGS.most)
    touches = (file.memory.touches for file in memory_files if file.vault.level is vault.level)
    links = dict.fromkeys(link for memory in sources for link in memory.links if link.to not in ids)
    memory = Memory(
        id=new_id(redact(title), text, now),
        title=title,
        text=text,
        created=now,
        updated=last.updated,
        kind=Kind.KNOWLEDGE,
        type=last.type,
        source=MANUAL if is_persons else lowest_source(memory.source for memory in sources),
        verified=now if by_person else None,
        touches=tuple(dict.fromkeys(chain.from_iterable(touches))),
        links=tuple(links),
        merged_from=ids,
        pinned=any(memory.pinned for memory in sources),
        session=last.session,
        conversation=last.conversation,
        evidence=last.evidence,
        notes=tuple(dict.fromkeys(note for memory in sources for note in memory.notes)),
        **joined,
    )
    ref = vault.ref(memory.id)
    place = vault.path_for(memory.id, memory.kind).relative_to(vault.root).as_posix()
    changes = (creation(ref, memory, place), *(_superseded(store, file, memory.id) for file in memory_files))
    ancestors = tuple(file.ref for file in memory_files)
    step = tidying.SETTLING if by_person else MERGES
    return RunEntry(step, Reason(Why.MERGED, ids), changes, title, memory, heir=ref, ancestors=ancestors)


def _loaded(store: Store, rows: Sequence[Row]) -> list[MemoryFile]:
    """
    Return the files of *rows* if all of them say what the index says, else [].

    A model may have thought for minutes, in which a person changed, pinned or verified one.
    """
    memory_files = []
    for row in rows:
        try:
            file = read_row(store, row)
        except (NotFound, Unreadable):
            return []
        memory = file.memory
        is_kept, was_kept = (memory.pinned, bool(memory.verified)), (row.pinned, bool(row.verified))
        if memory.status is not Status.ACTIVE or is_kept != was_kept:
            return []
        if (memory.title, memory.text) != (row.title, row.text):
            return []
        memory_files.append(file)
    return memory_files
