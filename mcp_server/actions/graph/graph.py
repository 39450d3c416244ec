"""graph: the memories that were put through the graph's tools, and what they are linked with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.events import graph as index
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.graph import Arrow, Point
from mcp_server.adapters.index.memories import memories
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import (
    GRAPH,
    OWN_LABELS,
    SESSION_TTL,
    Edge,
    Graph,
    Node,
    gist_of,
    id_of,
    stands_for,
)
from mcp_server.core.links import as_name, is_artifact
from mcp_server.core.memory import Level, Status
from mcp_server.core.provenance.provenance import may_be_pushed
from mcp_server.store import Store

End = Point | str  # of an arrow: a memory, or the path of a file


@dataclass(frozen=True, slots=True)
class Health:
    """What `ping` tells: (level, nodes, edges, memory traces) of each, and how many sessions are active."""

    levels: tuple[tuple[Level, int, int, int], ...]
    sessions: int
    unreadable: int
    semantic: bool


def at_level(store: Store, level: Level) -> Store:
    """Return *store* with the vaults of *level* alone: the same id may stand at both levels."""
    if level is Level.PROJECT and not store.project:
        raise Rejected(
            "There is no project here, so there is no project level.",
            "Use level 'user', or work inside a project's folder.",
        )
    return store.scoped(vault for vault in store.vaults if vault.level is level)


@self_healing
def read_graph(
    store: Store, *, level: Level | None = None, around: str = "", session: str = ""
) -> list[Graph]:
    """
    Return the graph of each level, of *level* alone where given.

    It holds the active memories that were put through the graph's tools and those that are linked with
    one of them, or by a label that a person or Claude chose; with *around* that memory and its
    neighbours alone. That *session* has seen it is noted in the ledger.
    Raises NotFound for an unknown *around*, IndexUnavailable.
    """
    ensure_synced(store)
    catch_up_if_free(store)
    vaults = [vault.key for vault in store.vaults]
    with store.database.read() as db:
        centre = id_of(around) if around else ""
        arrows = index.arrows(db, vaults, around=centre)
        drawn = _Drawn(store, index.points(db, vaults, arrows, around=centre), arrows)
        levels = [one for one in Level if (one is Level.USER or store.project) and level in (None, one)]
        chosen = {one: drawn.chosen(one, centre) for one in levels}
        rows = memories.by_rows(db, {row for found in chosen.values() for row in found})
        about = index.particulars(db, rows)
        accepted = usage.accepted_digests(db, {row.digest for row in rows.values()})
        seen = index.replayed(db)
        if around and not rows:
            raise NotFound(around, memories.nearest_ids(db, vaults, around))
    if session and not around:
        store.ledger.try_append("graph_read", store.clock(), session=session, watermark=seen)
    nodes = {
        row.row: node_of(store, row, *about[row.row], accepted=row.digest in accepted)
        for row in rows.values()
    }
    return [drawn.graph(one, [nodes[row] for row in chosen[one] if row in nodes], nodes) for one in levels]


def ping(store: Store) -> Health:
    """Return how the graph is: its size, who works with it, and what of it cannot be read."""
    graphs = read_graph(store)
    with store.database.read() as db:
        active = index.count_sessions(db, store.now() - SESSION_TTL)
        problems = memories.problems(db, [vault.key for vault in store.vaults])
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


def node_of(store: Store, row: Row, notes: tuple[str, ...], used: int, *, accepted: bool) -> Node:
    """Return a memory as a node; *used* is when it was last used, in Unix seconds."""
    vault = store.vault(row.vault)
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
        touched=used,
        artifact=stands_for(row.id, row.touches) if own else "",
        pushable=may_be_pushed(
            source=row.source,
            in_repository=vault is None or vault.in_repository,
            accepted=accepted,
            instructing=row.instructing,
        ),
        ref=row.ref,
    )


class _Drawn:
    """All knowledge of the visible vaults with its links, each led to what it means."""

    def __init__(self, store: Store, points: Sequence[Point], arrows: Sequence[Arrow]) -> None:
        self.levels = {vault.key: vault.level for vault in store.vaults}
        self.points = {point.row: point for point in points}
        self.ids: dict[tuple[Level, str], Point] = {}
        self.titles: dict[tuple[Level, str], Point] = {}
        for point in points:
            self.ids[self.levels[point.vault], point.id] = point
            self.titles |= {(self.levels[point.vault], name): point for name in point.names}
        for point in points:  # what bears a title goes before what only has it as an alias
            self.titles[self.levels[point.vault], as_name(point.title)] = point
        # A memory may have gone between the two questions.
        known = [arrow for arrow in arrows if arrow.row in self.points]
        self.arrows = [(arrow, end) for arrow in known if (end := self._end(arrow)) is not None]

    def _end(self, arrow: Arrow) -> End | None:
        """Return what *arrow* leads to, first at its own level; None when that is not there."""
        near = self.levels[self.points[arrow.row].vault]
        for level in sorted(Level, key=lambda level: level is not near):
            if found := self.ids.get((level, arrow.target)):
                return found
        if is_artifact(arrow.target):
            return arrow.target
        for level in sorted(Level, key=lambda level: level is not near):
            if found := self.titles.get((level, as_name(arrow.target))):
                return found
        return None

    def chosen(self, level: Level, around: str) -> list[int]:
        """Return the rows of the memories that the graph of *level* shows."""
        if around:
            return self._neighbours(level, around)
        shown: dict[int, None] = {}
        for point in self.points.values():
            if point.own and self._is_active(point, level):
                shown[point.row] = None
        for arrow, end in self.arrows:
            start = self.points[arrow.row]
            ends = [start, *([end] if isinstance(end, Point) else [])]
            if any(point.own for point in ends) or _was_chosen(arrow):
                shown |= {point.row: None for point in ends if self._is_active(point, level)}
        return list(shown)

    def _neighbours(self, level: Level, around: str) -> list[int]:
        centre = self.ids.get((level, around))
        if centre is None:
            return []
        shown = {centre.row: None}
        for arrow, end in self.arrows:
            rows = [arrow.row, *([end.row] if isinstance(end, Point) else [])]
            if centre.row in rows:
                shown |= {row: None for row in rows if self._is_active(self.points[row], level)}
        return list(shown)

    def _is_active(self, point: Point, level: Level) -> bool:
        return point.status is Status.ACTIVE and self.levels[point.vault] is level

    def graph(self, level: Level, nodes: Sequence[Node], known: dict[int, Node]) -> Graph:
        """Return the graph of *nodes* with the edges between them, to files, and to what was put away."""
        shown = {node.id: node for node in nodes}
        return Graph(level, tuple(nodes), tuple(dict.fromkeys(self._edges(level, shown, known))))

    def _edges(self, level: Level, shown: dict[str, Node], known: dict[int, Node]) -> Iterable[Edge]:
        for arrow, end in self.arrows:
            start = self.points[arrow.row]
            if self.levels[start.vault] is not level:
                continue
            elsewhere = isinstance(end, Point) and self.levels[end.vault] is not level
            ends = [start.id, "" if isinstance(end, str) or elsewhere else end.id]
            if not any(one in shown for one in ends):
                continue
            node = known.get(start.row)
            yield Edge(
                start=node.name if node else start.id,
                rel=arrow.rel,
                end=end if isinstance(end, str) else end.id,
                notes=arrow.notes,
                start_status=start.status,
                end_status=Status.ACTIVE if isinstance(end, str) else end.status,
                elsewhere=elsewhere,
            )


def _was_chosen(arrow: Arrow) -> bool:
    """Tell whether a person or Claude gave the link its label or notes, rather than Daybook."""
    return arrow.rel not in OWN_LABELS or bool(arrow.notes)
