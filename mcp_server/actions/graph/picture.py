"""picture: all links between memories and files, laid out to be looked at by a person."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.graph.graph import file_of
from mcp_server.actions.memory.related import end_of
from mcp_server.adapters import places
from mcp_server.adapters.index.memories import counts, relations
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import NotFound
from mcp_server.core.graph.network import FILE, Network, NetworkLink, NetworkNode, named, united
from mcp_server.core.graph.places import Picture, arranged
from mcp_server.core.links import is_artifact
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.render import on_one_line, one_line
from mcp_server.core.secrets.redaction import redact
from mcp_server.store import Store


@self_healing
def read_network(store: Store, *, all_projects: bool = False) -> Network:
    """
    Return all links of the visible vaults, with *all_projects* those of every project.

    Memories that are not active are in it, too, but neither conversations nor what does not exist.
    Raises IndexUnavailable.
    """
    wide = store.everywhere() if all_projects else store
    refresh_index(wide)
    nodes: dict[str, NetworkNode] = {}
    node_of = functools.cache(lambda row: _node(wide, row))
    links: dict[tuple[str, str, str], NetworkLink] = {}
    with wide.database.read() as db:
        # A link means what it means in its own project, whatever other projects call so.
        for vaults in _views(wide):
            for edge in relations.edges(db, vaults):
                ends = _ends(wide, edge, node_of)
                for node in ends:
                    if node.id or node.key not in nodes:
                        nodes[node.key] = node
                if ends:
                    identity = (ends[0].key, edge.rel, ends[1].key)
                    links.setdefault(identity, NetworkLink(*identity, edge.notes))
        active = counts.active_knowledge(db, wide.keys)
    linked = sum(bool(node.id) and node.is_active for node in nodes.values())
    return Network(
        tuple(sorted(nodes.values(), key=lambda node: node.key)),
        tuple(links[identity] for identity in sorted(links)),
        max(0, active - linked),
    )


def find_in(network: Network, store: Store, name: str) -> frozenset[str]:
    """
    Return the keys of what is called *name* in *network*: a key, an id, a title, an alias or a path.

    Raises NotFound, with the nearest ids, for what does not exist or has no links.
    """
    if keys := named(network, name):
        return keys
    end = end_of(store, name)
    if isinstance(end, MemoryFile) and (keys := named(network, end.ref)):
        return keys
    title = end.memory.title if isinstance(end, MemoryFile) else end
    raise NotFound(
        name, sentence=f"'{one_line(title, 80)}' has no links.", hint="'daybook link FROM TO' makes one."
    )


def draw(network: Network) -> Picture:
    """Return the picture of *network*; the same network gives the same picture."""
    from mcp_server.adapters import layout  # slow to load

    pairs = [(line.start, line.end) for line in united(network.links)]
    groups = layout.groups((node.key for node in network.nodes), pairs)
    number = {key: at for at, group in enumerate(groups) for key in group}
    inside: list[list[tuple[str, str]]] = [[] for _ in groups]
    for first, second in pairs:
        if number[first] == number[second]:
            inside[number[first]].append((first, second))
    spread = [layout.spread(group, links) for group, links in zip(groups, inside, strict=True)]
    return arranged(network, groups, spread)


def _views(store: Store) -> Iterator[list[str]]:
    """Yield the keys of vaults that are visible together: those of each project with all others."""
    own = [vault.key for vault in store.vaults if vault.level is not Level.PROJECT]
    projects: dict[str, list[str]] = {}
    for vault in store.vaults:
        if vault.level is Level.PROJECT:
            projects.setdefault(vault.project, []).append(vault.key)
    yield from ([*own, *keys] for keys in projects.values() or [[]])


def _ends(
    store: Store, edge: relations.Edge, node_of: Callable[[Row], NetworkNode]
) -> tuple[NetworkNode, ...]:
    """Return both ends of a link; none when its target does not exist, or an end is not knowledge."""
    start, end = edge.ends
    if any(row.kind is not Kind.KNOWLEDGE for row in (start, end) if row):
        return ()
    if end:
        return node_of(start), node_of(end)
    return (node_of(start), _file(store, start, edge.target)) if is_artifact(edge.target) else ()


def _node(store: Store, row: Row) -> NetworkNode:
    vault = store.vault(row.vault)
    assert vault, "its vault was asked for"
    if path := file_of(row):
        return replace(_file(store, row, path), id=row.id, vault=row.vault)
    title = on_one_line(redact(row.title)) or row.id
    return NetworkNode(row.ref, row.id, row.vault, title, row.type, vault.level, row.status)


def _file(store: Store, beside: Row, path: str) -> NetworkNode:
    """Return a file as a node: the same path means another file in another project."""
    vault = store.vault(beside.vault)
    assert vault, "its vault was asked for"
    key = f"{vault.project or places.USER_KEY}:{path}"
    return NetworkNode(key, "", "", on_one_line(redact(path)) or "?", FILE, vault.level)
