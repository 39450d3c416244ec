"""The graph as a Mermaid flowchart: a picture for documents, in which every label is escaped."""

import re
from collections.abc import Sequence

from mcp_server.core.graph.graph import Graph, GraphEdge, Node, scores
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import redact

MOST_DRAWN = 300  # nodes of a level, those with the highest scores


def drawn(graph: Graph) -> tuple[dict[str, Node | None], list[GraphEdge]]:
    """Return (name → node, None for a file or an inactive memory; the edges between them) to draw."""
    worth = scores(graph.nodes, graph.edges)
    best = sorted(graph.nodes, key=lambda node: (-worth[node.name], node.id))[:MOST_DRAWN]
    drawn_nodes: dict[str, Node | None] = {node.name: None if node.artifact else node for node in best}
    other_names = {node.name for node in graph.nodes} - drawn_nodes.keys()
    edges = []
    for edge in graph.edges:
        if not any(end in drawn_nodes for end in (edge.start, edge.end)):
            continue
        if edge.start not in other_names and edge.end not in other_names and (edge.is_live or edge.is_trace):
            new = [end for end in (edge.start, edge.end) if end not in drawn_nodes]
            if len(drawn_nodes) + len(new) <= MOST_DRAWN:
                drawn_nodes |= dict.fromkeys(new)
                edges.append(edge)
    return drawn_nodes, edges


def as_mermaid(graphs: Sequence[Graph]) -> str:
    """Return the graphs as one Mermaid flowchart, a subgraph for each level."""
    lines = ["flowchart LR"]
    for number, graph in enumerate(graphs):
        nodes, edges = drawn(graph)
        ids = {name: f"n{number}_{at}" for at, name in enumerate(sorted(nodes))}
        lines.append(f'  subgraph level{number}["{graph.level.value} level"]')
        for name, handle in ids.items():
            node = nodes[name]
            opening, closing = ("[", "]") if node else ("([", "])")
            lines.append(f'    {handle}{opening}"{_escaped(_caption(name, node))}"{closing}')
        if left_out := sum(node.name not in nodes for node in graph.nodes):
            lines.append(f"    %% {left_out} more are not drawn")
        lines.append("  end")
        for edge in edges:
            arrow = "-->" if edge.is_live else "-.->"
            lines.append(f'  {ids[edge.start]} {arrow}|"{_escaped(edge.rel)}"| {ids[edge.end]}')
    return "\n".join(lines) + "\n"


def _caption(name: str, node: Node | None) -> str:
    return f"{name}: {node.gist}" if node and node.gist != name else name


def _escaped(text: str) -> str:
    """Return *text* for a quoted label: characters that have a meaning in Mermaid become entities."""
    return re.sub(r"[^\w\s.,:/()'‹›…-]", lambda odd: f"#{ord(odd[0])};", one_line(redact(text), 80))
