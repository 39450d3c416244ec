"""
The graph as a picture: an SVG drawn by hand, and Mermaid for documents.

The layout is a spring model without chance: the same graph gives the same picture. It reads on light and on
dark ground, and every label is escaped.
"""

import math
import re
from collections.abc import Sequence
from html import escape

from mcp_server.core.graph.graph import Edge, Graph, Node, scores
from mcp_server.core.links import is_artifact
from mcp_server.core.memory_types import DEFAULT_TYPE, ROWS
from mcp_server.core.render import counted, one_line
from mcp_server.core.secrets.redaction import redact

MOST_DRAWN = 300  # nodes, the most valuable ones
COLOURS = {row.name: row.colour for row in ROWS}
FILE, AWAY, ELSEWHERE = "file", "archived", "other level"
OTHERS = {FILE: "#999999", AWAY: "#bbbbbb", ELSEWHERE: "#66aacc"}
LABEL = 26  # characters of a node's name that are drawn; the whole stands in its tooltip

Places = dict[str, tuple[float, float]]


def drawn(graph: Graph) -> tuple[dict[str, Node | None], list[Edge]]:
    """Return (name → node, None for a file or what was put away; the edges between them) to draw."""
    worth = scores(graph.nodes, graph.edges)
    best = sorted(graph.nodes, key=lambda node: (-worth[node.name], node.id))[:MOST_DRAWN]
    chosen: dict[str, Node | None] = {node.name: None if node.artifact else node for node in best}
    edges = []
    for edge in graph.edges:
        if not any(end in chosen for end in (edge.start, edge.end)):
            continue
        left = {node.name for node in graph.nodes} - chosen.keys()
        if edge.start not in left and edge.end not in left and (edge.is_live or edge.is_trace):
            new = [end for end in (edge.start, edge.end) if end not in chosen]
            if len(chosen) + len(new) <= MOST_DRAWN:
                chosen |= dict.fromkeys(new)
                edges.append(edge)
    return chosen, edges


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
            lines.append(f'    {handle}{opening}"{_mermaid(_caption(name, node))}"{closing}')
        lines.append("  end")
        for edge in edges:
            arrow = "-->" if edge.is_live else "-.->"
            lines.append(f'  {ids[edge.start]} {arrow}|"{_mermaid(edge.rel)}"| {ids[edge.end]}')
    return "\n".join(lines) + "\n"


def as_svg(graphs: Sequence[Graph]) -> str:
    """Return the graphs as one SVG, the levels below each other, with a legend of the colours."""
    panels, top, width = [], 64.0, 640.0
    used: set[str] = set()
    for number, graph in enumerate(graphs):
        nodes, edges = drawn(graph)
        if not nodes:
            continue
        places, wide, high = layout(sorted(nodes), [(edge.start, edge.end) for edge in edges])
        used |= {_colour_name(name, node, edges) for name, node in nodes.items()}
        left_out = len(graph.nodes) - sum(name in nodes for name in (node.name for node in graph.nodes))
        also = f", {left_out} more not drawn" if left_out else ""
        said = f"{graph.level.value} level: {len(nodes)} drawn, {counted(len(edges), 'edge')}{also}"
        panels.append(
            f'<g transform="translate(0 {top:.0f})"><text class="level" x="24" y="20">{said}</text>'
        )
        panels += [_edge(edge, places, at, number) for at, edge in enumerate(edges)]
        panels += [_node(name, nodes[name], places[name], edges) for name in sorted(nodes)]
        panels.append("</g>")
        top, width = top + high + 40, max(width, wide)
    if not panels:
        panels.append('<text class="level" x="24" y="84">The graph is empty.</text>')
        top = 110
    body = "\n".join([*_legend(used), *panels])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {top:.0f}" width="{width:.0f}"'
        f' height="{top:.0f}" role="img" aria-label="knowledge graph">\n{_STYLE}\n'
        f'<rect class="ground" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )


def layout(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[Places, float, float]:
    """Return name → (x, y), and the width and height of the picture; the same for the same graph."""
    count = len(names)
    area = 150.0 if count < 60 else 110.0  # pixels between neighbours, more or less
    side = area * math.sqrt(count) * 1.15
    index = {name: at for at, name in enumerate(names)}
    springs = sorted({(index[a], index[b]) for a, b in pairs if a != b and a in index and b in index})
    turn = math.pi * (3 - math.sqrt(5))  # a sunflower: no two begin at the same place
    xs = [math.sqrt(at + 0.5) * area * 0.6 * math.cos(at * turn) for at in range(count)]
    ys = [math.sqrt(at + 0.5) * area * 0.6 * math.sin(at * turn) for at in range(count)]
    steps = 220 if count <= 120 else 90
    for step in range(steps):
        _relax(xs, ys, springs, area, heat=side * 0.06 * (1 - step / steps) + 0.2)
    return _fitted(names, xs, ys)


def _relax(
    xs: list[float], ys: list[float], springs: Sequence[tuple[int, int]], area: float, *, heat: float
) -> None:
    """Move every node a little: away from all others, towards those that it is linked with."""
    count = len(xs)
    dx, dy = [-1.2 * x for x in xs], [-2.0 * y for y in ys]  # and to the middle
    square = area * area
    for one in range(count):
        x, y = xs[one], ys[one]
        for other in range(one + 1, count):
            across, down = x - xs[other], (y - ys[other]) * 1.6  # labels are wide, so rows lie closer
            force = square / (across * across + down * down + 1.0)
            across, down = across * force, down * force
            dx[one] += across
            dy[one] += down
            dx[other] -= across
            dy[other] -= down
    for one, other in springs:
        across, down = xs[one] - xs[other], ys[one] - ys[other]
        pull = math.hypot(across, down) / area
        dx[one] -= across * pull
        dy[one] -= down * pull
        dx[other] += across * pull
        dy[other] += down * pull
    for at in range(count):
        far = math.hypot(dx[at], dy[at]) or 1.0
        share = min(far * 0.1, heat) / far
        xs[at] += dx[at] * share
        ys[at] += dy[at] * share


def _fitted(names: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> tuple[Places, float, float]:
    left, right, top, bottom = 110.0, 110.0, 56.0, 36.0  # room for labels, and for the title of the level
    low, high = (min(xs, default=0), min(ys, default=0)), (max(xs, default=0), max(ys, default=0))
    places = {name: (x - low[0] + left, y - low[1] + top) for name, x, y in zip(names, xs, ys, strict=True)}
    return places, high[0] - low[0] + left + right, high[1] - low[1] + top + bottom


def _node(name: str, node: Node | None, place: tuple[float, float], edges: Sequence[Edge]) -> str:
    kind = _colour_name(name, node, edges)
    colour = COLOURS.get(kind) or OTHERS[kind]
    x, y = place
    degree = sum(name in (edge.start, edge.end) for edge in edges)
    size = min(16.0, 7.0 + 1.5 * math.sqrt(degree))
    label = escape(_clean(name, LABEL))
    about = f"{_clean(name, 200)} ({kind})" + (f": {_clean(node.gist, 300)}" if node else "")
    shape = (
        f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}" height="{2 * size:.1f}" rx="3"'
        if kind == FILE
        else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
    )
    away = ' stroke-dasharray="3 3"' if kind == AWAY else ""
    return (
        f'<g class="node"><title>{escape(about)}</title>{shape} fill="{colour}"{away}/>'
        f'<text x="{x:.1f}" y="{y + size + 13:.1f}">{label}</text></g>'
    )


def _edge(edge: Edge, places: Places, at: int, number: int) -> str:
    (x1, y1), (x2, y2) = places[edge.start], places[edge.end]
    far = math.hypot(x2 - x1, y2 - y1) or 1.0
    bend = 0.08  # so that two edges between the same ends do not cover each other
    mx, my = (x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend
    from_below = my - y2 > abs(mx - x2) * 0.5
    stop = (32.0 if from_below else 17.0) / far  # in front of the circle, and of the label below it
    ex, ey = x2 + (mx - x2) * stop * 2, y2 + (my - y2) * stop * 2
    title = f"{edge.start} — {edge.rel} → {edge.end}" + (f": {'; '.join(edge.notes)}" if edge.notes else "")
    kind = "edge" if edge.is_live else "edge trace"
    lx, ly = (x1 + x2 + 2 * mx) / 4, (y1 + y2 + 2 * my) / 4
    return (
        f'<g class="{kind}"><title>{escape(_clean(title, 400))}</title>'
        f'<path id="e{number}-{at}" d="M{x1:.1f} {y1:.1f}Q{mx:.1f} {my:.1f} {ex:.1f} {ey:.1f}"'
        ' marker-end="url(#arrow)"/>'
        f'<text x="{lx:.1f}" y="{ly - 3:.1f}">{escape(_clean(edge.rel, 24))}</text></g>'
    )


def _legend(used: set[str]) -> list[str]:
    lines, x = ['<text class="title" x="24" y="32">Knowledge graph</text>'], 220.0
    for name in [*COLOURS, *OTHERS]:
        if name in used:
            colour = COLOURS.get(name) or OTHERS[name]
            lines.append(f'<circle cx="{x:.0f}" cy="27" r="6" fill="{colour}"/>')
            lines.append(f'<text class="key" x="{x + 11:.0f}" y="32">{name}</text>')
            x += 30 + 7.2 * len(name)
    return lines


def _colour_name(name: str, node: Node | None, edges: Sequence[Edge]) -> str:
    """Return the type of a node, or what else it is that an edge leads to."""
    if node:
        return node.type if node.type in COLOURS else DEFAULT_TYPE
    if is_artifact(name):
        return FILE
    return ELSEWHERE if any(edge.elsewhere and edge.end == name for edge in edges) else AWAY


def _caption(name: str, node: Node | None) -> str:
    return f"{name}: {node.gist}" if node and node.gist != name else name


def _clean(text: str, limit: int) -> str:
    return one_line(redact(text), limit)


def _mermaid(text: str) -> str:
    """Return *text* for a label between quotes: what means something to Mermaid becomes its entity."""
    return re.sub(r"[^\w\s.,:/()'‹›…-]", lambda odd: f"#{ord(odd[0])};", _clean(text, 80))


_STYLE = """<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto-start-reverse"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
<style>
svg { --ground: #ffffff; --ink: #1f2328; --line: #8c959f; --halo: #ffffff; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #15191f; --ink: #e6edf3; --line: #6e7681; --halo: #15191f; }
}
.ground { fill: var(--ground); }
text { font: 12px system-ui, sans-serif; fill: var(--ink); paint-order: stroke; stroke: var(--halo);
  stroke-width: 3px; stroke-linejoin: round; }
.node text { text-anchor: middle; }
.node circle, .node rect { stroke: var(--ground); stroke-width: 1.5; }
.edge path { fill: none; stroke: var(--line); stroke-width: 1.3; }
.edge text { font-size: 10px; text-anchor: middle; opacity: .75; }
.trace path { stroke-dasharray: 4 4; }
.tip { fill: var(--line); }
.title { font-size: 18px; font-weight: 600; }
.level { font-size: 14px; font-weight: 600; }
</style>"""
