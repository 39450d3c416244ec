"""graph: memories and all their links, however they were made, as a graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.shadows import is_pushable
from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.memory.related import end_of
from mcp_server.adapters.index.events import graph as index
from mcp_server.adapters.index.events import replay, usage
from mcp_server.adapters.index.memories import memories, relations, selections, unreadable
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import NotFound
from mcp_server.core.graph.graph import (
    GRAPH,
    SESSION_TTL,
    Graph,
    GraphEdge,
    Node,
    artifact_id,
    gist_of,
    stands_for,
)
from mcp_server.core.links import is_artifact
from mcp_server.core.memory_parts import Kind, Level, Status, vault_in
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Health:
    """What `ping` reports: (level, nodes, edges, memory traces) for each level, and the active sessions."""

    levels: tuple[tuple[Level, int, int, int], ...]
    sessions: int
    unreadable: int
    semantic: bool


@self_healing
def read_graph(
    store: Store, *, level: Level | None = None, around: str = "", read_by: str = ""
) -> list[Graph]:
    """
    Return the graph of each level, of *level* alone where given.

    Its nodes are the active memories with links and those stored by the graph's tools; with *around* the
    memory of that name, and its neighbours. An event notes that the session *read_by* has read the
    whole graph. Raises NotFound for an unknown *around*, IndexUnavailable.
    """
    refresh_index(store)
    present = {
        Level.USER,
        *([Level.PROJECT] if store.project else []),
        *(vault.level for vault in store.vaults),
    }
    levels = [graph_level for graph_level in Level if graph_level in present and level in (None, graph_level)]
    centres = _centres(store, levels, around) if around else []
    vaults = store.keys
    with store.database.read() as db:
        links = relations.edges(db, vaults, at=[row.row for row in centres] if around else None)
        drawn = [(link.ends, edge) for link in links if (edge := edge_of(store, link))]
        rows = {row.row: row for ends, _ in drawn for row in ends if row and row.status is Status.ACTIVE}
        rows |= {row.row: row for row in (centres if around else index.nodes(db, vaults))}
        notes = index.particulars(db, rows)
        accepted = usage.accepted_digests(db, {row.digest for row in rows.values()})
        watermark = replay.taken_in(db)
    if read_by and not around:
        store.try_record("graph_read", session=read_by, watermark=watermark)
    nodes = [node_of(store, row, *notes[row.row], accepted=row.digest in accepted) for row in rows.values()]
    edges = [(_level(store, start), edge) for (start, _), edge in drawn]
    return [_at(store, graph_level, nodes, edges) for graph_level in levels]


def ping(store: Store) -> Health:
    """Return the graph's size, the number of active sessions, and how many files cannot be read."""
    graphs = read_graph(store)
    with store.database.read() as db:
        active = index.count_sessions(db, store.now() - SESSION_TTL)
        problems = unreadable.listed(db, store.keys)
    levels = tuple(
        (
            graph.level,
            sum(not node.artifact for node in graph.nodes),
            sum(edge.is_live for edge in graph.edges),
            sum(edge.is_trace for edge in graph.edges),
        )
        for graph in graphs
    )
    return Health(levels, active, len(problems), store.meaning() is not None)


def node_of(store: Store, row: Row, notes: tuple[str, ...], last_used: int, *, accepted: bool) -> Node:
    """Return a memory as a node; *last_used* is when it was last used, in Unix seconds."""
    own = row.category == GRAPH
    return Node(
        id=row.id,
        gist=gist_of(row.title, row.text) if own else row.title,
        type=row.type,
        updated=row.updated,
        touches=row.touches,
        notes=notes,
        own=own,
        pinned=row.pinned,
        size=len(row.title) + len(row.text) + sum(map(len, notes)),
        touched=last_used,
        artifact=file_of(row),
        pushable=is_pushable(row, store.private, accepted=accepted),
        ref=row.ref,
    )


def edge_of(store: Store, link: relations.Edge) -> GraphEdge | None:
    """Return *link* as an edge; None when its target does not exist, or an end is not knowledge."""
    start, end = link.ends
    path = file_of(end) if end else link.target if is_artifact(link.target) else ""
    if not (end or path) or any(row.kind is not Kind.KNOWLEDGE for row in (start, end) if row):
        return None
    return GraphEdge(
        start=file_of(start) or start.id,
        rel=link.rel,
        end=path or (end.id if end else ""),
        notes=link.notes,
        start_status=start.status,
        end_status=Status.ACTIVE if path or not end else end.status,
        elsewhere=bool(end and not path and _level(store, end) is not _level(store, start)),
    )


def _centres(store: Store, levels: Sequence[Level], around: str) -> list[Row]:
    """Return the memory named *around*, or standing for that file, at each of *levels*; raises NotFound."""
    end = end_of(store, around)
    memory_id = end.memory.id if isinstance(end, MemoryFile) else artifact_id(end)
    with store.database.read() as db:
        of_levels = [
            [vault.key for vault in store.vaults if vault.level is graph_level] for graph_level in levels
        ]
        rows = [selections.with_id(db, vaults, memory_id) for vaults in of_levels]
        if not any(rows):
            raise NotFound(around, memories.nearest_ids(db, store.keys, around))
    return [row for row in rows if row]


def _at(
    store: Store, level: Level, nodes: Sequence[Node], edges: Sequence[tuple[Level | None, GraphEdge]]
) -> Graph:
    """Return the graph of *level*: its share of *nodes*, and of *edges*, each with the level it begins at."""
    vaults = {vault.key for vault in store.vaults if vault.level is level}
    at_level = tuple(node for node in nodes if vault_in(node.ref) in vaults)
    names = {node.name for node in at_level}
    return Graph(
        level,
        at_level,
        tuple(
            edge
            for begins, edge in edges
            if begins is level and (edge.start in names or (edge.end in names and not edge.elsewhere))
        ),
    )


def file_of(row: Row) -> str:
    """Return the path of the file that a memory only stands for, '' for any other memory."""
    return stands_for(row.id, row.touches) if row.category == GRAPH else ""


def _level(store: Store, row: Row) -> Level | None:
    vault = store.vault(row.vault)
    return vault.level if vault else None
