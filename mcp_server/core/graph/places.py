"""
The layout of a picture: places for nodes and groups of nodes, none of which cover each other.

A node takes the room of its mark and of the caption below it. Each group becomes a panel. Panels lie around
the first one, near those that they are linked with; small groups without such links lie in rows below.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcp_server.core.graph.captions import breadth, caption
from mcp_server.core.graph.network import Line, Network, NetworkNode, degrees, united

FONT = 12  # pixels, of a caption
BIG_FONT = 14  # of the most linked node of a group
LINE_HEIGHT = 1.25  # em
MARGINS = (10, 26)  # beside and below a node with its caption, so that its links can be seen
GAP = 36  # between two panels
PADDING = 14  # in a panel, around its nodes
STEP = 48  # the sizes of panels are multiples of it, so that one more node seldom moves other panels
BIG_FROM = 3  # least links of a node that is drawn bigger, one in each group
ISLAND = 6  # most nodes of a group that lies in the rows below
LINK = 80  # pixels of a usual link before its ends are pushed apart
ROOMY = 1.4  # room of a group at first, as a multiple of what its nodes take
PUSHES = 40  # before the group gets more room
WIDER = 1.12
ASPECT = 2.0  # width by height that the layout aims at, because screens are wide

Place = tuple[float, float]


class Box(NamedTuple):
    """The room of a node in pixels: its mark within a *radius*, and below it its caption in *lines*."""

    radius: int
    font: int
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        return max(2 * self.radius, self.font * max(map(breadth, self.lines), default=0))

    @property
    def height(self) -> float:
        return 2 * self.radius + self.font * (0.4 + LINE_HEIGHT * len(self.lines))


class Spot(NamedTuple):
    """A node in its place: the middle of its mark, its room, how many links it has, and its group."""

    node: NetworkNode
    x: int
    y: int
    box: Box
    links: int
    group: int

    @property
    def covers(self) -> tuple[float, float, float, float]:
        """The left, top, right and bottom edge of its mark and caption together."""
        half, top = self.box.width / 2, self.y - self.box.radius
        return self.x - half, top, self.x + half, top + self.box.height


class Panel(NamedTuple):
    """A rectangle."""

    left: int
    top: int
    width: int
    height: int

    @property
    def middle(self) -> Place:
        return self.left + self.width / 2, self.top + self.height / 2


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture ready to draw; spots are in the order of their groups, the most linked of a group first."""

    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]
    panels: tuple[Panel, ...]
    frame: Panel
    unlinked: int = 0


def arranged(
    network: Network, groups: Sequence[Sequence[str]], spread: Sequence[Mapping[str, Place]]
) -> Picture:
    """Return the picture of *network*, from *groups* of keys and the places that *spread* suggests."""
    nodes = {node.key: node for node in network.nodes}
    lines = united(network.links)
    count = degrees(network.links)
    boxes: dict[str, Box] = {}
    inside: list[dict[str, Place]] = []
    panels: list[tuple[int, int]] = []
    group_of = {key: number for number, group in enumerate(groups) for key in group}
    within: list[list[Line]] = [[] for _ in groups]
    for line in lines:
        if group_of[line.start] == group_of[line.end]:
            within[group_of[line.start]].append(line)
    for group, tends, links in zip(groups, spread, within, strict=True):
        big = max(group, key=lambda key: (count[key], nodes[key].is_active))
        boxes |= {key: _box(nodes[key], count[key], key == big and count[key] >= BIG_FROM) for key in group}
        places, size = _inside(
            apart(tends, links, {key: (boxes[key].width, boxes[key].height) for key in group}), boxes
        )
        inside.append(places)
        panels.append(size)
    placed = _beside(panels, groups, lines)
    spots = [
        _spot(nodes[key], boxes[key], placed[number], places[key], count[key], number)
        for number, places in enumerate(inside)
        for key in sorted(places, key=lambda key: (-count[key], key))
    ]
    return Picture(tuple(spots), tuple(lines), tuple(placed), _frame(placed), network.unlinked)


def apart(
    tends: Mapping[str, Place], lines: Iterable[Line], sizes: Mapping[str, tuple[float, float]]
) -> dict[str, Place]:
    """Return whole-numbered places for boxes of *sizes*, near those of *tends*, so that none overlap."""
    wide, high = (sum(size[axis] + MARGINS[axis] for size in sizes.values()) / len(sizes) for axis in (0, 1))
    flat = math.sqrt(wide / high)
    lengths = sorted(math.dist(tends[line.start], tends[line.end]) for line in lines)
    spans = [max(values) - min(values) for values in zip(*tends.values(), strict=True)]
    scale = LINK / max(lengths[len(lengths) // 2], 1e-6) if lengths else 1.0
    area = max(spans[0] * spans[1], max(spans) ** 2)
    if area:
        scale = max(scale, math.sqrt(len(sizes) * wide * high * ROOMY / area))
    places = {key: [x * scale * flat, y * scale / flat] for key, (x, y) in tends.items()}
    while not any(_push(places, sizes) == 0 for _ in range(PUSHES)):
        for place in places.values():
            place[0], place[1] = place[0] * WIDER, place[1] * WIDER
    return {key: (round(x), round(y)) for key, (x, y) in places.items()}


def _push(places: Mapping[str, list[float]], sizes: Mapping[str, tuple[float, float]]) -> int:
    """Move overlapping boxes apart, the shorter way; return how many pairs overlapped."""
    wide = max(width for width, _ in sizes.values()) + MARGINS[0]
    high = max(height for _, height in sizes.values()) + MARGINS[1]
    cells: dict[tuple[int, int], list[str]] = {}
    for key, (x, y) in places.items():
        cells.setdefault((int(x // wide), int(y // high)), []).append(key)
    pairs = 0
    for (column, row), keys in cells.items():
        beside = [cells.get((column + a, row + b), ()) for a, b in ((1, -1), (1, 0), (1, 1), (0, 1))]
        others = [key for cell in beside for key in cell]
        for number, first in enumerate(keys):
            for other in (*keys[number + 1 :], *others):
                pairs += _pushed(places[first], places[other], sizes[first], sizes[other])
    return pairs


def _pushed(first: list[float], other: list[float], size: Place, others: Place) -> bool:
    across = (size[0] + others[0]) / 2 + MARGINS[0] - abs(first[0] - other[0])
    if across <= 0:
        return False
    down = (size[1] + others[1]) / 2 + MARGINS[1] - abs(first[1] - other[1])
    if down <= 0:
        return False
    axis, shift = (0, across) if across < down else (1, down)
    half = (shift / 2 + 1) * (1 if first[axis] <= other[axis] else -1)
    first[axis] -= half
    other[axis] += half
    return True


def _box(node: NetworkNode, links: int, big: bool) -> Box:
    radius = round(6 + min(8, 1.6 * math.sqrt(links)))
    return Box(radius, BIG_FONT if big else FONT, caption(node.title))


def _inside(
    places: Mapping[str, Place], boxes: Mapping[str, Box]
) -> tuple[dict[str, Place], tuple[int, int]]:
    """Return *places* relative to the corner of their panel, and the size of that panel."""
    left = min(x - boxes[key].width / 2 for key, (x, _) in places.items())
    top = min(y - boxes[key].height / 2 for key, (_, y) in places.items())
    width = max(x + boxes[key].width / 2 for key, (x, _) in places.items()) - left + 2 * PADDING
    height = max(y + boxes[key].height / 2 for key, (_, y) in places.items()) - top + 2 * PADDING
    size = (math.ceil(width / STEP) * STEP, math.ceil(height / STEP) * STEP)
    dx, dy = (size[0] - width) / 2 + PADDING - left, (size[1] - height) / 2 + PADDING - top
    return {key: (x + dx, y + dy) for key, (x, y) in places.items()}, size


def _spot(node: NetworkNode, box: Box, panel: Panel, place: Place, links: int, group: int) -> Spot:
    x, y = panel.left + place[0], panel.top + place[1] - box.height / 2 + box.radius
    return Spot(node, round(x), round(y), box, links, group)


def _beside(
    sizes: Sequence[tuple[int, int]], groups: Sequence[Sequence[str]], lines: Iterable[Line]
) -> list[Panel]:
    """Return a panel for each group: the largest in the middle, linked ones near each other."""
    group_of = {key: number for number, group in enumerate(groups) for key in group}
    linked: dict[int, Counter[int]] = {number: Counter() for number in range(len(groups))}
    for line in lines:
        first, other = group_of[line.start], group_of[line.end]
        if first != other:
            linked[first][other] += 1
            linked[other][first] += 1
    islands = [number for number, group in enumerate(groups) if not linked[number] and len(group) <= ISLAND]
    if len(islands) == len(groups):
        islands = islands[1:]
    # Areas are compared by their powers of two, so that a new node seldom makes groups change places.
    others = sorted(
        set(range(len(groups))).difference(islands),
        key=lambda number: (-int(math.log2(sizes[number][0] * sizes[number][1])), groups[number][0]),
    )
    placed: dict[int, Panel] = {}
    for number in others:
        placed[number] = _near(sizes[number], placed, linked[number])
    if islands:
        placed |= _rows(islands, sizes, _frame(list(placed.values())))
    return [placed[number] for number in range(len(groups))]


def _near(size: tuple[int, int], placed: Mapping[int, Panel], linked: Mapping[int, int]) -> Panel:
    """Return the free place beside a placed panel that is nearest to the middle and to *linked* panels."""
    width, height = size
    if not placed:
        return Panel(-width // 2, -height // 2, width, height)
    candidates = set()
    for left, top, wide, high in placed.values():
        for y in (top, top + high - height):
            candidates |= {(left + wide + GAP, y), (left - GAP - width, y)}
        for x in (left, left + wide - width):
            candidates |= {(x, top + high + GAP), (x, top - GAP - height)}
    pulls = [(*placed[other].middle, min(times, 4)) for other, times in linked.items() if other in placed]
    weight = sum(times for *_, times in pulls) or 1

    def far(corner: tuple[int, int]) -> float:
        x, y = corner[0] + width / 2, corner[1] + height / 2
        pull = sum(math.hypot(x - px, (y - py) * ASPECT) * times for px, py, times in pulls) / weight
        return math.hypot(x, y * ASPECT) + pull

    before = list(placed.values())
    for left, top in sorted(candidates, key=lambda corner: (far(corner), corner)):
        for other in before:
            if (
                left < other.left + other.width + GAP
                and other.left < left + width + GAP
                and top < other.top + other.height + GAP
                and other.top < top + height + GAP
            ):
                before.remove(other)  # a panel in the way of one place is often in the way of the next
                before.insert(0, other)
                break
        else:
            return Panel(left, top, width, height)
    raise AssertionError("there is always room outside")


def _rows(islands: Sequence[int], sizes: Sequence[tuple[int, int]], above: Panel) -> dict[int, Panel]:
    """Return panels for *islands* in rows below *above*, about as wide as it, or wider if they need it."""
    area = sum((sizes[number][0] + GAP) * (sizes[number][1] + GAP) for number in islands)
    room = max(above.width, math.sqrt(area * ASPECT))
    x, y, high = above.left, above.top + above.height + GAP, 0
    placed = {}
    for number in islands:
        width, height = sizes[number]
        if x > above.left and x + width > above.left + room:
            x, y, high = above.left, y + high + GAP, 0
        placed[number] = Panel(x, y, width, height)
        x, high = x + width + GAP, max(high, height)
    return placed


def _frame(panels: Sequence[Panel]) -> Panel:
    """Return the rectangle around *panels*, with a margin."""
    left = min((panel.left for panel in panels), default=0) - GAP
    top = min((panel.top for panel in panels), default=0) - GAP
    right = max((panel.left + panel.width for panel in panels), default=0) + GAP
    bottom = max((panel.top + panel.height for panel in panels), default=0) + GAP
    return Panel(left, top, right - left, bottom - top)
