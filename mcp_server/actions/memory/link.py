"""
link: link memories and files, and remove links.

A link is written in the file of the memory it starts from; a link that starts from a file is in the memory
that stands for that file. `supersedes` makes the other memory superseded, and removing it makes that active
again; of two joined by `contradicts` the older one is shown with a mark.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_shown, look_up, read
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.forget import forget, is_put_away, unarchive
from mcp_server.actions.memory.related import End, at_level, end_of, ends_of
from mcp_server.actions.memory.remember import reinstate, remember, take_place
from mcp_server.actions.memory.revise import Revision, repeated, revise
from mcp_server.adapters import memory_file
from mcp_server.core.errors import Conflict, NotFound, Rejected
from mcp_server.core.graph.graph import GRAPH, artifact_id, stands_for
from mcp_server.core.link_outcome import After, LinkOutcome
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
from mcp_server.core.memory import Draft, Link, Memory
from mcp_server.core.memory_parts import Level, Status, fingerprint, is_nearer
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.provenance.telling_words import telling_digest
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Linked:
    """
    What became of a link: the ids or the paths at its ends, its label, and the memories that it changed.

    `added`: there was no such link before; one that was there may have been `changed` nevertheless.
    """

    source: str
    rel: str
    target: str
    changed: bool
    became: tuple[LinkOutcome, ...] = ()
    added: bool = False


@one_change()
def link(
    store: Store,
    source: str,
    target: str,
    rel: str = "",
    *,
    notes: Sequence[str] | None = None,
    level: Level | None = None,
) -> Linked:
    """
    Link *source* to *target*, each a memory's id, title or alias, or a file (`path[:line]`).

    *rel* is any label, relates-to by default. *notes* replace those of an existing link; without them linking
    again changes nothing. *source* is looked up at *level*, if given.
    Raises NotFound for an unknown end, Rejected for a label or an end that cannot be used or when the file
    has no room for it.
    """
    refuse_secrets(rel, *(notes or ()))
    rel = check_label(rel.strip() or RELATES_TO)
    of_level = at_level(store, level) if level else store

    def attempt() -> Linked:
        start, end = ends_of(store, source, target, level)
        refuse_secrets(*(path for path in (start, end) if isinstance(path, str)))
        _check_ends(store, start, end, rel)
        linked = _linked(store, of_level, _holder(of_level, start, level), end, rel, notes)
        return replace(linked, source=_id(start))

    return repeated(attempt)


@one_change()
def unlink(store: Store, source: str, target: str, rel: str = "", *, level: Level | None = None) -> Linked:
    """
    Remove the links with that label, or without one all, from *source* to *target*, named as in `link`.

    A memory that the link superseded is active again. `changed` is false when there was no such link.
    Raises NotFound for an unknown *source*; Rejected for a link that is written in the text.
    """
    of_level = at_level(store, level) if level else store
    return repeated(lambda: _unlinked(store, of_level, source, target.strip(), rel))


def create(store: Store, draft: Draft) -> None:
    """Remember *draft* under its id; raises Conflict when another process took that id this moment."""
    try:
        remember(store, draft)
    except Rejected as error:
        sync_if_free(store)
        if look_up(store, draft.id) is None:
            raise
        raise Conflict(f"'{draft.id}' was just stored by another process.") from error


def note_resolved(store: Store, memory_file: MemoryFile, other: MemoryFile, *, how: str) -> None:
    """Note that two memories may both stand as they are, so that the unchanged pair is not proposed again."""
    texts = [(file.memory.title, file.memory.text) for file in (memory_file, other)]
    detail = {"how": how, "telling": [telling_digest(*file) for file in texts]}
    detail["said"] = [fingerprint(*file) for file in texts]
    write_line(store, "contradiction_resolved", refs=[memory_file.ref, other.ref], **detail)


def must_be_active(memory: Memory) -> None:
    """Raise Rejected when *memory* is not active: only an active memory can contradict another."""
    if memory.status is not Status.ACTIVE:
        raise Rejected(
            f"'{memory.id}' is {memory.status.value}, so it cannot contradict anything.",
            "Only active memories can contradict each other.",
        )


def _check_ends(store: Store, start: End, end: End, rel: str) -> None:
    """Raise Rejected when *start* cannot be linked so with *end*, before anything is written."""
    if rel in (SUPERSEDES, CONTRADICTS) and not (
        isinstance(start, MemoryFile) and isinstance(end, MemoryFile)
    ):
        raise Rejected(
            f"A file cannot be linked as '{rel}'; only memories can.",
            "Link to a memory's id, or use another label.",
        )
    if not (isinstance(start, MemoryFile) and isinstance(end, MemoryFile)):
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
                f"'{old.id}' supersedes '{new.id}' already.",
                "Remove that link first to reverse the direction.",
            )
        memory_file.check_replaceable(end.data, old, path=str(end.path))


def _holder(store: Store, start: End, level: Level | None) -> MemoryFile:
    """Return the memory whose file holds the links of *start*; for a path, create one that stands for it."""
    if isinstance(start, MemoryFile):
        return start
    memory_id = artifact_id(start)
    if look_up(store, memory_id) is None:
        draft = Draft(clipped(start), start, "reference", id=memory_id, level=level, category=GRAPH)
        create(store, replace(draft, touches=(start,), session=store.session, source=ASSISTANT))
    file = read(store, memory_id)
    return unarchive(store, file) if is_put_away(file) else file


def _linked(
    store: Store, of_level: Store, file: MemoryFile, end: End, rel: str, notes: Sequence[str] | None
) -> Linked:
    """Write the link to *end* into *file*, a memory of *of_level*."""
    source, target = file.memory.id, _id(end)
    other = end if isinstance(end, MemoryFile) else None
    memory, added = _with_link(file.memory, rel, end, notes)
    # Within a level a restored memory is superseded again; across levels both stay active.
    again = rel == SUPERSEDES and other is not None and other.memory.status is Status.ACTIVE
    if memory == file.memory and not (again and other and other.vault.key == file.vault.key):
        return Linked(source, rel, target, changed=False)
    if added:
        memory_file.check_room(file.data, memory, path=str(file.path))
    revision = Revision(links=memory.links, supersedes=memory.supersedes)
    now = revise(of_level, source, revision, version=file.digest)
    became: tuple[LinkOutcome, ...] = ()
    if rel == SUPERSEDES and other:
        take_place(store, now, [target])
        became = (_superseded(store, now, other),)
    elif rel == CONTRADICTS:
        became = (LinkOutcome(target, After.MARKED if is_shown(store, now) else After.WAITS_MARKED),)
    elif other and other.memory.status is not Status.ACTIVE:
        became = (LinkOutcome(target, After.TRACE, other.memory.status),)
    store.try_record("linked", refs=[file.ref], rel=rel, to=target, by=store.by())
    return Linked(source, rel, target, changed=True, became=became, added=added)


def _with_link(memory: Memory, rel: str, end: End, notes: Sequence[str] | None) -> tuple[Memory, bool]:
    """Return *memory* with the link to *end*, and whether there was none of that label."""
    is_known = bool(labelled([link for link in all_links(memory) if _leads_to(link.to, end)], rel))
    old = next(iter(labelled([link for link in memory.links if _leads_to(link.to, end)], rel)), None)
    new = Link(rel, _id(end), tuple(notes) if notes is not None else old.notes if old else ())
    links = tuple(new if link == old else link for link in memory.links)
    if rel == SUPERSEDES:
        memory = replace(memory, supersedes=tuple(dict.fromkeys((*memory.supersedes, new.to))))
        if not new.notes:  # without notes the frontmatter key `supersedes` is enough
            return replace(memory, links=tuple(link for link in links if link != new)), not is_known
    elif is_known and notes is None:
        return memory, False
    return replace(memory, links=links if old else (*links, new)), not is_known


def _unlinked(store: Store, of_level: Store, source: str, target: str, rel: str) -> Linked:
    """Do `unlink`; *source* is looked up in *of_level*, *target* in *store*."""
    start, end, label = end_of(of_level, source), _end_or_name(store, target), as_label(rel)
    if isinstance(start, str) and look_up(of_level, artifact_id(start)) is None:
        return Linked(start, label or "linked", _id(end), changed=False)
    file = start if isinstance(start, MemoryFile) else read(of_level, artifact_id(start))
    memory, name = file.memory, _id(end)
    removed = [link for link in memory.links if _leads_to(link.to, end)]
    removed = labelled(removed, rel) if label else removed
    olds = [old for old in memory.supersedes if label in ("", SUPERSEDES) and _leads_to(old, end)]
    if not removed and not olds:
        if label in ("", RELATES_TO):
            _refuse_link_in_text(file, end)
        return Linked(_id(start), label or "linked", name, changed=False)
    links = tuple(link for link in memory.links if link not in removed)
    supersedes = tuple(old for old in memory.supersedes if old not in olds)
    if stands_for(memory.id, memory.touches) and not (links or supersedes):
        forget(of_level, memory.id)
    else:
        revision = Revision(links=links, supersedes=supersedes)
        revise(of_level, memory.id, revision, version=file.digest)
    became = tuple(reinstate(store, old, by=memory.id) for old in olds)
    rels = list(dict.fromkeys([*(link.rel for link in removed), *(SUPERSEDES for _ in olds)]))
    labels = ", ".join(rels)
    store.try_record("unlinked", refs=[file.ref], rel=labels, to=name, by=store.by())
    # A deleted memory, of which only the name is known, cannot contradict another.
    if isinstance(end, MemoryFile) and CONTRADICTS in map(as_label, rels):
        if says_it_contradicts(end, memory):
            became = (LinkOutcome(name, After.SAYS_SO_TOO),)
        else:
            note_resolved(store, file, end, how="unlinked")
    return Linked(_id(start), labels, name, changed=True, became=became)


def _refuse_link_in_text(file: MemoryFile, end: End) -> None:
    """Raise Rejected when the text of *file* has a wiki link to *end*: only its writer can remove that."""
    for target in wiki_links(file.memory.text):
        if _leads_to(target, end):
            raise Rejected(
                f"That link is written in the text of '{file.memory.id}' as [[{target}]].",
                f"Remove it from the text: {file.path}:{_line_of(file, target)}.",
            )


def _successors(store: Store, memory_id: str) -> set[str]:
    """Return the ids of the memory's successor, of that one's successor, and so on."""
    ids: set[str] = set()
    row = look_up(store, memory_id)
    while row and row.superseded_by and row.superseded_by not in ids:
        ids.add(row.superseded_by)
        row = look_up(store, row.superseded_by)
    return ids


def says_it_contradicts(other: MemoryFile, memory: Memory) -> bool:
    """Tell whether the file of *other* says that it contradicts *memory*, accepted or not."""
    called = names(memory)
    links = other.memory.links
    return any(as_label(link.rel) == CONTRADICTS and as_name(link.to) in called for link in links)


def _superseded(store: Store, new: MemoryFile, old: MemoryFile) -> LinkOutcome:
    """Return what became of *old* (as it was before) now that *new* supersedes it."""
    memory = old.memory
    if not is_shown(store, new):
        return LinkOutcome(memory.id, After.WAITS)
    if memory.status is not Status.ACTIVE:
        return LinkOutcome(memory.id, After.AWAY, memory.status, memory.superseded_by)
    shadows = is_nearer(new.vault.level, old.vault.level)
    return LinkOutcome(memory.id, After.SHADOWED if shadows else After.SUPERSEDED)


def _end_or_name(store: Store, name: str) -> End:
    """Return the end that *name* names, or *name* itself when nothing has that name any more."""
    try:
        return end_of(store, name)
    except NotFound:
        return name


def _leads_to(target: str, end: End) -> bool:
    """Tell whether a link to *target* leads to *end*: a memory by any of its names, a file by its path."""
    if isinstance(end, MemoryFile):
        return as_name(target) in names(end.memory)
    return target == end or (not is_artifact(end) and as_name(target) == as_name(end))


def _id(end: End) -> str:
    """Return the target that a link to *end* has in its file."""
    return end.memory.id if isinstance(end, MemoryFile) else end


def _line_of(file: MemoryFile, target: str) -> int:
    lines = file.data.decode("utf-8", "replace").split("\n")
    return next((number for number, line in enumerate(lines, start=1) if f"[[{target}" in line), 1)
