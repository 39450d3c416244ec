"""
link: link memories and files, remove links, and list what is linked with a memory.

A link is written in the file of the memory it starts from; a link that starts from a file is in the memory
that stands for that file. `supersedes` makes the other memory superseded, and removing it makes that active
again; of two joined by `contradicts` the older one is shown with a mark. It is long because one way in and
one way out hold for all that link: a person, Claude, and the tools of the knowledge graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.read import Found, find, is_shown, look_up, read
from mcp_server.actions.files.sync import ensure_synced, sync_if_free
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.memory.forget import forget, is_put_away, unarchive
from mcp_server.actions.memory.remember import reinstate, remember, take_place
from mcp_server.actions.memory.revise import Revision, repeated, revise
from mcp_server.adapters import memory_file
from mcp_server.adapters.index.memories import relations
from mcp_server.adapters.index.memories.memories import Row, by_rows
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.core.errors import Conflict, NotFound, Rejected
from mcp_server.core.graph.graph import GRAPH, artifact_id, stands_for
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
from mcp_server.core.memory import Draft, Level, Link, Memory, Status, clean_tags, fingerprint
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.provenance.telling import telling_digest
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store

MAX_PATH = 500  # characters
DEEPEST = 3  # links followed one after the other
MOST_RELATED = 100  # links of one answer


End = Found | str
"""One end of a link: a memory, or the path of a file."""


@dataclass(frozen=True, slots=True)
class Linked:
    """
    What became of a link: the ids or the paths at its ends, its label, and the consequence (`note`).

    `added`: there was no such link before; one that was there may have been `changed` nevertheless.
    """

    source: str
    rel: str
    target: str
    changed: bool
    note: str = ""
    added: bool = False


@dataclass(frozen=True, slots=True)
class Related:
    """
    What is linked with a memory, or carries tags.

    `edges` with the number of links that lead to each, from 1; `tagged` are the memories with any of the
    tags, and `left_out` is how many links more there are.
    """

    about: Row | None
    edges: tuple[tuple[int, Edge], ...] = ()
    tagged: tuple[Row, ...] = ()
    left_out: int = 0


def is_written(edge: Edge) -> bool:
    """Tell whether a link stands in its memory's text as `[[...]]`, where only an edit takes it out."""
    return edge.rel == RELATES_TO and edge.target in wiki_links(edge.ends[0].text)


@one_change()
def link(
    store: Store,
    source: str,
    target: str,
    rel: str = "",
    *,
    notes: Sequence[str] | None = None,
    level: Level | None = None,
    session: str = "",
) -> Linked:
    """
    Link *source* to *target*, each a memory's id, title or alias, or a file (`path[:line]`).

    *rel* is any label, relates-to by default. *notes* replace those of an existing link; without them linking
    again changes nothing. *source* is looked up at *level*, if given.
    Raises NotFound for an unknown end, Rejected for a label or an end that cannot be used or when the file
    has no room for it.
    """
    rel = check_label(rel.strip() or RELATES_TO)
    refuse_secrets(*(notes or ()))
    here = at_level(store, level) if level else store

    def attempt() -> Linked:
        start, end = ends_of(store, source, target, level)
        _check_ends(store, start, end, rel)
        done = _linked(store, here, _holder(here, start, level, session), end, rel, notes, session)
        return replace(done, source=_id(start))

    return repeated(attempt)


@one_change()
def unlink(
    store: Store, source: str, target: str, rel: str = "", *, level: Level | None = None, session: str = ""
) -> Linked:
    """
    Remove the links with that label, or without one all, from *source* to *target*, named as in `link`.

    A memory that the link superseded is active again. `changed` is false when there was no such link.
    Raises NotFound for an unknown *source*; Rejected for a link that is written in the text.
    """
    here = at_level(store, level) if level else store
    return repeated(lambda: _unlinked(store, here, source, target.strip(), rel, session))


def at_level(store: Store, level: Level) -> Store:
    """Return *store* with the vaults of *level* alone: the same id may stand at both levels."""
    if level is Level.PROJECT and not store.project:
        raise Rejected(
            "There is no project here, so there is no project level.",
            "Use level 'user', or work inside a project's folder.",
        )
    return store.scoped(vault for vault in store.vaults if vault.level is level)


def ends_of(store: Store, source: str, target: str, level: Level | None = None) -> tuple[End, End]:
    """Return what *source*, of *level* if given, and *target* name as ends; raises what `end_of` does."""
    return end_of(at_level(store, level) if level else store, source), end_of(store, target)


@self_healing
def end_of(store: Store, said: str) -> End:
    """
    Return what *said* names as an end of a link: the memory with that id, title or alias, else a file's path.

    Raises NotFound, with the nearest ids, for what is none of these, Rejected for a path that is too long.
    """
    name = said.strip()
    stem = name.removesuffix(".md")
    if look_up(store, stem):
        return read(store, stem)
    with store.database.read() as db:
        vaults = [vault.key for vault in sorted(store.vaults, key=lambda vault: vault.adopted)]
        row = relations.called(db, [("", as_name(name))], vaults).get(("", as_name(name)))
        memory = by_rows(db, [row])[row] if row else None
    if memory and not stands_for(memory.id, memory.touches) and look_up(store, memory.id) == memory:
        return read(store, memory.id)
    if not is_artifact(name):
        return read(store, name)
    if len(name) > MAX_PATH or not name.isprintable():
        raise Rejected(
            f"A path of {len(name)} characters cannot be linked.",
            f"Give it from the project on, at most {MAX_PATH} of them and none that cannot be seen.",
        )
    return name


def create(store: Store, draft: Draft) -> None:
    """Remember *draft* under its id; raises Conflict when another process took that id this moment."""
    try:
        remember(store, draft)
    except Rejected as error:
        sync_if_free(store)
        if look_up(store, draft.id) is None:
            raise
        raise Conflict(f"'{draft.id}' was put by another process this moment.") from error


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
            found = relations.edges(db, vaults, at=border)
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
    """Note that two memories may both stand as they are, so that the unchanged pair is not proposed again."""
    try:
        both = read(store, one), read(store, other)
    except NotFound:
        return  # a deleted memory cannot contradict another
    note_settled(store, *both, how=how, session=session)


def note_settled(store: Store, one: Found, other: Found, *, how: str, session: str) -> None:
    """Do what `note_resolved` does, for two files that are read already."""
    said = [(each.memory.title, each.memory.text) for each in (one, other)]
    noted = {"how": how, "session": session, "telling": [telling_digest(*each) for each in said]}
    noted["said"] = [fingerprint(*each) for each in said]
    write_line(store, "contradiction_resolved", refs=[one.ref, other.ref], **noted)


def must_be_active(memory: Memory) -> None:
    """Raise Rejected when *memory* is not active: only an active memory can contradict another."""
    if memory.status is not Status.ACTIVE:
        raise Rejected(
            f"'{memory.id}' is {memory.status.value}, so it contradicts nothing that is valid now.",
            "Only active memories can contradict each other.",
        )


def _check_ends(store: Store, start: End, end: End, rel: str) -> None:
    """Raise Rejected when *start* cannot be linked so with *end*, before anything is written."""
    if rel in (SUPERSEDES, CONTRADICTS) and not (isinstance(start, Found) and isinstance(end, Found)):
        raise Rejected(
            f"A file cannot be linked as '{rel}'; only memories can.",
            "Link to a memory's id, or use another label.",
        )
    if not (isinstance(start, Found) and isinstance(end, Found)):
        if start == end:
            raise Rejected("A file cannot be linked to itself.", "Give another path.")
        return
    new, old = start.memory, end.memory
    if start.ref == end.ref:
        raise Rejected("A memory cannot be linked to itself.", "Give two ids.")
    if rel == CONTRADICTS:
        must_be_active(new)
        must_be_active(old)
    if rel == SUPERSEDES:
        if new.id in old.supersedes or old.id in _successors(store, new.id):
            raise Rejected(
                f"'{old.id}' supersedes '{new.id}' already.", "Unlink that first to turn it round."
            )
        memory_file.check_replaceable(end.data, old, path=str(end.path))


def _holder(here: Store, start: End, level: Level | None, session: str) -> Found:
    """Return the memory whose file holds the links of *start*; for a path, create one that stands for it."""
    if isinstance(start, Found):
        return start
    memory_id = artifact_id(start)
    if look_up(here, memory_id) is None:
        draft = Draft(clipped(start), start, "reference", id=memory_id, level=level, category=GRAPH)
        create(here, replace(draft, touches=(start,), session=session, source=ASSISTANT))
    found = read(here, memory_id)
    return unarchive(here, found, session=session) if is_put_away(found) else found


def _linked(
    store: Store,
    here: Store,
    found: Found,
    end: End,
    rel: str,
    notes: Sequence[str] | None,
    session: str,
) -> Linked:
    source, target = found.memory.id, _id(end)
    other = end if isinstance(end, Found) else None
    memory, added = _with_link(found.memory, rel, end, notes)
    # Within a level a restored memory is superseded again; across levels both stay active.
    again = rel == SUPERSEDES and other is not None and other.memory.status is Status.ACTIVE
    if memory == found.memory and not (again and other and other.vault.key == found.vault.key):
        return Linked(source, rel, target, changed=False)
    if added:
        memory_file.check_room(found.data, memory, path=str(found.path))
    revision = Revision(links=memory.links, supersedes=memory.supersedes)
    now = revise(here, source, revision, version=found.digest, session=session)
    note = ""
    if rel == SUPERSEDES and other:
        take_place(store, now, [target], session=session)
        note = _superseded(store, now, other)
    elif rel == CONTRADICTS:
        note = "Both are told, the older one with a mark, until that is resolved."
    elif other and other.memory.status is not Status.ACTIVE:
        note = f"'{target}' is {other.memory.status.value}: the link is a trace of it."
    store.ledger.try_append("linked", store.clock(), refs=[found.ref], rel=rel, to=target, session=session)
    return Linked(source, rel, target, changed=True, note=note, added=added)


def _with_link(memory: Memory, rel: str, end: End, notes: Sequence[str] | None) -> tuple[Memory, bool]:
    """Return *memory* with the link to *end*, and whether there was none of that label."""
    known = bool(labelled([link for link in all_links(memory) if _leads_to(link.to, end)], rel))
    old = next(iter(labelled([link for link in memory.links if _leads_to(link.to, end)], rel)), None)
    new = Link(rel, _id(end), tuple(notes) if notes is not None else old.notes if old else ())
    links = tuple(new if link == old else link for link in memory.links)
    if rel == SUPERSEDES:
        memory = replace(memory, supersedes=tuple(dict.fromkeys((*memory.supersedes, new.to))))
        if not new.notes:  # without notes the frontmatter key `supersedes` is enough
            return replace(memory, links=tuple(link for link in links if link != new)), not known
    elif known and notes is None:
        return memory, False
    return replace(memory, links=links if old else (*links, new)), not known


def _unlinked(store: Store, here: Store, source: str, target: str, rel: str, session: str) -> Linked:
    start, end, label = end_of(here, source), _end_or_name(store, target), as_label(rel)
    if isinstance(start, str) and look_up(here, artifact_id(start)) is None:
        return Linked(start, label or "linked", _id(end), changed=False)
    found = start if isinstance(start, Found) else read(here, artifact_id(start))
    memory, name = found.memory, _id(end)
    gone = [link for link in memory.links if _leads_to(link.to, end)]
    gone = labelled(gone, rel) if label else gone
    olds = [old for old in memory.supersedes if label in ("", SUPERSEDES) and _leads_to(old, end)]
    if not gone and not olds:
        written = [said for said in wiki_links(memory.text) if _leads_to(said, end)]
        if written and label in ("", RELATES_TO):
            raise Rejected(
                f"That link is written in the text of '{memory.id}' as [[{written[0]}]].",
                f"Take it out of the text: {found.path}:{_line_of(found, written[0])}.",
            )
        return Linked(_id(start), label or "linked", name, changed=False)
    links = tuple(link for link in memory.links if link not in gone)
    supersedes = tuple(old for old in memory.supersedes if old not in olds)
    if stands_for(memory.id, memory.touches) and not (links or supersedes):
        forget(here, memory.id, session=session)
    else:
        revision = Revision(links=links, supersedes=supersedes)
        revise(here, memory.id, revision, version=found.digest, session=session)
    note = " ".join(reinstate(store, old, by=memory.id, session=session) for old in olds)
    rels = list(dict.fromkeys([*(link.rel for link in gone), *(SUPERSEDES for _ in olds)]))
    said = ", ".join(rels)
    store.ledger.try_append("unlinked", store.clock(), refs=[found.ref], rel=said, to=name, session=session)
    if CONTRADICTS in map(as_label, rels):
        if isinstance(end, Found) and _says_so_too(end, memory):
            note = f"'{name}' says so too: unlink '{name}' and '{memory.id}' as well."
        else:
            note_resolved(store, memory.id, name, how="unlinked", session=session)
    return Linked(_id(start), said, name, changed=True, note=note)


def _successors(store: Store, memory_id: str) -> set[str]:
    """Return the ids of the memory's successor, of that one's successor, and so on."""
    found: set[str] = set()
    row = look_up(store, memory_id)
    while row and row.superseded_by and row.superseded_by not in found:
        found.add(row.superseded_by)
        row = look_up(store, row.superseded_by)
    return found


def _says_so_too(other: Found, here: Memory) -> bool:
    """Tell whether the memory *other* says that it contradicts *here*."""
    called = names(here)
    links = other.memory.links
    return any(as_label(each.rel) == CONTRADICTS and as_name(each.to) in called for each in links)


def _superseded(store: Store, new: Found, old: Found) -> str:
    """Return a sentence about what became of *old* (as it was before) now that *new* supersedes it."""
    here, was = new.memory.id, old.memory
    if not is_shown(store, new):
        return f"'{here}' waits for the person's word, and takes the place of '{was.id}' with it."
    if old.vault.level is Level.USER is not new.vault.level and was.status is Status.ACTIVE:
        return f"'{here}' stands in for '{was.id}' in this project; elsewhere that holds as before."
    if was.status is not Status.ACTIVE:
        by = f" by '{one_line(was.superseded_by, 80)}'" if was.superseded_by else ""
        return f"'{was.id}' was {was.status.value}{by} before and stays so."
    return f"'{was.id}' is superseded now; it is found with include_archived."


def _end_or_name(store: Store, said: str) -> End:
    """Return the end that *said* names, or *said* itself when nothing has that name any more."""
    try:
        return end_of(store, said)
    except NotFound:
        return said


def _leads_to(target: str, end: End) -> bool:
    """Tell whether a link to *target* leads to *end*: a memory by any of its names, a file by its path."""
    if isinstance(end, Found):
        return as_name(target) in names(end.memory)
    return target == end or (not is_artifact(end) and as_name(target) == as_name(end))


def _id(end: End) -> str:
    """Return the target that a link to *end* has in its file."""
    return end.memory.id if isinstance(end, Found) else end


def _line_of(found: Found, target: str) -> int:
    lines = found.data.decode("utf-8", "replace").split("\n")
    return next((number for number, line in enumerate(lines, start=1) if f"[[{target}" in line), 1)


def _identity(edge: Edge) -> tuple[object, ...]:
    """Return a key that is equal for a link seen from either end."""
    start, end = edge.ends
    return start.row, edge.rel, end.row if end else edge.target
