"""
link: say how memories belong together, take it back, and tell what belongs to one.

A link stands in the file of the memory it goes out from. `supersedes` makes the other memory superseded,
and taking it back makes it active again; of two that a `contradicts` joins the older one is told with a mark.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.read import Found, find, is_shown, look_up, read
from mcp_server.actions.files.sync import ensure_synced
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.memory.remember import reinstate, take_place
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters.index.memories import relations
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.links import (
    CONTRADICTS,
    RELATES_TO,
    SUPERSEDES,
    all_links,
    as_label,
    as_name,
    check_label,
    is_artifact,
    labelled,
    names,
    wiki_links,
)
from mcp_server.core.memory import MAX_LINKS, Level, Link, Memory, Status, clean_tags, fingerprint
from mcp_server.core.provenance.telling import telling_digest
from mcp_server.core.render import one_line
from mcp_server.store import Store

MAX_TARGET = 200  # characters of a path
DEEPEST = 3  # links followed one after the other
MOST_RELATED = 100  # links of one answer


@dataclass(frozen=True, slots=True)
class Linked:
    """What became of a link: the ids or the path at its ends, its label, and what follows from it."""

    source: str
    rel: str
    target: str
    changed: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Related:
    """
    What belongs to a memory, or to tags.

    `edges` with the number of links that lead to each, from 1; `tagged` are the memories with any of the
    tags, and `left_out` is how many links more there are.
    """

    about: Row | None
    edges: tuple[tuple[int, Edge], ...] = ()
    tagged: tuple[Row, ...] = ()
    left_out: int = 0


def is_written(edge: Edge) -> bool:
    """Tell whether a link stands in its memory's text as `[[...]]`, where only an edit takes it out."""
    source = edge.near if edge.outgoing else edge.other
    return bool(source and edge.rel == RELATES_TO and edge.target in wiki_links(source.text))


@one_change()
def link(store: Store, source: str, target: str, rel: str = "", *, session: str = "") -> Linked:
    """
    Link the memory *source* to *target*, a memory's id or a file (`path[:line]`); again changes nothing.

    *rel* is any label, relates-to by default. Raises NotFound for an unknown end, Rejected for a label or
    a target that cannot be used, Conflict when the file changes meanwhile.
    """
    rel = check_label(rel.strip() or RELATES_TO)
    found = read(store, source)
    here = found.memory
    other = None if is_artifact(target.strip()) else read(store, target)
    end = other.memory.id if other else _path(target)
    if rel == CONTRADICTS:
        must_be_active(here)
    check_end(store, here.id, other.memory if other else None, rel)
    # Within a level what was superseded and restored gives way again; across levels both stay active.
    beside = other if other and other.vault.key == found.vault.key else None
    stands = rel == SUPERSEDES and beside is not None and beside.memory.status is Status.ACTIVE
    if not stands and labelled([each for each in all_links(here) if each.to == end], rel):
        return Linked(here.id, rel, end, changed=False)
    if len(all_links(here)) >= MAX_LINKS:
        raise Rejected(
            f"'{here.id}' has {MAX_LINKS} links, which is the most.", "Unlink what says little first."
        )
    if rel == SUPERSEDES and other:
        return _supersede(store, found, other, session)
    links = (*here.links, Link(rel, end))
    revise(store, here.id, Revision(links=links), session=session)
    store.ledger.try_append("linked", store.clock(), refs=[found.ref], rel=rel, to=end, session=session)
    note = ""
    if rel == CONTRADICTS:
        note = "Both are told, the older one with a mark, until that is resolved."
    elif other and other.memory.status is not Status.ACTIVE:
        note = f"'{end}' is {other.memory.status.value}: the link is a trace of it."
    return Linked(here.id, rel, end, changed=True, note=note)


@one_change()
def unlink(store: Store, source: str, target: str, rel: str = "", *, session: str = "") -> Linked:
    """
    Take back the links of that label, or without one all, from *source* to *target*.

    What was superseded by it is active again. `changed` is false when there was no such link.
    Raises NotFound for an unknown *source*; Rejected for one that is written in the text.
    """
    wanted = as_label(rel)
    found = read(store, source)
    here, end = found.memory, target.strip()
    if end not in (each.to for each in here.links):
        end = end.removesuffix(".md")
    other = look_up(store, end)
    called = {as_name(end)}
    if other:
        with store.database.read() as db:
            called |= relations.names_of(db, other.row)
    gone = [each for each in here.links if as_name(each.to) in called]
    gone = labelled(gone, rel) if wanted else gone
    superseding = end in here.supersedes and wanted in ("", SUPERSEDES)
    if not gone and not superseding:
        written = [name for name in wiki_links(here.text) if as_name(name) in called]
        if written and wanted in ("", RELATES_TO):
            raise Rejected(
                f"That link is written in the text of '{here.id}' as [[{written[0]}]].",
                f"Take it out of the text: {found.path}:{_line_of(found, written[0])}.",
            )
        return Linked(here.id, wanted or "linked", end, changed=False)
    revision = Revision(links=tuple(each for each in here.links if each not in gone))
    if superseding:
        revision = replace(revision, supersedes=tuple(each for each in here.supersedes if each != end))
    revise(store, here.id, revision, session=session)
    note = reinstate(store, end, by=here.id, session=session) if superseding else ""
    rels = [each.rel for each in gone] + [SUPERSEDES] * superseding
    store.ledger.try_append(
        "unlinked", store.clock(), refs=[found.ref], rel=", ".join(rels), to=end, session=session
    )
    if CONTRADICTS in rels:
        if other and _says_so_too(store, other.id, here):
            note = f"'{end}' says so too: unlink '{end}' and '{here.id}' as well."
        else:
            note_resolved(store, here.id, end, how="unlinked", session=session)
    return Linked(here.id, ", ".join(rels), end, changed=True, note=note)


@self_healing
def get_related(store: Store, memory_id: str = "", *, tags: Sequence[str] = (), depth: int = 1) -> Related:
    """
    Return what the memory *memory_id* is linked with, in both directions, up to *depth* links away (1 to 3),
    and the active memories that carry any of *tags*, those with the most of them first.

    Raises NotFound, and Rejected when neither is given or the depth cannot be used.
    """
    if not 1 <= depth <= DEEPEST:
        raise Rejected(f"A depth of {depth} cannot be used.", f"Give a number from 1 to {DEEPEST}.")
    wanted = clean_tags(tags)
    if not memory_id.strip() and not wanted:
        raise Rejected("Related to what?", "Give the id of a memory, or tags.")
    ensure_synced(store)
    vaults = [vault.key for vault in store.vaults]
    about = find(store, memory_id) if memory_id.strip() else None
    seen: dict[tuple[object, ...], tuple[int, Edge]] = {}
    with store.database.read() as db:
        tagged = relations.carrying(db, wanted, vaults) if wanted else []
        border, known = ({about.row}, {about.row}) if about else (set(), set())
        for distance in range(1, depth + 1):
            found = relations.edges(db, sorted(border), vaults)
            for edge in found:
                seen.setdefault(_identity(edge), (distance, edge))
            border = {edge.other.row for edge in found if edge.other} - known
            known |= border
            if not border or len(seen) >= MOST_RELATED:
                break
    chosen = list(seen.values())
    others = tuple(row for row in tagged if about is None or row.row != about.row)
    return Related(about, tuple(chosen[:MOST_RELATED]), others, max(0, len(chosen) - MOST_RELATED))


def note_resolved(store: Store, one: str, other: str, *, how: str, session: str) -> None:
    """Note that two memories may say what they say, so that the pair is not proposed again as it is."""
    try:
        both = read(store, one), read(store, other)
    except NotFound:
        return  # what is gone contradicts nobody
    note_settled(store, *both, how=how, session=session)


def note_settled(store: Store, one: Found, other: Found, *, how: str, session: str) -> None:
    """Note of two files what `note_resolved` notes of two ids."""
    said = [(each.memory.title, each.memory.text) for each in (one, other)]
    noted = {"how": how, "session": session, "telling": [telling_digest(*each) for each in said]}
    noted["said"] = [fingerprint(*each) for each in said]
    write_line(store, "contradiction_resolved", refs=[one.ref, other.ref], **noted)


def must_be_active(memory: Memory) -> None:
    """Raise Rejected when *memory* is not active: only what is valid now can contradict something."""
    if memory.status is not Status.ACTIVE:
        raise Rejected(
            f"'{memory.id}' is {memory.status.value}, so it contradicts nothing that is valid now.",
            "Only active memories can contradict each other.",
        )


def check_end(store: Store, start: str, other: Memory | None, rel: str) -> None:
    """Raise Rejected when the memory *start* cannot be linked so with *other*, None for a file."""
    if other is None:
        if rel in (SUPERSEDES, CONTRADICTS):
            raise Rejected(
                f"A file cannot be linked as '{rel}'; only memories can.",
                "Link to a memory's id, or use another label.",
            )
        return
    if other.id == start:
        raise Rejected("A memory cannot be linked to itself.", "Give two ids.")
    if rel == CONTRADICTS:
        must_be_active(other)
    if rel == SUPERSEDES and (start in other.supersedes or other.id in _successors(store, start)):
        raise Rejected(f"'{other.id}' supersedes '{start}' already.", "Unlink that first to turn it round.")


def _successors(store: Store, memory_id: str) -> set[str]:
    """Return the ids of what took the place of a memory, one after the other."""
    found: set[str] = set()
    row = look_up(store, memory_id)
    while row and row.superseded_by and row.superseded_by not in found:
        found.add(row.superseded_by)
        row = look_up(store, row.superseded_by)
    return found


def _says_so_too(store: Store, other: str, here: Memory) -> bool:
    """Tell whether the memory *other* says that it contradicts *here*."""
    called = names(here)
    return any(
        as_label(each.rel) == CONTRADICTS and as_name(each.to) in called
        for each in read(store, other).memory.links
    )


def _supersede(store: Store, found: Found, other: Found, session: str) -> Linked:
    here, old = found.memory, other.memory
    revision = Revision(supersedes=tuple(dict.fromkeys((*here.supersedes, old.id))))
    now = revise(store, here.id, revision, session=session)
    take_place(store, now, [old.id], session=session)
    store.ledger.try_append(
        "linked", store.clock(), refs=[found.ref], rel=SUPERSEDES, to=old.id, session=session
    )
    note = f"'{old.id}' is superseded now; it is found with include_archived."
    if not is_shown(store, now):
        note = f"'{here.id}' waits for the person's word, and takes the place of '{old.id}' with it."
    elif other.vault.level is Level.USER is not found.vault.level and old.status is Status.ACTIVE:
        note = f"'{here.id}' stands in for '{old.id}' in this project; elsewhere that holds as before."
    elif old.status is not Status.ACTIVE:
        by = f" by '{one_line(old.superseded_by, 80)}'" if old.superseded_by else ""
        note = f"'{old.id}' was {old.status.value}{by} before and stays so."
    return Linked(here.id, SUPERSEDES, old.id, changed=True, note=note)


def _path(said: str) -> str:
    path = "".join(character for character in said.strip() if character.isprintable())
    if len(path) > MAX_TARGET:
        raise Rejected(
            f"The path has {len(path)} characters; {MAX_TARGET} is the most.", "Give it from the project on."
        )
    return path


def _line_of(found: Found, target: str) -> int:
    lines = found.data.decode("utf-8", "replace").split("\n")
    return next((number for number, line in enumerate(lines, start=1) if f"[[{target}" in line), 1)


def _identity(edge: Edge) -> tuple[object, ...]:
    """Return what is equal for a link seen from both of its ends."""
    other = edge.other.row if edge.other else edge.target
    return (edge.near.row, edge.rel, other) if edge.outgoing else (other, edge.rel, edge.near.row)
