"""
A memory as a markdown file: frontmatter between two lines of `---`, then the text.

A file written by hand needs no frontmatter and no key of it.
A rewrite replaces only the lines whose value changed and leaves every other byte alone. Reading is tolerant:
an invalid value counts as absent, and an absent value comes from the first heading, the file's name, its
folder or its date. It is long because what reads a key and what writes it must agree.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from mcp_server.adapters.files import MAX_MEMORY_FILE
from mcp_server.adapters.frontmatter_lines import (
    CONFLICT,
    MAX_BYTES,
    ROOM,
    StrictFrontmatter,
    Value,
    replace_keys,
    scalar,
    spans,
)
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.links import RELATES_TO
from mcp_server.core.markdown import first_heading, left_conflict
from mcp_server.core.memory import LIST_NAMES, LISTS, PHRASES, WORDS, Link, Memory
from mcp_server.core.memory_parts import (
    ARCHIVE_FOLDER,
    ID,
    MAX_TEXT,
    Kind,
    Status,
    id_of_name,
    moment_in,
    strip_blank_lines,
    timestamp,
)
from mcp_server.core.memory_types import DEFAULT_TYPE, TYPES
from mcp_server.core.text.titles import clipped

_FIRST = ("id", "title", "aliases", "kind", "type", "tags", "created", "updated")
_OTHERS = [key.name for key in fields(Memory) if key.name not in (*_FIRST, *WORDS, "text")]
_BEHIND = _OTHERS.index("session")
KEYS = (*_FIRST, *_OTHERS[:_BEHIND], *WORDS, *_OTHERS[_BEHIND:])
"""The keys that we own, in the order of a new file."""

_ALWAYS_WRITTEN = frozenset({"id", "title", "tags", "created", "updated", "source"})
_A_LINE_EACH = (*(key.name for key in PHRASES), "notes")
_DEFAULTS = {field.name: field.default for field in fields(Memory)}
_PUT_AWAY = (Status.ARCHIVED, Status.ORPHANED)
_BY_UPKEEP = ("aged", "dropped", "compacted")
_KINDS = frozenset(Kind)
_STATUSES = frozenset(Status)
_FOLDERS = frozenset({*(kind.folder for kind in Kind), ARCHIVE_FOLDER})


def read_fields(
    head: dict[str, Value], text: str, *, path: str, kind: Kind, archived: bool, modified: datetime
) -> Memory:
    """
    Return the memory that the frontmatter *head* and *text* describe; `id` is valid or absent.

    *kind* and *archived* come from the file's folder, *modified* is the file's date.
    """
    get = head.get
    memory_id, title = get("id"), get("title")
    kind_said, memory_type = _word(get("kind")), _word(get("type"))
    status = _status(head)
    # Earlier versions left the marks of upkeep in the file of a restored memory.
    by_upkeep = status is Status.ORPHANED or _text(get("archived_reason")) in _BY_UPKEEP
    if archived and status is Status.ACTIVE:
        status = Status.ARCHIVED
    elif not archived and status in _PUT_AWAY and by_upkeep:
        status = Status.ACTIVE
    lists: dict[str, Any] = {key.name: key.once(_listed(get(key.name))) for key in LISTS}
    return Memory(
        id=memory_id if memory_id and isinstance(memory_id, str) else id_of_name(PurePath(path).stem),
        title=title if isinstance(title, str) and title.strip() else _title_of(text, path),
        text=text,
        created=moment_in(get("created")) or modified,
        updated=moment_in(get("updated")) or modified,
        kind=Kind(kind_said) if kind_said in _KINDS else kind,
        type=memory_type if memory_type in TYPES else DEFAULT_TYPE,
        source=_text(get("source"), "manual"),
        status=status,
        **lists,
        **{key: read(get(key)) for key, read in _READ},
    )


def field_lines(memory: Memory, key: str) -> list[str]:
    """Return the lines for *key* of *memory* in a file, none when its value is the default."""
    value = getattr(memory, key)
    if key == "kind":  # given by the folder, except in the archive
        written = memory.kind is not Kind.KNOWLEDGE and memory.status in _PUT_AWAY
    elif key == "type":
        written = memory.kind is Kind.KNOWLEDGE or memory.type != DEFAULT_TYPE
    else:
        written = key in _ALWAYS_WRITTEN or value != _DEFAULTS[key]
    if not written:
        return []
    match value:
        case datetime():
            return [f"{key}: {timestamp(value)}"]
        case str():
            return [f"{key}: {scalar(value)}"]
        case bool():
            return [f"{key}: {str(value).lower()}"]
        case float() | int():
            return [f"{key}: {float(value)!r}"]
    if key == "links":
        return ["links:", *(f"  - {{{_link_says(link)}}}" for link in memory.links)]
    if key in _A_LINE_EACH:
        return [f"{key}:", *(f"  - {scalar(item)}" for item in value)]
    return [f"{key}: [{', '.join(scalar(item, flow=True) for item in value)}]"]


def changed_lines(head: dict[str, Value], memory: Memory, path: str) -> dict[str, list[str]]:
    """
    Return the new lines of the keys whose value in *head* is not that of *memory*; no lines remove a key.

    The date of the file at *path* is not known here: a date that *head* lacks counts as unchanged
    when *memory* allows it.
    """
    archived = [part for part in PurePath(path).parts[:-1] if part in _FOLDERS][-1:] == [ARCHIVE_FOLDER]
    modified = memory.created if moment_in(head.get("updated")) else memory.updated
    before = read_fields(head, memory.text, path=path, kind=memory.kind, archived=archived, modified=modified)
    changed = {key for key in KEYS if _comparable(before, key) != _comparable(memory, key)}
    if _status(head) is memory.status:
        changed.discard("status")
    return {key: field_lines(memory, key) for key in KEYS if key in changed}


def unsaid_lines(head: dict[str, Value], memory: Memory) -> dict[str, list[str]]:
    """
    Return the lines of the keys whose values come only from the file's name, date or folder.

    A file that Daybook changes gets a new date, and in the archive another name and folder.
    """
    unsaid = {key for key in ("created", "updated") if moment_in(head.get(key)) is None}
    if not head.get("id"):
        unsaid.add("id")
    if not _word(head.get("title")) and _title_of(memory.text, path="") != memory.title:
        unsaid.add("title")
    if _status(head) is not memory.status:
        unsaid.add("status")
    if field_lines(memory, "kind") and _word(head.get("kind")) != memory.kind:
        unsaid.add("kind")
    return {key: field_lines(memory, key) for key in KEYS if key in unsaid}


def _link_says(link: Link) -> str:
    text = f"rel: {scalar(link.rel, flow=True)}, to: {scalar(link.to, flow=True)}"
    notes = ", ".join(scalar(note, flow=True) for note in link.notes)
    return f"{text}, notes: [{notes}]" if notes else text


def _comparable(memory: Memory, key: str) -> object:
    value = getattr(memory, key)
    return timestamp(value) if isinstance(value, datetime) else value


def _status(head: dict[str, Value]) -> Status:
    """Return the status in the file itself, whatever its folder."""
    word = _word(head.get("status"))
    return Status(word) if word in _STATUSES else Status.ACTIVE


def _word(value: Value) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _flag(value: Value) -> bool:
    return _word(value) in ("true", "yes", "1")


def _text(value: Value, default: str = "") -> str:
    return value if isinstance(value, str) else default


def _texts(value: Value) -> tuple[str, ...]:
    """Return the texts of a list, or a text alone, without those of blanks."""
    texts = value if isinstance(value, list) else [value]
    return tuple([text for text in texts if isinstance(text, str) and text.strip()])


def _listed(value: Value) -> Sequence[str]:
    """Return the texts of a list, or those between the commas of a text."""
    return value.split(",") if isinstance(value, str) else _texts(value)


def _share(value: Value) -> float | None:
    """Return a number between 0 and 1."""
    try:
        share = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return None if math.isnan(share) else min(1.0, max(0.0, share))


def _links(value: Value) -> Iterator[Link]:
    """Yield the links of a list of `{rel, to, notes}`, `rel: to`, or ids, which may stand in `[[ ]]`."""
    match value:
        case list():
            for item in value:
                yield from _links(item)
        case dict() if "to" in value:
            if to := _text(value["to"]):
                yield Link(_text(value.get("rel")) or RELATES_TO, to, _texts(value.get("notes")))
        case dict() if "rel" not in value:
            yield from (Link(rel, to) for rel, to in value.items() if rel and to and isinstance(to, str))
        case str():
            rel, colon, to = value.partition(": ")
            if not colon:
                rel, to = RELATES_TO, value
            if to := to.strip().removeprefix("[[").removesuffix("]]").strip():
                yield Link(rel.strip() or RELATES_TO, to)


_BY_TYPE: dict[object, Callable[[Value], Any]] = {
    str: _text,
    bool: _flag,
    float | None: _share,
    datetime | None: moment_in,
    tuple[str, ...]: _texts,
    tuple[Link, ...]: lambda value: tuple(_links(value)),
}
_NAMED = (*"id title text created updated kind type source status".split(), *LIST_NAMES)
_READ = [(key.name, _BY_TYPE[key.type]) for key in fields(Memory) if key.name not in _NAMED]
"""The keys whose type says how they are read; `read_fields` names the others."""


def _title_of(text: str, path: str) -> str:
    """Return the first heading of *text* outside fences, else the file's name without its ending."""
    return clipped(first_heading(text[:MAX_TEXT])) or clipped(PurePath(path).stem) or "Untitled"


_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*+")


def parse(data: bytes, *, path: str, kind: Kind, archived: bool, modified: datetime) -> Memory:
    """
    Return the memory in the bytes of a file.

    *kind* and *archived* come from the file's folder, *modified* is its date, aware and in UTC.
    Raises Unreadable with *path*, the line counted from 1 (0 for the whole file) and the reason.
    """
    whole = _plain(_decode(data, path))
    _, head, body = _split(whole, path)
    text = strip_blank_lines(body)
    memory = read_fields(head, text, path=path, kind=kind, archived=archived, modified=modified)
    # In a conversation somebody may have shown a conflict.
    if memory.kind is Kind.KNOWLEDGE and (line := left_conflict(body)):
        raise Unreadable(path, whole.count("\n", 0, len(whole) - len(body)) + line, CONFLICT)
    return memory


def render(memory: Memory) -> bytes:
    """Return the bytes of a new file; raise Rejected when they could not be read again."""
    text = f"{memory.text}\n" if memory.text else ""
    return _readable("".join(f"{line}\n" for line in _whole_head(memory)) + text, memory)


def rewrite(data: bytes, memory: Memory, *, path: str) -> bytes:
    """
    Return *data*, the bytes of the file at *path*, changed to say *memory*; unchanged when they already do.

    Unknown keys, comments, blank lines, their order, line ends and an unchanged text stay as they are.
    Values that came only from the file's name, date or folder are written as soon as anything changes.
    Raises Unreadable as `parse` does, and Rejected when the result could not be read again.
    """
    raw = _decode(data, path)
    block, head, body = _split(_plain(raw), path)
    changed = changed_lines(head, memory, path)
    same_text = strip_blank_lines(body) == memory.text
    if not changed and same_text:
        return data
    line_end = _LINE_END.search(raw)
    eol = line_end[0] if line_end else "\n"
    if block is None:
        top, rest = [line + eol for line in _whole_head(memory)], raw
    else:
        above = _blank_lines_above(_plain(raw)).count("\n")
        top, rest = _first_lines(raw, above + block.count("\n") + 2)
        needed = unsaid_lines(head, memory) | changed
        changes = {key: needed[key] for key in KEYS if key in needed}
        top[above + 1 : -1] = replace_keys(block, top[above + 1 : -1], changes, eol)
    if not same_text:
        rest = _with_text(rest, memory.text, eol)
    if rest and not top[-1].endswith(("\r", "\n")):
        top[-1] += eol
    return (_BOM if data.startswith(_BOM) else b"") + _readable("".join(top) + rest, memory)


def check_room(data: bytes, memory: Memory, *, path: str) -> None:
    """
    Raise Rejected when the file at *path*, changed to say *memory*, leaves no room for a change of status.

    Without that room a memory could be neither archived nor superseded.
    """
    changed = _plain(_decode(rewrite(data, memory, path=path), path))
    block, _, _ = _split(changed, path)
    if len((block or "").encode("utf-8")) > MAX_BYTES - ROOM:
        raise Rejected(
            f"'{memory.id}' has no room for another link.",
            "Link to a memory between them, or delete less useful links.",
        )


def check_replaceable(data: bytes, memory: Memory, *, path: str) -> None:
    """Raise Rejected when the file at *path* has no room to say that another memory superseded *memory*."""
    longest = "x" * 80
    superseded = replace(memory, status=Status.SUPERSEDED, superseded_by=longest, valid_to=memory.updated)
    rewrite(data, superseded, path=path)


def _decode(data: bytes, path: str) -> str:
    """Return the text of a file without its byte order mark, line ends as they are."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + len(re.findall(rb"\r\n|\r|\n", data[: error.start]))
        raise Unreadable(path, line, "is not UTF-8; save it as UTF-8 in an editor") from error
    if "\0" in text:
        line = 1 + len(_LINE_END.findall(text[: text.index("\0")]))
        raise Unreadable(path, line, "contains a NUL byte, so it is not text")
    if not text or text.isspace():
        raise Unreadable(path, 0, "is empty; write into it, or delete it")
    return text


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _split(text: str, path: str) -> tuple[str | None, dict[str, Value], str]:
    """Return the lines of the frontmatter (None when there is none), its values, and the rest of the text."""
    frontmatter = StrictFrontmatter(path)
    above = _blank_lines_above(text)
    # frontmatter.parse() would strip the text, and with it the indentation of its first line.
    try:
        block, body = frontmatter.split(text[len(above) :])
        head = frontmatter.load(block)
        memory_id = head.get("id")
        if memory_id and not (isinstance(memory_id, str) and ID.fullmatch(memory_id)):
            line = 2 + spans(block)[0]["id"].first
            raise Unreadable(path, line, f"{repr(memory_id)[:82]} is not an id")
    except ValueError:
        return None, {}, text
    except Unreadable as error:
        raise Unreadable(path, above.count("\n") + error.line, error.reason) from error
    return block, head, body


def _blank_lines_above(text: str) -> str:
    """Return the blank lines at the beginning of *text*, with their line ends."""
    match = _BLANK_LINES.match(text)
    return match[0] if match else ""


def _first_lines(raw: str, count: int) -> tuple[list[str], str]:
    """Return the first *count* lines of *raw* with their line ends, and the rest."""
    lines, at = [], 0
    for _ in range(count):
        match = _LINE_END.search(raw, at)
        end = match.end() if match else len(raw)
        lines.append(raw[at:end])
        at = end
    return lines, raw[at:]


def _with_text(body: str, text: str, eol: str) -> str:
    """Return *body* with *text* as its text; the blank lines around it stay."""
    blank = _BLANK_LINES.match(body)
    assert blank
    old = body[blank.end() :]
    if old.strip():
        after = old[len(old.rstrip()) :].lstrip(" \t")
    else:
        after = eol if text else ""
    return blank[0] + text.replace("\n", eol) + after


def _whole_head(memory: Memory) -> list[str]:
    return ["---", *(line for key in KEYS for line in field_lines(memory, key)), "---"]


def _readable(text: str, memory: Memory) -> bytes:
    """Return *text* in UTF-8; raise Rejected when it could not be read as a memory."""
    data = text.encode("utf-8", "replace")
    try:
        if len(data) > MAX_MEMORY_FILE:
            raise Unreadable(memory.id, 0, f"has {len(data):,} bytes; {MAX_MEMORY_FILE:,} is the limit")
        parse(data, path=memory.id, kind=memory.kind, archived=False, modified=memory.updated)
    except Unreadable as error:
        raise Rejected(
            f"'{memory.id[:80]}' cannot be written: {error.reason}.",
            "Shorten what it says, or correct the file in an editor.",
        ) from error
    return data
