"""
The lines between the two `---` at the head of a file: read strictly, changed key by key.

A small part of YAML is read: every scalar is a string, and lists and maps nest three levels deep. The rest
of YAML (anchors, aliases, tags, merge keys) is refused: 26 lines of it keep a YAML loader busy for minutes,
and no memory needs it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from frontmatter.default_handlers import BaseHandler

from mcp_server.adapters.plain_frontmatter import plain_fields
from mcp_server.core.errors import Unreadable

MAX_BYTES = 64 * 1024  # a memory with many links in the graph has hundreds of them
ROOM = 2 * 1024  # bytes that links leave free for later states of the memory: archived, superseded, pinned
MAX_KEYS = 64
CONFLICT = "git left a conflict here: keep one version, without the marks; one to be shown goes between ```"
MAX_DEPTH = 4  # `links:` is a list (2) of maps (3) with lists of notes (4) in the frontmatter (1)

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
"""The value of a key; None when nothing follows its colon."""

# Only its events are used: composing 30,000 nested brackets crashes the process in the C loader.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"\n---[ \t]*(?:\n|\Z)")
_STARTS_WITH_KEY = re.compile(
    r"""
    (?: [ \t]* (?:\#[^\n]*)? \n )*+             # blank lines and comments
    [ \t]* (?: (?:&[\w-]+|!\S*) [ \t]+ | \?[ \t]+ )?
    (?: "[^"\n]{1,64}" | '[^'\n]{1,64}' | << | \w[\w ./-]{0,63} )
    [ \t]* : (?: [ \t\n] | \Z )
    """,
    re.VERBOSE,
)
_SEPARATORS = re.compile("[\x85\u2028\u2029]")
_NOT_YAML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?=[ \n]|\Z)", re.MULTILINE)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class StrictFrontmatter(BaseHandler):
    """
    The handler for python-frontmatter: splits and loads the frontmatter of the file at `path`.

    `split` raises ValueError when there is no frontmatter; both raise Unreadable when it is broken.
    """

    FM_BOUNDARY = _OPENING
    START_DELIMITER = END_DELIMITER = "---"

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def split(self, text: str) -> tuple[str, str]:
        """Return the lines between the delimiters and what follows; *text* has `\\n` line ends."""
        opening = _OPENING.match(text)
        if opening is None:
            raise ValueError("there is no frontmatter")
        start = opening.end()
        closing = _CLOSING.search(text, start - 1)
        block = text[start : closing.start() + 1] if closing else text[start:]
        if not _STARTS_WITH_KEY.match(block) and not (closing and (not block or block.isspace())):
            raise ValueError("a rule above prose is not frontmatter")
        if closing is None:
            raise Unreadable(self.path, 1, "the frontmatter is never closed")
        if len(block) > MAX_BYTES // 4 and (size := len(block.encode("utf-8"))) > MAX_BYTES:
            raise Unreadable(self.path, 1, f"the frontmatter has {size:,} bytes; {MAX_BYTES:,} is the limit")
        return block, text[closing.end() :]

    def load(self, fm: str) -> dict[str, Value]:
        """Return the values in the lines *fm*; they start on the second line of the file."""
        try:
            return plain_fields(fm, MAX_KEYS) or _load(fm)
        except _Refused as error:
            index, reason = error.index, error.reason
        except yaml.MarkedYAMLError as error:
            problem = error.problem or "it does not parse"
            unfinished = "end of stream" in problem  # then the error names where the unfinished part begins
            mark = (error.context_mark if unfinished else None) or error.problem_mark or error.context_mark
            index, reason = mark.index if mark else 0, f"the frontmatter is not valid: {problem}"
            if conflict := _CONFLICT.search(fm):
                index, reason = conflict.start(), CONFLICT
            elif "\t" in fm[index : index + 1]:
                reason = "a tab stands where only spaces may"
            elif problem.startswith("mapping values"):
                reason += " (a value with a colon in it needs quotes)"
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            match = _NOT_YAML.search(fm)
            index = match.start() if match else 0
            character = f"the control character U+{ord(match[0]):04X}" if match else str(error)
            reason = f"the frontmatter holds {character}"
        raise Unreadable(self.path, 2 + fm.count("\n", 0, index), reason)


class _Refused(Exception):
    """YAML that we do not read: where in the frontmatter (in characters), and why."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index, self.reason = index, reason


def _one_line_end(block: str) -> str:
    """Return *block* with blanks for line ends other than `\\n`, which editors disagree on."""
    return block if block.isascii() else _SEPARATORS.sub(" ", block)


def _load(block: str) -> dict[str, Value]:
    following: Callable[[], Any] = _LOADER(_one_line_end(block)).get_event
    following()
    event = following()
    if type(event) is yaml.StreamEndEvent:
        return {}
    event = following()
    if type(event) is not yaml.MappingStartEvent:
        raise _Refused(event.start_mark.index, "the frontmatter is not a list of 'key: value' lines")
    fields = _node(event, following, 1)
    end = following()
    if end.explicit or type(following()) is not yaml.StreamEndEvent:
        raise _Refused(end.start_mark.index, "the frontmatter holds more than one document")
    assert isinstance(fields, dict)
    return fields


def _node(event: Any, following: Callable[[], Any], depth: int) -> Value:
    kind = type(event)
    if kind is yaml.AliasEvent or event.anchor is not None:
        raise _Refused(event.start_mark.index, f"the frontmatter uses the anchor {event.anchor[:40]!r}")
    if event.tag is not None:
        raise _Refused(event.start_mark.index, f"the frontmatter uses the tag {event.tag[:40]!r}")
    if kind is yaml.ScalarEvent:
        value: str = event.value
        if event.style == '"' and _UNSTORABLE.search(value):
            raise _Refused(event.start_mark.index, "the frontmatter holds an escaped NUL or half a character")
        return value if value or event.style else None
    if depth > MAX_DEPTH:
        raise _Refused(event.start_mark.index, f"the frontmatter is nested more than {MAX_DEPTH} deep")
    return (_list if kind is yaml.SequenceStartEvent else _map)(following, depth)


def _list(following: Callable[[], Any], depth: int) -> list[Value]:
    items: list[Value] = []
    while type(event := following()) is not yaml.SequenceEndEvent:
        items.append(_node(event, following, depth + 1))
    return items


def _map(following: Callable[[], Any], depth: int) -> dict[str, Value]:
    pairs: dict[str, Value] = {}
    while type(event := following()) is not yaml.MappingEndEvent:
        index = event.start_mark.index
        key = _node(event, following, MAX_DEPTH + 1) if type(event) is yaml.ScalarEvent else None
        if key is None and type(event) is yaml.AliasEvent:
            _node(event, following, depth)
        if not isinstance(key, str):
            raise _Refused(index, "a key of the frontmatter is not a word")
        if key == "<<":
            raise _Refused(index, "the frontmatter uses a merge key")
        if key in pairs:
            raise _Refused(index, f"the key {key[:40]!r} is there twice")
        if len(pairs) == MAX_KEYS:
            raise _Refused(index, f"the frontmatter has more than {MAX_KEYS} keys")
        pairs[key] = _node(following(), following, depth + 1)
    return pairs


@dataclass(frozen=True, slots=True)
class KeyLines:
    """
    The lines of a key and its value, `first` to `last`, counted from 0.

    `tail` is the comment at the end of the first line with the blanks before it. `comments` holds the numbers
    of the other lines with a comment, and the comment itself where something else stands before it.
    A blank line counts as one with a comment.
    """

    first: int
    last: int
    tail: str
    comments: tuple[tuple[int, str], ...]


def spans(block: str) -> tuple[dict[str, KeyLines], str]:
    """Return the lines of each key of *block*, which `load` accepts, and the indentation of all keys."""
    by_key: dict[str, list[tuple[int, int]]] = {}
    spans_here: list[tuple[int, int]] = []
    indent, depth, key_next = "", 0, True
    for event in yaml.parse(_one_line_end(block), Loader=_LOADER):
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        if kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
            depth += 1
            if depth == 1:
                indent = " " * event.start_mark.column
                continue
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            depth -= 1
        elif kind is not yaml.ScalarEvent:
            continue
        elif depth == 1 and key_next:
            spans_here = by_key[event.value] = []
        if kind is yaml.ScalarEvent or end > start:  # the end of a list without brackets has no length
            if kind is yaml.ScalarEvent and event.style in ("|", ">"):
                end = len(block[:end].rstrip("\n\t "))
                start = min(block.find("\n", start) + 1, end)
            spans_here.append((start, end))
        if depth == 1:
            key_next = kind is not yaml.ScalarEvent or not key_next
    return {key: _span(block, places) for key, places in by_key.items()}, indent


def _span(block: str, places: Sequence[tuple[int, int]]) -> KeyLines:
    """Return the lines of a key whose words are at *places*, pairs of start and end."""
    # Comments are searched for between the words, so the words are blanked out first.
    first = block.count("\n", 0, places[0][0])
    start = block.rfind("\n", 0, places[0][0]) + 1
    blotted, at = [], start
    for begin, end in places:
        blotted += [block[at:begin], "x" + "\nx" * block.count("\n", begin, end)]
        at = end
    line_end = block.find("\n", at)
    blotted.append(block[at : line_end if line_end >= 0 else None])
    tail, comments = "", []
    for number, line in enumerate("".join(blotted).split("\n"), first):
        match = re.search(r"(?<!\S)#", line)
        if not line.strip() or (match and not line[: match.start()].strip()):
            comments.append((number, ""))
        elif match and number == first:
            tail = line[len(line[: match.start()].rstrip()) :]
        elif match:
            comments.append((number, line[match.start() :]))
    return KeyLines(first, number, tail, tuple(comments))


def replace_keys(
    block: str, lines: Sequence[str], changes: Mapping[str, Sequence[str]], eol: str
) -> list[str]:
    """
    Return *lines* with the keys of *changes* set to new lines; none removes a key.

    *lines* are those of *block* as in the file, line ends included; new ones end with *eol*. A new key comes
    last; comments and blank lines of what is replaced stay.
    """
    at, indent = spans(block)
    result = list(lines)
    result += [indent + line + eol for key, new in changes.items() if key not in at for line in new]
    for key in sorted(changes.keys() & at.keys(), key=lambda key: at[key].first, reverse=True):
        span, new = at[key], [indent + line + eol for line in changes[key]]
        if new:
            new[0] = new[0].removesuffix(eol) + span.tail + eol
        elif span.tail:
            new = [indent + span.tail.strip() + eol]
        new += [indent + comment + eol if comment else lines[number] for number, comment in span.comments]
        result[span.first : span.last + 1] = new
    return result


_AMONG_WORDS = re.compile(r"""[-?:,\[\]{}#&*!|>'"%@`]|.*?(?::[ ]|:\Z|\s\#)""", re.VERBOSE | re.DOTALL)
_BETWEEN_BRACKETS = re.compile(r"[,\[\]{}?]|:(?![\w/])")
_ESCAPED = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"\\]')
_BREAKS_WORDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NUMBER_OR_TIME = re.compile(r"[-+]?\.?[0-9][-+0-9a-foxtz_.:, ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_RESERVED = frozenset({"", "~", "=", "<<", "null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def scalar(text: str, *, flow: bool = False) -> str:
    """
    Return *text* as YAML, quoted only when a reader would otherwise read it as something else.

    *flow*: it is inside brackets. NUL and unpaired surrogates, which YAML cannot hold, become U+FFFD.
    """
    if (
        text.casefold() not in _RESERVED
        and text == text.strip()
        and not _AMONG_WORDS.match(text)
        and not _BREAKS_WORDS.search(text)
        and not _NUMBER_OR_TIME.fullmatch(text)
        and not (flow and _BETWEEN_BRACKETS.search(text))
    ):
        return text
    storable = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return f'"{_ESCAPED.sub(_escape, storable)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}.get(character)
    return named or (f"\\x{ord(character):02x}" if character < "\x80" else f"\\u{ord(character):04x}")
