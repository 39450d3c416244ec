"""graph_edge: put an edge between memories and files, and delete it."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.read import Found, look_up, read
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.graph.change import (
    change,
    create,
    is_put_away,
    nearest,
    repeated,
    returned,
)
from mcp_server.actions.graph.graph import at_level
from mcp_server.actions.graph.node import Put
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import check_end
from mcp_server.actions.memory.remember import reinstate, take_place
from mcp_server.actions.memory.revise import Revision
from mcp_server.adapters import memory_file
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import GRAPH, artifact_id, end_of, id_of, stands_for
from mcp_server.core.links import SUPERSEDES, as_label, check_label, labelled
from mcp_server.core.memory import ID, Draft, Level, Link, Memory
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clipped
from mcp_server.store import Store


@one_change()
def put_edge(
    store: Store,
    level: Level,
    start: str,
    end: str,
    rel: str,
    *,
    notes: Sequence[str] | None = None,
    session: str = "",
) -> Put:
    """
    Add the edge, or update the notes of the one with these ends and that label.

    An end is the id of a memory or the path of a file. Raises NotFound for an id that nobody has, Rejected
    for ends that cannot be linked so, as `link` does.
    """
    here = at_level(store, level)
    start, end, rel = end_of(start), end_of(end), check_label(rel)
    refuse_secrets(*(notes or ()))
    if start == end:
        raise Rejected(f"'{start}' cannot be linked with itself.", "Name two different ends.")
    for store_of, name in ((here, start), (store, end)):  # an edge may lead to the other level
        if ID.fullmatch(name) and look_up(store_of, name) is None:
            sync_if_free(store_of)
            if look_up(store_of, name) is None:
                raise NotFound(name, nearest(store_of, name))
    old = read(store, end) if ID.fullmatch(end) else None
    check_end(store, id_of(start), old.memory if old else None, rel)
    if old and rel == SUPERSEDES:  # before anything is written
        memory_file.check_replaceable(old.data, old.memory, path=str(old.path))

    def attempt() -> Put:
        found = _start(here, level, start, session)
        memory, came = _with_edge(found.memory, rel, end, notes)
        if memory == found.memory:
            return Put(start, added=False, gist=rel)
        if came:
            memory_file.check_room(found.data, memory, path=str(found.path))
        now = change(here, found, Revision(links=memory.links, supersedes=memory.supersedes), session)
        if rel == SUPERSEDES:
            take_place(store, now, [end], session=session)
        return Put(start, added=came, gist=rel)

    return repeated(attempt)


def holder_of(end: str) -> str:
    """Return the id of the memory in which edges from *end*, an id or a path, stand."""
    return id_of(end_of(end))


@one_change()
def delete_edge(store: Store, level: Level, start: str, end: str, rel: str, *, session: str = "") -> bool:
    """Delete an edge; return False when there is none. What was superseded by it is active again."""
    here = at_level(store, level)
    start, end = end_of(start), end_of(end)
    superseding = as_label(rel) == SUPERSEDES

    def attempt() -> bool:
        try:
            found = read(here, id_of(start))
        except NotFound:
            return False
        memory = found.memory
        gone = labelled([link for link in memory.links if link.to == end], rel)
        links = tuple(link for link in memory.links if link not in gone)
        kept = tuple(old for old in memory.supersedes if not (superseding and old == end))
        if (links, kept) == (memory.links, memory.supersedes):
            return False
        if stands_for(memory.id, memory.touches) and not (links or kept):
            forget(here, memory.id, session=session)
        else:
            change(here, found, Revision(links=links, supersedes=kept), session)
        if kept != memory.supersedes:
            reinstate(store, end, by=memory.id, session=session)
        return True

    return repeated(attempt)


def _start(here: Store, level: Level, name: str, session: str) -> Found:
    """Return the memory that an edge from *name* stands in; for a file one is made that stands for it."""
    if ID.fullmatch(name):
        return read(here, name)
    memory_id = artifact_id(name)
    if look_up(here, memory_id) is None:
        draft = Draft(clipped(name), name, "reference", id=memory_id, level=level, category=GRAPH)
        create(here, replace(draft, touches=(name,), session=session, source=ASSISTANT))
    found = read(here, memory_id)
    return returned(here, found, session) if is_put_away(found) else found


def _with_edge(memory: Memory, rel: str, end: str, notes: Sequence[str] | None) -> tuple[Memory, bool]:
    """Return *memory* with the edge, and whether it is new."""
    links = list(memory.links)
    old = next(iter(labelled([link for link in links if link.to == end], rel)), None)
    new = Link(rel, end, tuple(notes) if notes is not None else old.notes if old else ())
    known = old is not None or (rel == SUPERSEDES and end in memory.supersedes)
    if rel == SUPERSEDES:
        memory = replace(memory, supersedes=tuple(dict.fromkeys([*memory.supersedes, end])))
        if not new.notes:  # the key of its own says all there is to say
            return replace(memory, links=tuple(link for link in links if link != old)), not known
    if old is None:
        return replace(memory, links=(*links, new)), not known
    return replace(memory, links=tuple(new if link == old else link for link in links)), False
