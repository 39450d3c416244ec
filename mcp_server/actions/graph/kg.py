"""
kg: put and delete the nodes and edges of the knowledge graph.

A node is a memory and an edge is a link: a node is put by `remember` or `revise`, an edge by `link`. The last
write wins, but the answer to the session that writes says whose words it replaced.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mcp_server.actions.files.commit import Accept, one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, is_shown, look_up, read
from mcp_server.actions.graph.sync import unseen_deed
from mcp_server.actions.judge.origins import words_of as words_of_memory
from mcp_server.actions.memory.forget import forget, is_put_away, unarchive
from mcp_server.actions.memory.link import Linked, create, link, unlink
from mcp_server.actions.memory.related import at_level, naming_level
from mcp_server.actions.memory.revise import Revision, repeated, revise
from mcp_server.adapters.index.memories import relations
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import GRAPH, gist_of, id_of
from mcp_server.core.links import RELATES_TO
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import (
    ID,
    MAX_TITLE,
    Kind,
    Level,
    Status,
    check_id,
    clean_text,
    id_in,
    vault_in,
)
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Overwritten:
    """What another session had written and this one had not seen: the gist, that session, and when."""

    gist: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Put:
    """What became of a node: whether it is new, came back from the archive, or replaced another's words."""

    id: str
    added: bool
    gist: str
    ordinary: bool = False
    came_back: bool = False
    overwritten: Overwritten | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """A node that went to the trash, and the edges that led to it as (from, rel)."""

    id: str
    edges: tuple[tuple[str, str], ...]


@one_change()
def put_node(
    store: Store,
    level: Level,
    memory_id: str,
    gist: str,
    *,
    touches: Sequence[str] | None = None,
    notes: Sequence[str] | None = None,
    source: str = ASSISTANT,
) -> Put:
    """
    Add a node, or update the one with that id: its gist, and touches and notes where they are given.

    An archived one comes back. Of an ordinary memory only the title changes: its text is not a gist.
    Raises Rejected for an id, gist or secret that cannot be stored, and for what was superseded.
    """
    of_level = at_level(store, level)
    check_id(memory_id)
    gist = clean_text(gist)
    refuse_secrets(gist, *(touches or ()), *(notes or ()))
    about = Revision(
        touches=None if touches is None else tuple(touches), notes=None if notes is None else tuple(notes)
    )

    def attempt() -> Put:
        if look_up(of_level, memory_id):
            with contextlib.suppress(NotFound):  # another process deleted it at this moment: it is new again
                return _update(of_level, memory_id, gist, about, source)
        draft = Draft(
            clipped(gist),
            gist,
            id=memory_id,
            level=level,
            category=GRAPH,
            session=store.session,
            source=source,
        )
        create(of_level, replace(draft, touches=about.touches or (), notes=about.notes or ()))
        return Put(memory_id, added=True, gist=gist)

    return repeated(attempt)


def put_edge(
    store: Store, level: Level, start: str, end: str, rel: str, *, notes: Sequence[str] | None = None
) -> Linked:
    """Link *start*, of *level*, to *end*, or update the notes of that link; raises what `link` does."""
    return link(store, start, end, rel, notes=notes, level=level)


def delete_edge(store: Store, level: Level, start: str, end: str, rel: str) -> bool:
    """Unlink *start*, of *level*, from *end*; return False when there is no such link."""
    try:
        return unlink(store, start, end, rel.strip() or RELATES_TO, level=level).changed
    except NotFound:
        return False


def shown_before(store: Store, level: Level, memory_id: str) -> str:
    """Return what the node says now if that may be shown unasked, '' otherwise."""
    of_level = at_level(store, level)
    if not ID.fullmatch(memory_id) or look_up(of_level, memory_id) is None:
        return ""
    file = read(of_level, memory_id)
    return words_of_memory(file.memory) if is_shown(of_level, file) else ""


@one_change()
def delete_node(store: Store, level: Level, name: str) -> Deleted:
    """
    Move a node to the trash, and take the edges that lead to it out of other memories' files.

    The ledger keeps those edges. Raises NotFound.
    """
    of_level = at_level(store, level)
    with naming_level(store, name, level):
        row = find(of_level, id_of(name))
    with store.database.read() as db:
        edges = relations.edges(db, [vault.key for vault in store.vaults if vault.adopted], at=[row.row])
    removed = []
    for ref in dict.fromkeys(edge.ends[0].ref for edge in edges if not edge.outgoing):
        targets = {edge.target for edge in edges if edge.ends[0].ref == ref}
        vault, other = vault_in(ref), id_in(ref)
        of_vault = store.scoped(candidate for candidate in store.vaults if candidate.key == vault)
        links = repeated(lambda t=of_vault, o=other, to=targets: _unlinked(t, o, to, row.ref))  # type: ignore[misc]
        removed += [(other, link.rel) for link in links]
    forget(of_level, row.id)
    return Deleted(row.id, tuple(removed))


@one_change()
def recall_node(store: Store, level: Level, name: str) -> MemoryFile:
    """Bring an archived node back, dated now; raises NotFound, and Rejected when it is not archived."""
    of_level = at_level(store, level)
    with naming_level(store, name, level):
        file = read(of_level, id_of(name))
    if not is_put_away(file):
        raise Rejected(
            f"'{file.memory.id}' is {file.memory.status.value}, not archived.", "Read it with read_memory."
        )
    back = unarchive(of_level, file)
    dated = Revision(archived_reason="", updated=of_level.moment())
    return revise(of_level, back.memory.id, dated, version=back.digest)


def _update(store: Store, memory_id: str, gist: str, about: Revision, source: str) -> Put:
    """Give the node *memory_id* a *gist* and what *about* says besides; an archived one comes back."""
    file = read(store, memory_id)
    memory = file.memory
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected(f"'{memory_id}' is a {memory.kind.value}, not a node.", "Choose another id.")
    if memory.status is Status.SUPERSEDED:
        raise Rejected(
            f"'{memory_id}' was superseded by '{memory.superseded_by}'.", "Use that id, or another one."
        )
    deed = unseen_deed(store, file.ref)
    is_node = memory.category == GRAPH
    old_gist = gist_of(memory.title, memory.text) if is_node else memory.title
    is_new_gist = gist != old_gist
    came_back = is_put_away(file)
    if came_back:
        file = unarchive(store, file)
    if not is_node and len(gist) > MAX_TITLE and is_new_gist:
        raise Rejected(
            f"'{memory_id}' is an ordinary memory, whose gist is its title, at most {MAX_TITLE} characters.",
            "Shorten the gist, or change the memory with revise.",
        )
    title = clipped(gist) if is_node else gist
    revision = replace(
        about,
        title=title,
        text=gist if is_node else None,
        archived_reason="",
        updated=store.moment(),
        source=source if is_new_gist and (is_node or memory.source == MANUAL) else None,
    )
    accept = Accept.CARRY
    if is_new_gist and is_node:
        is_accepted = source == MANUAL and not reads_like_instruction(f"{title}\n{gist}")
        accept = Accept.YES if is_accepted else Accept.NO
    elif is_new_gist and (source != MANUAL or reads_like_instruction(f"{title}\n{memory.text}")):
        accept = Accept.NO  # else it stays as it was: the person gave a title, no matter who wrote the text
    revise(store, memory_id, revision, version=file.digest, accept=accept)
    overwritten = None
    if deed and is_new_gist:
        overwritten = Overwritten(old_gist, deed[1], datetime.fromtimestamp(deed[0].at, UTC))
    return Put(
        memory_id,
        added=False,
        gist=gist,
        ordinary=not is_node,
        came_back=came_back,
        overwritten=overwritten,
    )


def _unlinked(store: Store, memory_id: str, targets: set[str], ref: str) -> tuple[Link, ...]:
    """Take the links to *targets*, names of *ref*, out of a memory's file, but not those in its text."""
    file = read(store, memory_id)
    removed = tuple(link for link in file.memory.links if link.to in targets)
    if removed:
        # First the ledger: a kill in between loses no edge.
        edges = [[memory_id, link.rel, list(link.notes)] for link in removed]
        store.record("unlinked", refs=[ref], edges=edges)
        remaining = tuple(link for link in file.memory.links if link not in removed)
        revise(store, memory_id, Revision(links=remaining), version=file.digest)
    return removed
