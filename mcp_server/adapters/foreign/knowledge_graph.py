"""
`graph.json` and `user.json`: the project's and the person's graph, as the knowledge-graph plugin keeps them.

    {"nodes": {id: {"id", "gist", "touches", "notes", "_archived"}},
     "edges": {"from->to:rel": {"from", "to", "rel", "notes"}},
     "_meta": {"versions": {"node:id": {"v", "ts", "session"}}}}

Older graphs hold nodes and edges as lists. A node becomes a memory, an edge a link of the memory that it
starts from; where an edge starts at a file, a memory stands for the file and holds it, as in our graph.
"""

from collections import defaultdict
from datetime import datetime
from pathlib import Path

from mcp_server.adapters.foreign import source_file
from mcp_server.adapters.foreign.link_label import label_of
from mcp_server.core.exchange import foreign
from mcp_server.core.graph.graph import GRAPH, artifact_id
from mcp_server.core.links import is_artifact
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import ID, Level, Status
from mcp_server.core.text.titles import clipped, title_of

NAMES = (".knowledge/graph.json", "graph.json", "user.json")
USER = "user.json"
DEFAULTS = (".knowledge/graph.json", "~/.claude/knowledge/user.json")
Edges = dict[tuple[str, str], list[str]]  # (label, end) → notes
LONGEST = 200  # characters of the name of a node or a file
MOST_NOTES = 6_000  # characters of notes that fit above a text; the frontmatter has 16 KiB


def read(path: Path) -> foreign.Reading:
    """Return what the graph *path* holds, or the one below that folder; raises Rejected."""
    file = source_file.located(path, *NAMES)
    document = source_file.read_json(file)
    foreign.must_hold(isinstance(document.get("nodes"), list | dict), f"{file} contains no nodes.")
    reading = foreign.Reading(str(file))
    versions = _versions(document)
    nodes = _named(document.get("nodes"))
    node_names = {
        foreign.line_of(node.get("id") or name, LONGEST) for name, node in nodes if isinstance(node, dict)
    }
    edges = _edges(document.get("edges"), node_names, reading)
    records = [_file(name, edges[name]) for name in edges if name not in node_names]
    for name, node in nodes:
        if not isinstance(node, dict) or not foreign.line_of(node.get("id") or name):
            reading.refused.append((foreign.line_of(name) or "node", "is not a node"))
            continue
        key = foreign.line_of(node.get("id") or name, LONGEST)
        level = Level.USER if file.name == USER else None
        when = foreign.moment_of(versions.get(f"node:{key}"))
        records.append(_record(key, node, level, when, edges[key]))
    foreign.admit(records, reading)
    return reading


def _record(
    key: str,
    node: dict[str, object],
    level: Level | None,
    when: datetime | None,
    edges: Edges,
) -> foreign.Record:
    gist = foreign.text_of(node.get("gist"))
    notes = tuple(dict.fromkeys(foreign.lines_of(node.get("notes"))))
    links = _links(edges)
    link_notes = [foreign.line_of(f"{link.rel} {link.to}: {note}") for link in links for note in link.notes]
    if gist.strip() and sum(map(len, (*notes, *link_notes))) > MOST_NOTES:
        gist, notes = f"{gist}\n\n{foreign.listed('Notes', tuple(dict.fromkeys([*notes, *link_notes])))}", ()
        links = tuple(Link(link.rel, link.to) for link in links)
    return foreign.Record(
        key=key,
        title=title_of(gist),
        text=gist,
        type=foreign.type_of(node.get("type")),
        tags=foreign.tags_of(node.get("tags")),
        created=foreign.moment_of(node.get("created") or node.get("_created")),
        updated=when or foreign.moment_of(node.get("updated")),
        status=Status.ARCHIVED if node.get("_archived") else Status.ACTIVE,
        touches=foreign.lines_of(node.get("touches")),
        links=links,
        notes=notes,
        category=GRAPH,
        id=key if ID.fullmatch(key) else "",
        level=level,
    )


def _file(path: str, edges: Edges) -> foreign.Record:
    """Return the record that stands for the file *path*, where *edges* start."""
    return foreign.Record(
        key=path,
        title=clipped(path),
        text=path,
        type="reference",
        touches=(path,),
        links=_links(edges),
        category=GRAPH,
        id=artifact_id(path),
    )


def _links(edges: Edges) -> tuple[Link, ...]:
    return tuple(Link(rel, end, tuple(dict.fromkeys(notes))) for (rel, end), notes in edges.items())


def _versions(node: dict[str, object]) -> dict[str, object]:
    """Return when each node and edge was last written, by its key in `_meta`."""
    meta = node.get("_meta")
    versions = meta.get("versions") if isinstance(meta, dict) else None
    return {
        str(key): version.get("ts") if isinstance(version, dict) else None
        for key, version in (versions.items() if isinstance(versions, dict) else ())
    }


def _named(value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(str(name), item) for name, item in value.items()]
    return [("", item) for item in value] if isinstance(value, list) else []


def _edges(value: object, node_names: set[str], reading: foreign.Reading) -> defaultdict[str, Edges]:
    """Return the edges by the node or file where they start; add a remark for an edge that starts nowhere."""
    edges: defaultdict[str, Edges] = defaultdict(dict)
    for name, edge in _named(value):
        if not isinstance(edge, dict):
            reading.remarks.append(f"The edge {foreign.line_of(name, 120) or '?'} is not an edge.")
            continue
        start, end = (foreign.line_of(edge.get(end), LONGEST) for end in ("from", "to"))
        if not start or not end:
            reading.remarks.append(f"The edge {foreign.line_of(name, 120) or '?'} lacks an end.")
            continue
        label = label_of(edge.get("rel"))
        if start not in node_names and not is_artifact(start):
            reading.remarks.append(
                f"The edge {start} -> {end} ({label}) was left: {start} is neither a node nor a file."
            )
            continue
        edges[start].setdefault((label, end), []).extend(foreign.lines_of(edge.get("notes")))
    return edges
