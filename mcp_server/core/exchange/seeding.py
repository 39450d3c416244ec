"""
Seeding: documents in sections, each fit to be a memory.

A section ends at a heading. A long one is parted between paragraphs, never inside a code block or a list.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from mcp_server.core import markdown
from mcp_server.core.memory_parts import MAX_TITLE, strip_blank_lines
from mcp_server.core.memory_types import DEFAULT_TYPE, by_rank
from mcp_server.core.text.titles import clipped

SIZE = 1500  # characters of a section that stay together
SHORTEST = 10  # characters; a shorter one says something only as `key: value`
STEP = " > "

_TYPES = [  # the first that a heading has, from the innermost heading on
    (row.name, re.compile(rf"\b(?:{row.headings})\b", re.IGNORECASE)) for row in by_rank() if row.headings
]

_KEY_VALUE = re.compile(r"[\w .-]{1,40}:[ \t]*\S")
_HEAD = re.compile(r"\A---\n.*?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
_BLOCK = (
    re.compile(r"^<!-- MEMORY:START -->[ \t]*$", re.MULTILINE),
    re.compile(r"^<!-- MEMORY:END -->[ \t]*$", re.MULTILINE),
)
_COMMENT = (re.compile("<!--"), re.compile("-->"))
_BADGES = re.compile(r"^(?:[ \t]*\[?!\[[^\]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?)+[ \t]*$", re.MULTILINE)
_LINKED = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*_]")


@dataclass(frozen=True, slots=True)
class Section:
    """
    A piece of a document. `key` names it there: headings, number among equal ones, part. `title` is the same
    for people, `type` the type that its headings suggest.
    """

    key: str
    title: str
    text: str
    type: str


def sections(document: str, name: str) -> list[Section]:
    """
    Return the sections of *document* that are worth remembering, titled `[name > heading]`.

    Frontmatter, comments, badges and Daybook's own block are left out.
    """
    document_sections = []
    counts: Counter[str] = Counter()
    for headings, run in markdown.sections(_stripped(document)):
        above = [" ".join(_LINKED.sub(r"\1", heading).split()) for heading in headings]
        text = strip_blank_lines(run)
        if not text:
            continue
        path = STEP.join(above)
        counts[path] += 1
        numbered_path = f"{path} #{counts[path]}" if counts[path] > 1 else path
        parts = [part for part in parted(text) if _says_something(part)]
        for number, part in enumerate(parts, start=1):
            key = f"{numbered_path} ({number})" if number > 1 else numbered_path
            document_sections.append(Section(key, _title(name, key), part, type_of(above)))
    return document_sections


def type_of(headings: list[str] | tuple[str, ...]) -> str:
    """Return the type that *headings* suggest, the innermost first; the default when they suggest none."""
    for heading in reversed(headings):
        for name, words in _TYPES:
            if words.search(heading):
                return name
    return DEFAULT_TYPE


def parted(text: str, size: int = SIZE) -> list[str]:
    """Return *text* in parts of at most *size* characters, as far as code blocks and lists allow."""
    parts: list[str] = []
    for block in _blocks(text):
        for piece in [block] if len(block) <= size or _is_whole(block) else _sentences(block, size):
            if parts and len(parts[-1]) + 2 + len(piece) <= size:
                parts[-1] += f"\n\n{piece}"
            else:
                parts.append(piece)
    return parts


def _stripped(document: str) -> str:
    text = document.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _without(_HEAD.sub("", text, count=1), _BLOCK)
    # A comment inside a code block is code; what stands between the blocks is looked at alone.
    parts = []
    for is_code, run in itertools.groupby(markdown.lines(text), key=itemgetter(1)):
        part = "\n".join(line for line, _ in run)
        parts.append(part if is_code else _BADGES.sub("", _without(part, _COMMENT)))
    return "\n".join(parts)


def _without(text: str, ends: tuple[re.Pattern[str], re.Pattern[str]]) -> str:
    """Return *text* without what lies between both *ends*; no part is looked at twice."""
    parts, at = [], 0
    while (start := ends[0].search(text, at)) and (end := ends[1].search(text, start.end())):
        parts.append(text[at : start.start()])
        at = end.end()
    return "".join([*parts, text[at:]])


def _blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs of *text*, whole lists and whole code blocks."""
    block = ""
    for part in markdown.paragraphs(text):
        if markdown.is_item(block) and (markdown.is_item(part) or part[0] in " \t"):
            block += f"\n\n{part}"
            continue
        if block:
            yield block
        block = part
    if block:
        yield block


def _is_whole(block: str) -> bool:
    has_code = any(is_code for _, is_code in markdown.lines(block))
    return bool(has_code or markdown.is_item(block) or block.lstrip().startswith("|"))


def _sentences(block: str, size: int) -> list[str]:
    """Return a long paragraph in pieces that end with a sentence where there is one."""
    pieces: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n", block):
        for at in range(0, len(sentence), size):
            part = sentence[at : at + size]
            if pieces and len(pieces[-1]) + 1 + len(part) <= size:
                pieces[-1] += f" {part}"
            else:
                pieces.append(part)
    return pieces


def _says_something(text: str) -> bool:
    return len(text.strip()) >= SHORTEST or bool(_KEY_VALUE.match(text.strip()))


def _title(name: str, key: str) -> str:
    title = f"{name}{STEP}{key}" if key and not key.startswith((" #", " (")) else f"{name}{key}"
    return f"[{clipped(title, MAX_TITLE - 2)}]"
