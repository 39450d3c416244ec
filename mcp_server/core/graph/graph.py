"""
The knowledge graph of a level: its nodes and edges, and the scores of the nodes.

A node is a memory and an edge is a link; memories made with the graph tools have the category `graph`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Rejected
from mcp_server.core.links import is_artifact
from mcp_server.core.memory_parts import DAY, ID, Level, Status, slug
from mcp_server.core.render import on_one_line, one_line, repeats

GRAPH = "graph"  # category of memories made with the graph tools
GRACE_DAYS = 7  # KG_GRACE_PERIOD_DAYS: a node changed since is never archived (C-19 in docs/features.md)
SESSION_TTL = DAY  # KG_SESSION_TTL: seconds that a registration lasts
PUT_AWAY_WEIGHT = 0.2  # of an edge to an archived neighbour; with 0, whole clusters stayed archived for ever
LONG_GIST = 300  # characters; the caller is warned of a longer gist
LONG_CATEGORY = 60  # characters


def check_category(name: str) -> str:
    """Return a person's category *name* with single blanks; raise Rejected for `graph` or an unusable one."""
    category = " ".join(name.split())
    if category.lower() == GRAPH or len(category) > LONG_CATEGORY or not category.isprintable():
        raise Rejected(
            f"'{one_line(category, 60)}' cannot be a category.",
            f"Give a word or two; '{GRAPH}' is reserved for the graph's tools.",
        )
    return category


@dataclass(frozen=True, slots=True)
class Node:
    """
    One memory of the graph; times in Unix seconds.

    `own`: it was made with the graph tools. `artifact` is the file, when the node only stands for a file.
    `size` counts the characters of title, text and notes; `touched` is when the memory was last used or
    restored.
    """

    id: str
    gist: str
    type: str
    updated: int
    touches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    own: bool = True
    pinned: bool = False
    size: int = 0
    touched: int = 0
    artifact: str = ""
    pushable: bool = True
    ref: str = ""

    @property
    def name(self) -> str:
        """The name that edges have for it."""
        return self.artifact or self.id


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """
    One link; its ends are ids of memories, or paths of artifacts, which are always `active`.

    `elsewhere`: `end` is a memory of the other level.
    """

    start: str
    rel: str
    end: str
    notes: tuple[str, ...] = ()
    start_status: Status = Status.ACTIVE
    end_status: Status = Status.ACTIVE
    elsewhere: bool = False

    @property
    def is_live(self) -> bool:
        return self.start_status is self.end_status is Status.ACTIVE

    @property
    def is_trace(self) -> bool:
        """Whether one end is an active memory, and the other one that is not active."""
        inactive = [status is not Status.ACTIVE for status in (self.start_status, self.end_status)]
        near_end = self.end if inactive[0] else self.start
        return sum(inactive) == 1 and not is_artifact(near_end)


@dataclass(frozen=True, slots=True)
class Graph:
    """One level: its active nodes, and the edges that touch at least one of them or an artifact."""

    level: Level
    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]


# A node as a memory


def gist_of(title: str, text: str) -> str:
    """Return the text of a node, with the title before it unless the text begins with the title."""
    if not text.strip():
        return title
    says_nothing = not title.strip("…. ")
    return text if says_nothing or repeats(title, on_one_line(text)) else f"{title}: {text}"


def artifact_id(path: str) -> str:
    """Return the id of the memory that stands for the file *path*, so that edges can begin there."""
    return f"artifact-{slug(path)[:50].strip('-') or 'file'}-{text_digest(path, size=4)}"


def stands_for(memory_id: str, touches: Sequence[str]) -> str:
    """Return the file that the memory stands for, '' for a memory that stands for none."""
    return touches[0] if len(touches) == 1 and memory_id == artifact_id(touches[0]) else ""


def id_of(name: str) -> str:
    """Return the memory id for *name*, an id or the path of a file; raise Rejected for anything else."""
    text = name.strip()
    if ID.fullmatch(text):
        return text
    if is_artifact(text) and text.isprintable():
        return artifact_id(text)
    raise Rejected(
        f"'{one_line(name, 80)}' is neither the id of a node nor the path of a file.",
        "An id is lower-case letters, digits and hyphens; a path has a slash or a dot, as in ./Makefile.",
    )


# The score of a node


def percentiles(values: Sequence[float]) -> list[float]:
    """Return for each value its percentile, (rank + 0.5) / n; equal values share their mean rank."""
    ordered = sorted(values)
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(ordered):
        places.setdefault(value, []).append(rank)
    shared = {value: sum(ranks) / len(ranks) for value, ranks in places.items()}
    return [(shared[value] + 0.5) / len(values) for value in values]


def scores(nodes: Sequence[Node], edges: Iterable[GraphEdge]) -> dict[str, float]:
    """Return name → recency × connectedness × richness, each a percentile among *nodes*."""
    linked = dict.fromkeys((node.name for node in nodes), 0.0)
    for edge in edges:
        ends = ((edge.start, edge.end_status), (edge.end, edge.start_status))
        for name, other in dict(ends).items():
            if name in linked:
                linked[name] += 1.0 if other is Status.ACTIVE else PUT_AWAY_WEIGHT
    recency = percentiles([node.updated for node in nodes])
    connectedness = percentiles([linked[node.name] + len(node.touches) for node in nodes])
    richness = percentiles([node.size for node in nodes])
    return {
        node.name: product[0] * product[1] * product[2]
        for node, product in zip(nodes, zip(recency, connectedness, richness, strict=True), strict=True)
    }
