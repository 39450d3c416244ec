"""
A picture of links as SVG: as a part of a page, which has the style and script, or as a file of its own.

Every word of a memory is escaped; the SVG fetches and runs nothing. Types differ in shape and colour.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape

from mcp_server.core.graph.captions import breadth
from mcp_server.core.graph.network import FILE, Line, LineSort, NetworkNode
from mcp_server.core.graph.places import BIG_FONT, GAP, LINE_HEIGHT, Panel, Picture, Spot
from mcp_server.core.memory_types import ROWS
from mcp_server.core.render import counted

FEW = 40  # lines up to which all show their labels; of more, only those at the node that is pointed at
LABEL_FONT = 10.5  # pixels
ALONG = (0.5, 0.4, 0.6, 0.3, 0.7)  # where on a line its label may stand, the best place first
LEGEND_ENTRY = 124  # pixels of a legend's entry in a file
LEGEND_HEIGHT = 26

Href = Callable[[NetworkNode], str]


def _corners(
    count: int, turn: float = -0.25, *, inner: float = 1.0, size: float
) -> list[tuple[float, float]]:
    """
    Return the *count* corners of a regular figure as (x, y), *size* from its middle.

    The first one is turned by *turn* of a circle from the right; with *inner* below 1 every other corner lies
    further inside.
    """
    corners = []
    for at in range(count):
        far = size * (inner if at % 2 else 1.0)
        angle = (at / count + turn) * math.tau
        corners.append((far * math.cos(angle), far * math.sin(angle)))
    return corners


SHAPES = {  # corners of a mark with the radius 1 around its middle; none for a circle
    "arrow": _corners(3, 0.0, size=1.25),
    "circle": [],
    "diamond": _corners(4, size=1.2),
    "funnel": _corners(3, 0.25, size=1.25),
    "hexagon": _corners(6, 0.0, size=1.1),
    "page": [(-0.75, -1), (0.35, -1), (0.75, -0.6), (0.75, 1), (-0.75, 1)],
    "plus": [
        *((-0.4, -1), (0.4, -1), (0.4, -0.4), (1, -0.4), (1, 0.4), (0.4, 0.4)),
        *((0.4, 1), (-0.4, 1), (-0.4, 0.4), (-1, 0.4), (-1, -0.4), (-0.4, -0.4)),
    ],
    "square": _corners(4, 0.125, size=1.25),
    "star": _corners(10, inner=0.5, size=1.3),
    "triangle": _corners(3, size=1.25),
}
MARKS = {row.name: (row.shape, row.colour) for row in ROWS} | {FILE: ("page", "#99aabb")}
"""Type → shape and colour of its nodes."""
SORTS = {
    LineSort.CONTRADICTION: "contradicts",
    LineSort.SUCCESSION: "supersedes",
    LineSort.OTHER: "other links",
}

_LIGHT = {
    "ground": "#fcfcfa",
    "raised": "#ffffff",
    "text": "#1d2329",
    "quiet": "#565f68",
    "line": "#d9dcdf",
    "accent": "#1f5688",
    "soft": "#e8eff6",
    "bad": "#a32020",
}
_DARK = {
    "ground": "#14181c",
    "raised": "#1c2126",
    "text": "#e6e9ec",
    "quiet": "#a3acb5",
    "line": "#363d45",
    "accent": "#8fc1ee",
    "soft": "#23303c",
    "bad": "#ff9c92",
}
STYLE = """
.network { font-family: system-ui, "DejaVu Sans", sans-serif;
  background: color-mix(in srgb, var(--soft) 60%, var(--ground)); }
.network .panel { fill: var(--raised); stroke: var(--line); }
.network .line path { fill: none; stroke: var(--quiet); stroke-opacity: 0.55; stroke-width: 1.3px; }
.network .line path.reach { stroke: transparent; stroke-width: 9px; }
.network .line.far path:not(.reach) { stroke-opacity: 0.3; }
.network .contradiction path:not(.reach) { stroke: var(--bad); stroke-opacity: 1; stroke-dasharray: 7 4; }
.network .succession path:not(.reach) { stroke-dasharray: 2 3; stroke-opacity: 0.8; }
.network .head { fill: var(--quiet); fill: context-stroke; }
.network text { fill: var(--text); text-anchor: middle; paint-order: stroke; stroke: var(--raised);
  stroke-width: 3px; stroke-linejoin: round; }
.network .caption { font-size: 12px; transform: scale(var(--caption-scale, 1)); pointer-events: none; }
.network .caption.big { font-size: 14px; font-weight: 600; }
.network .mark { stroke: var(--text); stroke-width: 1.2px; transform: scale(var(--mark-scale, 1)); }
.network .relation { font-size: 10.5px; fill: var(--quiet); display: none; pointer-events: none; }
.network.few .line:not(.unlabelled) .relation, .network .lit .relation { display: inline; }
.network .old .mark { fill: var(--line); stroke: var(--quiet); stroke-dasharray: 2 1.5; }
.network .caption.old { fill: var(--quiet); }
.network .legend text { text-anchor: start; font-size: 12px; stroke: none; }
"""
STYLE += "".join(
    f".network .t-{name}:not(.old) .mark {{ fill: {colour}; }}\n" for name, (_, colour) in MARKS.items()
)


def as_file(picture: Picture) -> str:
    """Return the picture as an SVG file, light or dark like the reader's system, with a legend below it."""
    frame = picture.frame
    legend, height = _legend(picture, frame)
    body = _body(picture, None)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{_classes(picture)}" role="img"'
        f' aria-label="{_name(picture)}"'
        f' viewBox="{frame.left} {frame.top} {frame.width} {frame.height + height}"'
        f' width="{frame.width}" height="{frame.height + height}">\n'
        f"<style>{_variables()}{STYLE}</style>\n"
        f"{body}{legend}</svg>\n"
    )


def as_part(picture: Picture, href: Href) -> str:
    """Return the picture as a part of a page that has STYLE; each node links to its *href*."""
    frame = picture.frame
    return (
        f'<svg class="{_classes(picture)}" role="group" aria-label="{_name(picture)}"'
        f' viewBox="{frame.left} {frame.top} {frame.width} {frame.height}">\n'
        f"{_body(picture, href)}</svg>\n"
    )


def mark(type_: str, radius: int = 7) -> str:
    """Return the mark of a type as an element."""
    corners = SHAPES[MARKS[type_][0]]
    if not corners:
        return f'<circle class="mark" r="{radius}"/>'
    points = " ".join(f"{x * radius:.1f},{y * radius:.1f}" for x, y in corners)
    return f'<polygon class="mark" points="{points}"/>'


def types_in(picture: Picture) -> list[str]:
    """Return the types of the picture's nodes, in the order of the types."""
    type_names = {spot.node.type for spot in picture.spots}
    return [name for name in MARKS if name in type_names]


def _classes(picture: Picture) -> str:
    return "network few" if len(picture.lines) <= FEW else "network"


def _name(picture: Picture) -> str:
    return f"{counted(len(picture.spots), 'node')} and the links between them"


def _body(picture: Picture, href: Href | None) -> str:
    place = {spot.node.key: number for number, spot in enumerate(picture.spots)}
    labels = _labels(picture, place)
    return "\n".join(
        (
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9"'
            ' markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
            '<path class="head" d="M0 1 10 5 0 9z"/></marker></defs>',
            '<g class="world">',
            *(_panel(panel) for panel in picture.panels),
            *(_line(line, picture.spots, place, labels.get(line)) for line in picture.lines),
            *(_node(spot, number, href) for number, spot in enumerate(picture.spots)),
            '<g class="captions" aria-hidden="true">',  # the titles of the nodes say more
            *(_caption(spot, number) for number, spot in enumerate(picture.spots)),
            "</g></g>\n",
        )
    )


def _panel(panel: Panel) -> str:
    left, top, width, height = panel
    return f'<rect class="panel" x="{left}" y="{top}" width="{width}" height="{height}" rx="14"/>'


def _labels(picture: Picture, place: dict[str, int]) -> dict[Line, tuple[float, float]]:
    """Return line → a free place for its label, if there is one; none when there are many lines."""
    if len(picture.lines) > FEW:
        return {}
    taken_boxes = [spot.covers for spot in picture.spots]
    label_places: dict[Line, tuple[float, float]] = {}
    for line in picture.lines:
        start_spot, end_spot = picture.spots[place[line.start]], picture.spots[place[line.end]]
        wide = breadth(_label(line)) * LABEL_FONT / 2
        for share in ALONG:
            x, y = (
                start_spot.x + (end_spot.x - start_spot.x) * share,
                start_spot.y + (end_spot.y - start_spot.y) * share,
            )
            box = (x - wide, y - LABEL_FONT, x + wide, y + LABEL_FONT / 2)
            if not any(
                box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken_boxes
            ):
                label_places[line] = (x, y)
                taken_boxes.append(box)
                break
    return label_places


def _label(line: Line) -> str:
    return ", ".join(line.forward) + (f" · ← {', '.join(line.back)}" if line.back else "")


def _line(line: Line, spots: Sequence[Spot], place: dict[str, int], label: tuple[float, float] | None) -> str:
    ends = place[line.start], place[line.end]
    start_spot, end_spot = spots[ends[0]], spots[ends[1]]
    length = math.hypot(end_spot.x - start_spot.x, end_spot.y - start_spot.y) or 1
    dx, dy = (end_spot.x - start_spot.x) / length, (end_spot.y - start_spot.y) / length
    begin, end = start_spot.box.radius + 3, length - end_spot.box.radius - 3
    start = f"M{start_spot.x + dx * begin:.0f} {start_spot.y + dy * begin:.0f}"
    path = f"{start} {start_spot.x + dx * end:.0f} {start_spot.y + dy * end:.0f}"
    heads = ' marker-end="url(#head)"' + (' marker-start="url(#head)"' if line.back else "")
    titles = [f"{start_spot.node.title} → {rel} → {end_spot.node.title}" for rel in line.forward]
    titles += [f"{end_spot.node.title} → {rel} → {start_spot.node.title}" for rel in line.back]
    sort = f" {line.sort}" + ("" if start_spot.group == end_spot.group else " far")
    sort += "" if label else " unlabelled"
    x, y = label or ((start_spot.x + end_spot.x) / 2, (start_spot.y + end_spot.y) / 2)
    return (
        f'<g class="line{sort}" data-ends="{ends[0]} {ends[1]}"><title>{escape(chr(10).join(titles))}</title>'
        f'<path class="reach" d="{path}"/><path d="{path}"{heads}/>'
        f'<text class="relation" x="{x:.0f}" y="{y:.0f}">{escape(_label(line))}</text></g>'
    )


def _node(spot: Spot, number: int, href: Href | None) -> str:
    node = spot.node
    state = "" if node.is_active else f", {node.status.value}"
    about = f"{node.type}, {node.level.value} level{state}; {counted(spot.links, 'link')}"
    old = "" if node.is_active else " old"
    opening = f'a href="{escape(href(node))}"' if href else "g"
    return (
        f'<{opening} class="node t-{node.type}{old}" transform="translate({spot.x} {spot.y})"'
        f' data-node="{number}" data-links="{spot.links}"><title>{escape(node.title)} ({about})</title>'
        f"{mark(node.type, spot.box.radius)}</{opening[0]}>"
    )


def _caption(spot: Spot, number: int) -> str:
    old = "" if spot.node.is_active else " old"
    big = " big" if spot.box.font == BIG_FONT else ""
    lines = "".join(f'<tspan x="0" dy="{LINE_HEIGHT}em">{escape(line)}</tspan>' for line in spot.box.lines)
    return (
        f'<g transform="translate({spot.x} {spot.y})"><text class="caption{big}{old}" y="{spot.box.radius}"'
        f' data-node="{number}">{lines}</text></g>'
    )


def _legend(picture: Picture, frame: Panel) -> tuple[str, int]:
    """Return the legend of a file, and its height."""
    entries = [(f'<g class="node t-{name}">{mark(name)}</g>', name) for name in types_in(picture)]
    if any(not spot.node.is_active for spot in picture.spots):
        entries.append((f'<g class="node old">{mark("note")}</g>', "put away"))
    for sort in (sort for sort in SORTS if any(line.sort is sort for line in picture.lines)):
        entries.append((f'<g class="line {sort}"><path d="M-12 0 12 0"/></g>', SORTS[sort]))
    across = max(1, (frame.width - 2 * GAP) // LEGEND_ENTRY)
    left, top = frame.left + GAP, frame.top + frame.height
    drawn = "\n".join(_entry(left, top, across, at, *entry) for at, entry in enumerate(entries))
    height = (math.ceil(len(entries) / across) + bool(picture.unlinked)) * LEGEND_HEIGHT + GAP // 2
    below = ""
    if picture.unlinked:
        y = top + height - GAP // 2 - LEGEND_HEIGHT // 2
        below = f'\n<text x="{left}" y="{y}">and {counted(picture.unlinked, "memory")} without links</text>'
    return f'<g class="legend">\n{drawn}{below}</g>\n', height


def _entry(left: int, top: int, across: int, at: int, drawn: str, label: str) -> str:
    x, y = left + at % across * LEGEND_ENTRY + 12, top + at // across * LEGEND_HEIGHT + 8
    return f'<g transform="translate({x} {y})">{drawn}<text x="18" y="4">{escape(label)}</text></g>'


def _variables() -> str:
    def set_of(colours: dict[str, str]) -> str:
        return " ".join(f"--{name}: {colour};" for name, colour in colours.items())

    dark = f"@media (prefers-color-scheme: dark) {{ .network {{ {set_of(_DARK)} }} }}"
    return f"\n.network {{ {set_of(_LIGHT)} }}\n{dark}"


def colours() -> Iterable[dict[str, str]]:
    """Return the light and the dark colours of a file: those of the viewer's style."""
    return _LIGHT, _DARK
