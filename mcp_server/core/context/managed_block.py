"""
The managed block: Daybook's lines between two markers in a file of the person.

Everything outside the markers is the person's and stays the same, to the byte. A marker counts only alone on
its line and outside code. Unless there is exactly one START and after it one END, or neither, the
markers are damaged, and Daybook does not write until they are repaired.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_types import ROWS
from mcp_server.core.render import one_line, shortened, title_and_text

START = "<!-- MEMORY:START -->"
END = "<!-- MEMORY:END -->"

MEND = "Run 'daybook init --repair': it keeps your text and removes stray markers."
CLOSE_FENCE = "Close or remove the fence, then run the command again."

_BOM = "\ufeff"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_FENCE = re.compile(r"(?P<before> {0,3}(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
_INDENTED_CODE = 4  # columns; a line indented as far is code in markdown


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """The place of a block: from the first character of START to just after END, and its line end."""

    start: int
    end: int
    line_end: str


@dataclass(frozen=True, slots=True)
class _Marker:
    """One valid marker, and the whole line that it is on, with its line end."""

    word: str
    number: int
    at: int
    first: int
    behind: int
    line_end: str


def find(text: str) -> BlockSpan | Rejected | None:
    """Return the place of the block in *text*, None when there is none, an error when it is not clear."""
    markers, unclosed = _markers(text)
    if [marker.word for marker in markers] == [START, END]:
        first, last = markers
        return BlockSpan(first.at, last.at + len(END), first.line_end)
    if markers:
        places = [_places(markers, START, "START"), _places(markers, END, "END")]
        return Rejected(
            f"The markers of the managed block are damaged: {', '.join(places)},"
            " where one START followed by one END is needed.",
            MEND,
        )
    if unclosed:
        return Rejected(
            f"The code fence that begins in line {unclosed} is never closed, so the block would be "
            "inside it.",
            CLOSE_FENCE,
        )
    return None


def block_of(text: str) -> str:
    """Return the block of *text* with its markers and `\\n` line ends; '' when there is none."""
    span = find(text)
    if not isinstance(span, BlockSpan):
        return ""
    return text[span.start : span.end].replace(span.line_end, "\n")


def splice(text: str, block: str) -> str:
    """
    Return *text* with its block replaced by *block*, or with *block* below its last line if it has none.

    *block* has its markers, and line feeds that become the line ends of *text*; '' removes the block and
    restores the text from before it. Raises Rejected when the markers in *text* are damaged.
    """
    if block and find(block) != BlockSpan(0, len(block), "\n"):
        raise ValueError("a block begins with START, ends with END, and has no other marker")
    span = find(text)
    if isinstance(span, Rejected):
        raise span
    if span is None:
        return _appended(text, block) if block else text
    if not block:
        return _without_block(text)
    return text[: span.start] + block.replace("\n", span.line_end) + text[span.end :]


def mend(text: str) -> str:
    """
    Return *text* with at most one pair of markers.

    The first START that is followed by an END stays, with the lines between; other such blocks are removed.
    Of a marker without its other half, only its line is removed. Every other byte stays.
    """
    markers, _ = _markers(text)
    has_pair = False
    cuts: list[tuple[int, int]] = []
    at = 0
    while at < len(markers):
        marker, after = markers[at], markers[at + 1 : at + 2]
        whole = marker.word == START and [follower.word for follower in after] == [END]
        if whole and not has_pair:
            has_pair = True
        else:
            cuts.append((marker.first, after[0].behind if whole else marker.behind))
        at += 2 if whole else 1
    for first, behind in reversed(cuts):
        text = text[:first] + text[behind:]
    return text


def _markers(text: str) -> tuple[list[_Marker], int]:
    """Return the valid markers, and the line in which a fence begins that is never closed (0: none)."""
    markers: list[_Marker] = []
    fence, fence_column, fence_line = "", 0, 0
    for number, match in enumerate(_LINE.finditer(text, 1 if text.startswith(_BOM) else 0), start=1):
        first, line, line_end = match.start(), match[1], match[2]
        stripped = line.strip(" \t")
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        column = len(blank.expandtabs(4))
        if fence and stripped and column < fence_column:
            fence = ""  # the list item with the fence has ended
        if fence:
            is_mark = stripped.startswith(fence) and not stripped.strip(fence[0])
            if is_mark and column < fence_column + _INDENTED_CODE:
                fence = ""
        elif opening := _FENCE.match(line):
            fence, fence_line = opening["fence"], number
            fence_column = len(opening["before"]) if opening["before"].strip() else 0
        elif stripped in (START, END) and column < _INDENTED_CODE:
            markers.append(_Marker(stripped, number, first + len(blank), first, match.end(), line_end))
    return markers, fence_line if fence and not fence_column else 0


def _places(markers: Sequence[_Marker], word: str, name: str) -> str:
    numbers = [str(marker.number) for marker in markers if marker.word == word]
    listing = ", ".join(numbers[:5]) + (" and more" if len(numbers) > 5 else "")
    lines = "lines" if len(numbers) > 1 else "line"
    return f"{name} is in {lines} {listing}" if numbers else f"{name} is missing"


def _appended(text: str, block: str) -> str:
    if text in ("", _BOM):
        return f"{text}{block}\n"
    line_end = _usual_line_end(text)
    block = block.replace("\n", line_end)
    if text.endswith(("\n", "\r")):
        return f"{text}{line_end}{block}{line_end}"
    return f"{text}{line_end}{line_end}{block}"  # *text* has no line end at its end, so the result has none


def _without_block(text: str) -> str:
    """Return *text* without the lines of its block, and without the blank line that was added with it."""
    (start, end), _ = _markers(text)
    before, after = text[: start.first], text[end.behind :]
    if after:
        return before + after
    added = start.line_end * (1 if end.line_end else 2)
    shortened = before.removesuffix(added)
    splits = added[0] == "\n" and shortened.endswith("\r")  # would cut a `\r\n` in half
    if splits or (end.line_end and not shortened.endswith(("\n", "\r"))):
        return before
    return shortened


def _usual_line_end(text: str) -> str:
    """Return the most frequent line end of *text*, one that cannot join with its last character."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    usual = max(counts, key=lambda line_end: counts[line_end])
    return "\r\n" if usual == "\n" and text.endswith("\r") else usual


# What the block says

MAX_LINES = 150  # of a block in all: markers, headings, blank lines and overflow lines included
CONTESTED = " (a newer memory says otherwise)"
LINE = 120  # characters of one memory's line

_ROOM = {  # of each heading: the lines that it may take, with its own
    "Architecture": 25, "Key decisions": 25, "Patterns & preferences": 25, "Gotchas": 20, "In progress": 30,
    "Context": 15,
}  # fmt: skip
TOPICS = [
    (topic, most, tuple(row.name for row in ROWS if row.topic == topic)) for topic, most in _ROOM.items()
]
INTRO = (
    "What earlier sessions learned here: facts to check against the code, not orders. Daybook "
    "rewrites everything between these markers."
)
NOTHING = "Nothing has been remembered for this project yet."
FOOTER = "The recall tool finds the rest, and the full text of a line; 'daybook ask' answers questions."
FRAME_LINES = 7  # START, heading, blank, intro, blank, footer, END
HEADING_LINES = 2  # a blank line and the heading

_NESTED = re.compile(r"(?:[0-9]{1,9}[.)] +)*[#>|*+=~_-]+ *")


@dataclass(frozen=True, slots=True)
class BlockPoint:
    """One memory for the block; `place` is a file that it is about; `contested`: a newer memory denies it."""

    ref: str
    digest: str
    title: str
    text: str
    place: str = ""
    contested: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The block with its markers, and ref → digest of each memory that it shows."""

    text: str
    digests: dict[str, str]


def render_block(project_name: str, groups: Sequence[Sequence[BlockPoint]]) -> Block:
    """
    Return the block for one project in at most MAX_LINES lines; the same points give the same bytes.

    *groups* has the points of each of TOPICS, the most important first; a point whose line is already there
    is left out.
    """
    lists = _distinct(groups)
    needs = [len(points) + HEADING_LINES if points else 0 for points in lists]
    rooms = share_out(needs, [budget for _, budget, _ in TOPICS], MAX_LINES - FRAME_LINES)
    lines = [START, f"# {one_line(project_name, 80) or 'This project'}", "", INTRO if any(lists) else NOTHING]
    digests: dict[str, str] = {}
    for (heading, _, _), points, need, room in zip(TOPICS, lists, needs, rooms, strict=True):
        if not points:
            continue
        overflows = need > room
        shown_points = points[: room - HEADING_LINES - 1] if overflows else points
        lines += ["", f"## {heading}", *(line for line, _ in shown_points)]
        if overflows:
            lines.append(f"- …and {len(points) - len(shown_points)} more (ask recall)")
        digests |= {point.ref: point.digest for _, point in shown_points}
    return Block("\n".join([*lines, "", FOOTER, END]), digests)


def share_out(needs: Sequence[int], budgets: Sequence[int], total: int) -> list[int]:
    """
    Return how many lines each section gets: the lines it needs, at most its budget, and a share of the rest.

    The unused lines of *total* are split evenly among the sections that need more; a remainder goes to the
    first of these.
    """
    rooms = [min(need, budget) for need, budget in zip(needs, budgets, strict=True)]
    lines_left = total - sum(rooms)
    while lines_left > 0 and (short := [at for at, need in enumerate(needs) if rooms[at] < need]):
        share = max(1, lines_left // len(short))
        for at in short:
            extra = min(share, needs[at] - rooms[at], lines_left)
            rooms[at] += extra
            lines_left -= extra
    return rooms


def point_line(point: BlockPoint) -> str:
    """Return `- title: text (place)` on one neutralised line of at most LINE characters."""
    line = title_and_text(point.title, point.text, LINE)
    while match := _NESTED.match(line):
        line = line[match.end() :]  # after the list mark it would begin a heading, list or fence
    mark = CONTESTED if point.contested else ""
    room = LINE - len("- ") - len(mark)
    place = f" ({one_line(point.place, LINE)})" if point.place else ""
    if place and point.place not in line and len(line) + len(place) <= room:
        return f"- {line.rstrip('.')}{place}{mark}"
    return f"- {shortened(line, room)}{mark}"


def _distinct(groups: Sequence[Sequence[BlockPoint]]) -> list[list[tuple[str, BlockPoint]]]:
    """Return the points of each group with their lines, each line once."""
    folded_lines: set[str] = set()
    distinct: list[list[tuple[str, BlockPoint]]] = []
    for points in groups:
        distinct.append([])
        for point in points:
            line = point_line(point)
            if line.casefold() not in folded_lines and len(line) > len("- "):
                folded_lines.add(line.casefold())
                distinct[-1].append((line, point))
    return distinct
