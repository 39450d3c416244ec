"""
consolidate: what says the same in the same words becomes one memory; what may differ is left to the person.

Each function yields entries for the journal, each made from the files as they are when it is asked for,
so that whoever takes them may carry out one before the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations

from mcp_server.actions.clock_check import old_before
from mcp_server.actions.journal import DUPLICATES
from mcp_server.actions.read import Found, read_row
from mcp_server.adapters.index import relations, tidying, usage
from mcp_server.adapters.index.memories import Row
from mcp_server.adapters.vault import Vault
from mcp_server.core.consolidation import (
    CLUSTER,
    FRESH,
    Item,
    Merge,
    Plan,
    Relation,
    absorbing,
    difference,
    is_long,
    lowest_source,
    newer,
    relation,
)
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.journal import Change, Entry, change, creation
from mcp_server.core.links import all_links, as_name, names
from mcp_server.core.memory import (
    ARCHIVE_FOLDER,
    MAX_TAGS,
    Kind,
    Memory,
    Status,
    clean_tags,
    clean_text,
    clean_title,
    fingerprint,
    new_id,
)
from mcp_server.core.verdict import Statement, enumerates, jaccard, tokens
from mcp_server.store import Store

MERGES = "merges"

MOST_COMPARED = 1000  # memories of one vault that are compared with each other, those updated last
LONGEST_TAG = 40  # characters of a tag that a model gives
MOST_PROPOSED = 20  # pairs that are left to the person, in one report
MOST_PAIRS = 5_000  # pairs of one vault that are looked at closely, the likeliest: a few seconds
WORTH_A_LOOK = 0.3  # Jaccard below which two memories are neither alike nor about the same thing
LONGEST_COMPARED = 4000  # characters; longer texts are compared for equality alone


@dataclass(slots=True)
class Known:
    """The active knowledge of one vault; `asked` has the type of each group that a model answered about."""

    vault: Vault
    rows: dict[str, Row]
    items: list[Item]
    pairs: list[tuple[Relation, Item, Item]] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)


def known(store: Store, vault: Vault) -> Known:
    """
    Return the active knowledge of *vault* that was updated last, at most a thousand memories.

    What came with a repository and was not accepted is neither merged nor compared: it would be accepted
    by a merge, and could hide what it contradicts.
    """
    now, old = store.now(), old_before(store, FRESH)
    with store.database.read() as db:
        rows = tidying.active(db, vault.key, MOST_COMPARED)
        if vault.in_repository:
            accepted = usage.accepted_digests(db, [row.digest for row in rows])
            rows = [row for row in rows if row.digest in accepted]
        used = usage.usage_of(db, [row.ref for row in rows])
    items = []
    for row in rows:
        counts = used.get(row.ref, usage.UNUSED)
        hot = counts.is_hot(now, pinned=row.pinned)
        item = Item(
            row.ref,
            row.digest,
            Statement(row.title, row.text, row.type, row.source, row.verified > 0),
            row.tags,
            row.created,
            row.pinned,
            instructing=row.instructing,
        )
        lasting = item.kept or hot or is_long(item) or row.created > old
        items.append(replace(item, lasting=lasting))
    return Known(vault, {row.ref: row for row in rows}, items)


def compare(store: Store, here: Known) -> None:
    """Find the pairs of *here* that say the same, nearly the same, or the opposite."""
    with store.database.read() as db:
        cosines = tidying.likeness(db, [row.row for row in here.rows.values()], CLUSTER)
    said = {item.ref: tokens(item.statement.said[:LONGEST_COMPARED]) for item in here.items}
    prints = {item.ref: fingerprint(item.statement.title, item.statement.text) for item in here.items}
    short = {item.ref for item in here.items if len(item.statement.text) <= LONGEST_COMPARED}
    likely: list[tuple[float, float | None, Item, Item]] = []
    for one, other in combinations(here.items, 2):
        if prints[one.ref] == prints[other.ref]:
            here.pairs.append((Relation.SAME, one, other))
        elif one.ref in short and other.ref in short:
            rows = sorted((here.rows[one.ref].row, here.rows[other.ref].row))
            cosine = cosines.get((rows[0], rows[1]))
            common = jaccard(said[one.ref], said[other.ref])
            if cosine is not None or common >= WORTH_A_LOOK:
                likely.append((max(common, cosine or 0.0), cosine, one, other))
    likely.sort(key=lambda each: (-each[0], each[2].ref, each[3].ref))
    for _, cosine, one, other in likely[:MOST_PAIRS]:
        found = relation(one.statement, other.statement, cosine)
        if found is not Relation.OTHER:
            here.pairs.append((found, one, other))
    order = list(Relation)
    here.pairs.sort(key=lambda pair: (order.index(pair[0]), pair[1].ref, pair[2].ref))


def duplicates(
    store: Store, here: Known, *, untouched: frozenset[str], proposals: list[str]
) -> Iterator[Entry]:
    """
    Yield what makes one memory of two that say the same in the same words.

    Pairs that are only alike, or may contradict each other, are added to *proposals*, 20 at most: code cannot
    tell which of two holds. What is in *untouched* does not go.
    """
    gone: set[str] = set()
    apart: list[tuple[Item, Item, str]] = []
    for found, one, other in here.pairs:
        pair = absorbing(one, other) if found is Relation.SAME else None
        if {one.ref, other.ref} & gone:
            continue
        if pair is None or pair[1].ref in untouched:
            why = difference(one.statement, other.statement) if found is Relation.OPPOSED else ""
            apart.append((one, other, f"may differ in {why}" if why else "are alike"))
            continue
        files = _loaded(store, [here.rows[item.ref] for item in pair])
        if files:
            gone.add(pair[1].ref)
            yield _absorbed(store, *files)
    here.items = [item for item in here.items if item.ref not in gone]
    proposals += _open(store, here, apart)[: max(0, MOST_PROPOSED - len(proposals))]


def _open(store: Store, here: Known, pairs: Sequence[tuple[Item, Item, str]]) -> list[str]:
    """Return a line for each of *pairs* that nobody linked, settled or took apart yet."""
    told = []
    with store.database.read() as db:
        for one, other, why in pairs:
            later, older = newer(one, other)
            series = enumerates(one.statement.title, other.statement.title)
            if series or relations.is_resolved(db, here.rows[one.ref], here.rows[other.ref]):
                continue
            files = _loaded(store, [here.rows[later.ref], here.rows[older.ref]])
            if files and not _linked(files[0].memory, files[1].memory):
                told.append(f"[{later.id}] and [{older.id}] {why}")
            if len(told) == MOST_PROPOSED:
                break
    return told


def planned(store: Store, here: Known, items: Sequence[Item], plan: Plan) -> Iterator[Entry]:
    """Yield what the checked *plan* of a model makes of *items*."""
    for merge in plan.merges:
        if found := _loaded(store, [here.rows[items[number].ref] for number in merge.sources]):
            yield _merged(store, merge, found)
    for number in plan.drops:
        if found := _loaded(store, [here.rows[items[number].ref]]):
            yield put_away(found[0], tidying.DROPS, "dropped", f"drop: [{found[0].memory.id}]")


def put_away(found: Found, step: str, reason: str, line: str) -> Entry:
    """Return the entry that moves a memory to the archive for *reason*."""
    target = f"{ARCHIVE_FOLDER}/{found.memory.id}.md"
    changed = change(
        found.ref, found.memory, found.place, to=target, status=Status.ARCHIVED, archived_reason=reason
    )
    return Entry(step, line, (changed,))


def _absorbed(store: Store, stays: Found, goes: Found) -> Entry:
    memory = stays.memory
    tags = tuple(dict.fromkeys([*memory.tags, *goes.memory.tags]))[:MAX_TAGS]
    lineage = tuple(dict.fromkeys([*memory.merged_from, goes.memory.id]))
    taking = change(stays.ref, memory, stays.place, tags=tags, merged_from=lineage)
    return Entry(
        DUPLICATES,
        f"merge 2: [{memory.id}] + [{goes.memory.id}]",
        (taking, _superseded(store, goes, memory.id)),
        memory.title,
        heir=stays.ref,
        ancestors=(goes.ref,),
    )


def _superseded(store: Store, found: Found, by: str) -> Change:
    return change(
        found.ref,
        found.memory,
        found.place,
        status=Status.SUPERSEDED,
        superseded_by=by,
        valid_to=store.clock().replace(microsecond=0),
    )


def _merged(store: Store, merge: Merge, found: Sequence[Found]) -> Entry:
    """Return the entry that makes one memory of several, nobody's better word than the least of them."""
    sources = [each.memory for each in found]
    ids = tuple(memory.id for memory in sources)
    last = max(sources, key=lambda memory: memory.updated)
    now = store.clock().replace(microsecond=0)
    title, text = clean_title(merge.title), clean_text(merge.text)
    told = [tag for memory in sources for tag in memory.tags] + [
        t for t in merge.tags if len(t) <= LONGEST_TAG
    ]
    tags = tuple(dict.fromkeys(tag for one in told for tag in clean_tags([one])))[:MAX_TAGS]
    links = dict.fromkeys(link for memory in sources for link in memory.links if link.to not in ids)
    memory = Memory(
        id=new_id(title, text, now),
        title=title,
        text=text,
        created=now,
        updated=last.updated,
        kind=Kind.KNOWLEDGE,
        type=last.type,
        tags=tags,
        source=lowest_source(memory.source for memory in sources),
        touches=tuple(dict.fromkeys(path for memory in sources for path in memory.touches)),
        links=tuple(links),
        merged_from=ids,
        category=last.category,
        session=last.session,
        conversation=last.conversation,
        evidence=last.evidence,
    )
    vault = found[0].vault
    ref = f"{vault.key}/{memory.id}"
    place = vault.path_for(memory.id, memory.kind).relative_to(vault.root).as_posix()
    reason = f"merge {len(ids)}: {' + '.join(f'[{each}]' for each in ids)}"
    changes = (creation(ref, memory, place), *(_superseded(store, each, memory.id) for each in found))
    ancestors = tuple(each.ref for each in found)
    return Entry(MERGES, reason, changes, title, memory, heir=ref, ancestors=ancestors)


def _loaded(store: Store, rows: Sequence[Row]) -> list[Found]:
    """Return the files of *rows* when all of them say what the index says, else nothing."""
    found = []
    for row in rows:
        try:
            each = read_row(store, row)
        except (NotFound, Unreadable):
            return []
        memory = each.memory
        if memory.status is not Status.ACTIVE or (memory.title, memory.text) != (row.title, row.text):
            return []
        found.append(each)
    return found


def _linked(one: Memory, other: Memory) -> bool:
    return any(
        as_name(link.to) in names(target)
        for memory, target in ((one, other), (other, one))
        for link in all_links(memory)
    )


def day_of(row: Row) -> str:
    """Return the day on which a memory was written."""
    return f"{datetime.fromtimestamp(row.created, UTC):%Y-%m-%d}"
