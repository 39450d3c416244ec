"""
layout: which nodes of a network belong together, and how a group of them is laid out, by networkx.

The same nodes and links give the same answer; a link more changes it little: nothing here depends on how many
nodes there are elsewhere. networkx needs another large library for the layout of 500 nodes and more, so
larger groups lie in a spiral.
"""

import hashlib
import math
import random
from collections.abc import Iterable, Mapping, Sequence

import networkx as nx

Pairs = Iterable[tuple[str, str]]
Place = tuple[float, float]

LEAST_SPRUNG, MOST_SPRUNG = 6, 300  # nodes of a group whose links pull at them
ITERATIONS = 40


class _Steady(random.Random):
    """Shuffles names by their digest: a name more leaves the others in their order."""

    def shuffle(self, x: list[object]) -> None:  # type: ignore[override]
        x.sort(key=lambda name: hashlib.blake2b(str(name).encode("utf-8", "surrogatepass")).digest())


def groups(names: Iterable[str], pairs: Pairs) -> list[list[str]]:
    """
    Return *names* in groups that have many links inside and few between them, each sorted.

    Names without any link between them are never in one group.
    """
    whole = nx.Graph()
    whole.add_nodes_from(sorted(names))
    whole.add_edges_from(sorted(pairs))
    parts: list[list[str]] = []
    for connected in nx.connected_components(whole):
        within = nx.Graph()
        within.add_nodes_from(sorted(connected))
        within.add_edges_from(sorted((min(pair), max(pair)) for pair in whole.subgraph(connected).edges))
        if len(connected) <= 3:
            parts.append(sorted(connected))
        else:
            parts += map(sorted, nx.community.louvain_communities(within, seed=_Steady()))
    return sorted(parts)


def spread(names: Sequence[str], pairs: Pairs) -> Mapping[str, Place]:
    """Return name → where it lies when links pull together and names push each other away, in no unit."""
    group = nx.Graph()
    group.add_nodes_from(sorted(names))
    group.add_edges_from(sorted(pairs))
    if len(names) > MOST_SPRUNG:
        return _spiral(group)
    rings = _rings(group)
    if len(names) < LEAST_SPRUNG:
        return rings
    length = 1 / math.sqrt(len(names))
    places = nx.spring_layout(group, k=length, pos=rings, iterations=ITERATIONS, seed=1, scale=None)
    return {name: (float(x), float(y)) for name, (x, y) in places.items()}


def _spiral(group: "nx.Graph[str]") -> dict[str, Place]:
    """Put the most linked name in the middle and the others around it, those few links away first."""
    middle = max(sorted(group), key=lambda name: group.degree[name])
    order = [middle, *(name for _, name in nx.bfs_edges(group, middle, sort_neighbors=sorted))]
    turns = math.pi * (3 - math.sqrt(5))  # the angle at which nothing comes to lie in spokes
    return {
        name: (math.sqrt(at) * math.cos(at * turns), math.sqrt(at) * math.sin(at * turns))
        for at, name in enumerate(order)
    }


def _rings(group: "nx.Graph[str]") -> dict[str, Place]:
    """Put the most linked name in the middle, and the others around it: as a tree, a ring for each step."""
    places: dict[str, Place] = {}
    middle = max(sorted(group), key=lambda name: group.degree[name])
    ways = nx.bfs_tree(group, middle, sort_neighbors=sorted)
    leaves: dict[str, int] = {}
    for name in reversed(list(nx.topological_sort(ways))):
        leaves[name] = sum(leaves[below] for below in ways[name]) or 1
    waiting = [(middle, 0, 0.0, math.tau)]
    step = 1 / math.sqrt(len(group))
    for name, ring, begins, ends in waiting:
        angle = (begins + ends) / 2
        places[name] = (ring * step * math.cos(angle), ring * step * math.sin(angle))
        at = begins
        for below in ways[name]:
            share = (ends - begins) * leaves[below] / leaves[name]
            waiting.append((below, ring + 1, at, at + share))
            at += share
    return places
