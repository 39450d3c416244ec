"""
A memory as a markdown file: frontmatter between two lines of `---`, then the text.

A file written by hand needs no frontmatter and no key of it.
A rewrite replaces only the lines whose value changed and leaves every other byte alone.
"""

import re
from dataclasses import replace
from datetime import datetime

from mcp_server.adapters.frontmatter_lines import (
    MAX_BYTES,
    ROOM,
    StrictFrontmatter,
    Value,
    replace_keys,
    spans,
)
from mcp_server.adapters.memory_fields import KEYS, changed_lines, field_lines, read_fields, unsaid_lines
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.memory import ID, Kind, Memory, Status, strip_blank_lines

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*+")


def parse(data: bytes, *, path: str, kind: Kind, archived: bool, modified: datetime) -> Memory:
    """
    Return the memory in the bytes of a file.

    *kind* and *archived* come from the file's folder, *modified* is its date, aware and in UTC.
    Raises Unreadable with *path*, the line counted from 1 (0 for the whole file) and the reason.
    """
    _, head, body = _split(_plain(_decode(data, path)), path)
    text = strip_blank_lines(body)
    return read_fields(head, text, path=path, kind=kind, archived=archived, modified=modified)


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
        top, rest = _first_lines(raw, block.count("\n") + 2)
        needed = unsaid_lines(head, memory) | changed
        changes = {key: needed[key] for key in KEYS if key in needed}
        top[1:-1] = replace_keys(block, top[1:-1], changes, eol)
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
            f"'{memory.id}' has no room for one more link.",
            "Link to a memory between them, or delete links that say little.",
        )


def check_replaceable(data: bytes, memory: Memory, *, path: str) -> None:
    """Raise Rejected when the file at *path* has no room to say that another memory superseded *memory*."""
    longest = "x" * 80
    gone = replace(memory, status=Status.SUPERSEDED, superseded_by=longest, valid_to=memory.updated)
    rewrite(data, gone, path=path)


def _decode(data: bytes, path: str) -> str:
    """Return the text of a file without its byte order mark, line ends as they are."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + len(re.findall(rb"\r\n|\r|\n", data[: error.start]))
        raise Unreadable(path, line, "is not UTF-8; save it as UTF-8 in an editor") from error
    if "\0" in text:
        line = 1 + len(_LINE_END.findall(text[: text.index("\0")]))
        raise Unreadable(path, line, "holds a NUL byte, so it is not a text")
    if not text or text.isspace():
        raise Unreadable(path, 0, "is empty")
    return text


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _split(text: str, path: str) -> tuple[str | None, dict[str, Value], str]:
    """Return the lines of the frontmatter (None when there is none), its values, and the rest of the text."""
    frontmatter = StrictFrontmatter(path)
    # frontmatter.parse() would strip the text, and with it the indentation of its first line.
    try:
        block, body = frontmatter.split(text)
    except ValueError:
        return None, {}, text
    head = frontmatter.load(block)
    memory_id = head.get("id")
    if memory_id and not (isinstance(memory_id, str) and ID.fullmatch(memory_id)):
        line = 2 + spans(block)[0]["id"].first
        raise Unreadable(path, line, f"{repr(memory_id)[:82]} is not an id")
    return block, head, body


def _first_lines(raw: str, count: int) -> tuple[list[str], str]:
    """Return the first *count* lines of *raw* with their line ends, and the rest."""
    lines, at = [], 0
    for _ in range(count):
        found = _LINE_END.search(raw, at)
        end = found.end() if found else len(raw)
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
        parse(data, path=memory.id, kind=memory.kind, archived=False, modified=memory.updated)
    except Unreadable as error:
        raise Rejected(
            f"'{memory.id[:80]}' cannot be written: {error.reason}.",
            "Shorten its fields, or correct the file in an editor.",
        ) from error
    return data
