"""Networks to draw, made up by number."""

import random
from collections.abc import Sequence

from mcp_server.core.graph.network import Network, NetworkLink, NetworkNode
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.memory_types import TYPES

RELATIONS = ("relates-to", "depends-on", "supersedes", "contradicts")


def node(key: str, title: str = "", type_: str = "note", level: Level = Level.PROJECT) -> NetworkNode:
    return NetworkNode(f"v/{key}", key, "v", title or f"What {key} says", type_, level)


def network(links: Sequence[tuple[str, str, str]], *nodes: NetworkNode) -> Network:
    """Return the network of (start, rel, end), with *nodes* instead of plain ones of their keys."""
    named = {node_of.key: node_of for node_of in nodes}
    for start, _, end in links:
        for key in (start, end):
            named.setdefault(f"v/{key}", node(key))
    drawn_links = (NetworkLink(f"v/{start}", rel, f"v/{end}") for start, rel, end in links)
    return Network(tuple(named[key] for key in sorted(named)), tuple(drawn_links))


def made_up(memories: int, links: int, seed: int = 1, topic: int = 12) -> Network:
    """Return a network with topics of that many memories, whose links are mostly inside one."""
    rng = random.Random(seed)
    chosen = set()
    while len(chosen) < links:
        start = rng.randrange(memories)
        near = start - start % topic + rng.randrange(topic)
        end = rng.randrange(memories) if rng.random() < 0.1 else min(near, memories - 1)
        if start != end:
            chosen.add((f"n{start:04}", rng.choice(RELATIONS), f"n{end:04}"))
    nodes = [
        NetworkNode(
            f"v/n{at:04}",
            f"n{at:04}",
            "v",
            " ".join(rng.choices(("Retries", "of the", "billing", "worker", "need", "an index"), k=6)),
            TYPES[at % len(TYPES)],
            Level.USER if at % 7 == 3 else Level.PROJECT,
            Status.SUPERSEDED if at % 19 == 5 else Status.ACTIVE,
        )
        for at in range(memories)
    ]
    linked = {f"v/{key}" for start, _, end in chosen for key in (start, end)}
    return network(sorted(chosen), *(node_of for node_of in nodes if node_of.key in linked))
