"""
graph_node: put a node, delete it, bring it back from the archive.

The last write wins, but nobody is overwritten without being told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_server.actions.files.commit import Accept, one_change
from mcp_server.actions.files.read import Found, is_shown, look_up, read
from mcp_server.actions.graph.change import (
    change,
    create,
    is_put_away,
    repeated,
    returned,
)
from mcp_server.actions.graph.graph import at_level
from mcp_server.actions.graph.sync import unseen_deed
from mcp_server.actions.judge.origins import words_of as words_of_memory
from mcp_server.actions.memory.forget import forget, unarchive
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters.index.events import graph as index
from mcp_server.core.errors import Rejected
from mcp_server.core.graph.graph import GRAPH, gist_of, id_of
from mcp_server.core.memory import ID, MAX_TITLE, Draft, Kind, Level, Link, Status, check_id, clean_text
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Overwritten:
    """What another session had written and this one did not know: its gist, whose it was, and when."""

    gist: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Put:
    """
    What became of a node or an edge: whether it is new, came back from the archive, replaced another's.

    `gist` is what the node says now, or the label of the edge.
    """

    id: str
    added: bool
    gist: str = ""
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
    session: str = "",
    source: str = ASSISTANT,
) -> Put:
    """
    Add a node, or update the one with that id: its gist, and touches and notes where they are given.

    An archived one comes back. Of an ordinary memory only the title changes: its text is not a gist.
    Raises Rejected for an id, gist or secret that cannot be stored, and for what was superseded.
    """
    here = at_level(store, level)
    check_id(memory_id)
    gist = clean_text(gist)
    refuse_secrets(gist, *(touches or ()), *(notes or ()))

    def attempt() -> Put:
        if look_up(here, memory_id) is None:
            return _add(here, level, memory_id, gist, touches or (), notes or (), session, source)
        return _update(here, memory_id, gist, touches, notes, session, source)

    return repeated(attempt)


def shown_before(store: Store, level: Level, memory_id: str) -> str:
    """Return what the node says now, where that may be shown unasked, '' otherwise."""
    here = at_level(store, level)
    if not ID.fullmatch(memory_id) or look_up(here, memory_id) is None:
        return ""
    found = read(here, memory_id)
    return words_of_memory(found.memory) if is_shown(here, found) else ""


@one_change()
def delete_node(store: Store, level: Level, name: str, *, session: str = "") -> Deleted:
    """
    Move a node to the trash, and take the edges that lead to it out of the files of others.

    The ledger keeps those edges. Raises NotFound.
    """
    here = at_level(store, level)
    found = read(here, id_of(name))
    memory_id = found.memory.id
    removed = []
    for ref in _linking_to(store, level, memory_id):
        vault, _, other = ref.rpartition("/")
        there = store.scoped(one for one in store.vaults if one.key == vault)
        gone = repeated(lambda there=there, other=other: _unlinked(there, other, found, session))  # type: ignore[misc]
        removed += [(other, link) for link in gone]
    forget(here, memory_id, session=session)
    return Deleted(memory_id, tuple((other, link.rel) for other, link in removed))


@one_change()
def recall_node(store: Store, level: Level, name: str, *, session: str = "") -> Found:
    """
    Bring an archived node back, dated now; raises NotFound, and Rejected when it is not archived.
    """
    here = at_level(store, level)
    found = read(here, id_of(name))
    if not is_put_away(found):
        raise Rejected(
            f"'{found.memory.id}' is {found.memory.status.value}, not archived.", "Read it with read_memory."
        )
    return returned(here, found, session)


def _add(
    here: Store,
    level: Level,
    memory_id: str,
    gist: str,
    touches: Sequence[str],
    notes: Sequence[str],
    session: str,
    source: str,
) -> Put:
    title, text = clipped(gist), gist
    draft = Draft(
        title,
        text,
        id=memory_id,
        level=level,
        category=GRAPH,
        touches=tuple(touches),
        notes=tuple(notes),
        session=session,
        source=source,
    )
    create(here, draft)
    return Put(memory_id, added=True, gist=gist)


def _update(
    here: Store,
    memory_id: str,
    gist: str,
    touches: Sequence[str] | None,
    notes: Sequence[str] | None,
    session: str,
    source: str,
) -> Put:
    found = read(here, memory_id)
    memory = found.memory
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected(f"'{memory_id}' is a {memory.kind.value}, not a node.", "Choose another id.")
    if memory.status is Status.SUPERSEDED:
        raise Rejected(
            f"'{memory_id}' was superseded by '{memory.superseded_by}'.", "Put that one, or another id."
        )
    deed = unseen_deed(here, found.ref, session)
    own = memory.category == GRAPH
    was = gist_of(memory.title, memory.text) if own else memory.title
    came_back = is_put_away(found)
    if came_back:
        found = unarchive(here, found, session=session)
    title, text = (clipped(gist), gist) if own else (gist, memory.text)
    if not own and len(gist) > MAX_TITLE:
        raise Rejected(
            f"'{memory_id}' is an ordinary memory, whose gist is its title, at most {MAX_TITLE} characters.",
            "Shorten the gist, or change the memory with revise.",
        )
    revision = Revision(
        title=title,
        text=text if own else None,
        touches=None if touches is None else tuple(touches),
        notes=None if notes is None else tuple(notes),
        archived_reason="",
        updated=here.clock().replace(microsecond=0),
        source=source if gist != was and (own or memory.source == MANUAL) else None,
    )
    accept = Accept.CARRY
    if gist != was:
        accept = Accept.NO
        if source == MANUAL and not reads_like_instruction(f"{title}\n{text}"):
            accept = Accept.YES if own else Accept.CARRY  # of an ordinary memory the text stays: whose is it?
    revise(here, memory_id, revision, version=found.digest, session=session, accept=accept)
    overwritten = None
    if deed and was != gist:
        overwritten = Overwritten(was, deed[1], datetime.fromtimestamp(deed[0].at, UTC))
    return Put(memory_id, False, gist, not own, came_back, overwritten)


def _unlinked(there: Store, memory_id: str, target: Found, session: str) -> tuple[Link, ...]:
    """Take the links to *target* out of a memory's file, and return them; not those in its text."""
    found = read(there, memory_id)
    gone = tuple(link for link in found.memory.links if link.to == target.memory.id)
    if gone:
        # First the ledger: a process that is killed in between has lost no edge.
        edges = [[memory_id, link.rel, list(link.notes)] for link in gone]
        there.ledger.append("unlinked", there.clock(), refs=[target.ref], edges=edges, session=session)
        kept = tuple(link for link in found.memory.links if link not in gone)
        change(there, found, Revision(links=kept), session)
    return gone


def _linking_to(store: Store, level: Level, memory_id: str) -> list[str]:
    """Return the refs of what links to a memory of *level*; links of another level lead to its own first."""
    elsewhere = store.scoped(vault for vault in store.vaults if vault.level is not level)
    hidden = look_up(elsewhere, memory_id) is not None
    vaults = [vault.key for vault in store.vaults if vault.adopted and (vault.level is level or not hidden)]
    with store.database.read() as db:
        return index.linking_to(db, vaults, memory_id)
