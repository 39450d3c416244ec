"""
The links of all levels as one network, and the part of it that the person chose.

A `Graph` is one level for a model to read; a network is for a person, with inactive memories.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from mcp_server.core.errors import Rejected
from mcp_server.core.links import CONTRADICTS, SUPERSEDES, as_name
from mcp_server.core.memory_parts import Level, Status

FILE = "file"  # the type of a node that is no memory
MOST_DRAWN = 1500  # links of one picture
DEEPEST = 3  # links followed from the memory in the middle


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """
    A memory with links, or a file that is linked.

    `key` is its name among all vaults: the ledger's name of a memory. `id` and `vault`, a key, are '' for a
    file that no memory stands for. `title` is one line without secrets.
    """

    key: str
    id: str
    vault: str
    title: str
    type: str
    level: Level
    status: Status = Status.ACTIVE

    @property
    def is_file(self) -> bool:
        return self.type == FILE

    @property
    def is_active(self) -> bool:
        return self.status is Status.ACTIVE


@dataclass(frozen=True, slots=True)
class NetworkLink:
    """One link, from the node with the key `start` to that with the key `end`."""

    start: str
    rel: str
    end: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes in the order of their keys, their links, and how many active memories have none."""

    nodes: tuple[NetworkNode, ...] = ()
    links: tuple[NetworkLink, ...] = ()
    unlinked: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """
    The person's choice of links: those with this label, and with an end of this type and level.

    With `around`, the keys in the middle, only what `steps` links lead to from there, 1 to DEEPEST.
    """

    relation: str = ""
    type: str = ""
    level: Level | None = None
    around: frozenset[str] = frozenset()
    steps: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= DEEPEST:
            raise Rejected(f"{self.steps} steps cannot be shown.", f"Give a number from 1 to {DEEPEST}.")


class LineSort(StrEnum):
    """How a line is drawn: what its links mean."""

    CONTRADICTION = "contradiction"
    SUCCESSION = "succession"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Line:
    """All links between two nodes: the labels of those from `start` to `end`, and of those `back`."""

    start: str
    end: str
    forward: tuple[str, ...]
    back: tuple[str, ...] = ()

    @property
    def sort(self) -> LineSort:
        labels = {*self.forward, *self.back}
        if CONTRADICTS in labels:
            return LineSort.CONTRADICTION
        return LineSort.SUCCESSION if labels == {SUPERSEDES} else LineSort.OTHER


def united(links: Iterable[NetworkLink]) -> list[Line]:
    """Return a line for each pair of linked nodes, in the order of their first links."""
    labels: dict[tuple[str, str], list[str]] = {}
    for link in links:
        labels.setdefault((link.start, link.end), []).append(link.rel)
    lines: dict[frozenset[str], Line] = {}
    for (start, end), rels in labels.items():
        back = tuple(labels.get((end, start), ()))
        lines.setdefault(frozenset((start, end)), Line(start, end, tuple(rels), back))
    return list(lines.values())


def chosen(network: Network, choice: Choice) -> Network:
    """Return the part of *network* that *choice* asks for; nodes in its middle stay even without links."""
    links = [link for link in network.links if choice.relation in ("", link.rel)]
    if choice.around:
        near = _near(links, choice.around, choice.steps)
        links = [link for link in links if link.start in near and link.end in near]
    keys = {
        node.key
        for node in network.nodes
        if choice.type in ("", node.type) and choice.level in (None, node.level)
    }
    links = [link for link in links if link.start in keys or link.end in keys]
    return part(network, links, choice.around)


def largest(network: Network, most: int) -> Network:
    """Return *network* with at most about *most* links: those between the most linked nodes."""
    if len(network.links) <= most:
        return network
    count = degrees(network.links)
    order = sorted(
        network.links,
        key=lambda link: (-min(count[link.start], count[link.end]), -max(count[link.start], count[link.end])),
    )
    kept_links = set(order[:most])
    return part(network, [link for link in network.links if link in kept_links])


def part(network: Network, links: Collection[NetworkLink], also: Collection[str] = ()) -> Network:
    """Return *network* with only *links*, the nodes at their ends and the nodes with the keys *also*."""
    keys = {key for link in links for key in (link.start, link.end)}.union(also)
    return replace(
        network, nodes=tuple(node for node in network.nodes if node.key in keys), links=tuple(links)
    )


def named(network: Network, name: str) -> frozenset[str]:
    """Return the keys of the nodes that have *name* as their key, else as their id, else as their title."""
    wanted_name = as_name(name)
    for field in ("key", "id", "title"):
        if keys := frozenset(
            node.key for node in network.nodes if as_name(getattr(node, field)) == wanted_name
        ):
            return keys
    return frozenset()


def degrees(links: Iterable[NetworkLink]) -> Counter[str]:
    """Return key → how many links begin or end there."""
    return Counter(key for link in links for key in (link.start, link.end))


def relations_of(network: Network) -> Mapping[str, int]:
    """Return label → how many links have it, the most frequent label first."""
    return dict(
        sorted(Counter(link.rel for link in network.links).items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _near(links: Iterable[NetworkLink], around: Iterable[str], steps: int) -> set[str]:
    beside: dict[str, set[str]] = {}
    for link in links:
        beside.setdefault(link.start, set()).add(link.end)
        beside.setdefault(link.end, set()).add(link.start)
    near = set(around)
    for _ in range(steps):
        near |= {other for key in near for other in beside.get(key, ())}
    return near
