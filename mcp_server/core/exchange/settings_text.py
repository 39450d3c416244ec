"""
Settings of other programs, as text: one entry is inserted or removed, and every other byte stays.

Each result is parsed again, and refused unless it has exactly the former settings with or without the entry.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from mcp_server.core.errors import Rejected

Form = Literal["json", "toml"]
Settings = dict[str, Any]

EMPTY = {"json": "{\n}\n", "toml": ""}  # stands for an empty file
_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_DEEPEST = 16  # most columns of indentation that count as one step


class _Member(NamedTuple):
    key: str
    start: int  # of the key
    value: int  # where the value starts
    end: int  # and ends


def read(text: str, form: Form) -> Settings:
    """Return *text* parsed; JSON may have comments and trailing commas. Raises Rejected if it is invalid."""
    text = text.removeprefix("\ufeff")
    try:
        settings = tomllib.loads(text) if form == "toml" else json.loads(_plain(text))
    except RecursionError:
        raise Rejected("It is nested too deeply to be read.", "Correct it first.") from None
    except ValueError as error:
        raise Rejected(f"It is not valid {form.upper()}: {error}.", "Correct it first.") from None
    if not isinstance(settings, dict):
        raise Rejected(f"It is not a {form.upper()} object.", "Correct it first.")
    return settings


def put_in(text: str, form: Form, under: str, name: str, value: Mapping[str, object]) -> tuple[str, str]:
    """
    Return *text* with *value* as *name* among the entries *under*, and the inserted piece.

    Raises Rejected when this would change something else, or *name* is there already.
    """
    before = read(text, form)
    entries = before.get(under, {})
    if not isinstance(entries, dict) or name in entries:
        raise Rejected(f"Its '{under}' cannot hold another entry.", "Look at the file.")
    at, piece = _table(text, under, name, value) if form == "toml" else _member(text, under, name, value)
    after = text[:at] + piece + text[at:]
    _check(after, form, {**before, under: {**entries, name: dict(value)}})
    return after, piece


def take_out(text: str, form: Form, under: str, name: str, piece: str) -> str:
    """
    Return *text* without the entry *name* among those *under*; it must be there.

    *piece* is the inserted text: if it is still there unchanged, exactly that is removed. Otherwise the entry
    is removed, and its holder too if that was inserted with it and is now empty. Raises Rejected when this
    would change something else.
    """
    settings = read(text, form)
    other_entries = {key: value for key, value in settings[under].items() if key != name}
    holder_inserted = piece.lstrip().startswith(json.dumps(under))
    settings_after = {**settings, under: other_entries}
    without = {key: value for key, value in settings.items() if key != under}
    if piece and text.count(piece) == 1:
        after = text.replace(piece, "")
        for expected in (settings_after, without):
            if (other_entries or expected is without or not holder_inserted) and _says(after, form, expected):
                return after
    if form == "toml":
        raise Rejected(f"Its table [{under}.{name}] was rewritten.", "Remove it in an editor.")
    if holder_inserted and not other_entries:
        after = _without_member(text, [under])
        _check(after, form, without)
    else:
        after = _without_member(text, [under, name])
        _check(after, form, settings_after)
    return after


def _plain(text: str) -> str:
    """Return JSON *text* with blanks for comments and trailing commas; all else keeps its place."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\r\n]", " ", match[0])

    return _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _says(text: str, form: Form, expected: Settings) -> bool:
    try:
        return read(text, form) == expected
    except Rejected:
        return False


def _check(text: str, form: Form, expected: Settings) -> None:
    if not _says(text, form, expected):
        raise Rejected("It is written in a way that cannot be changed safely.", "Change it in an editor.")


def _table(text: str, under: str, name: str, value: Mapping[str, object]) -> tuple[int, str]:
    newline = _newline(text)
    # JSON writes texts, lists of texts, truth and numbers as TOML does.
    lines = [
        f"[{under}.{name}]",
        *(f"{key} = {json.dumps(setting, ensure_ascii=False)}" for key, setting in value.items()),
    ]
    ahead = ("" if text.endswith(("\n", "\r")) else newline) + newline if text.strip() else ""
    return len(text), ahead + newline.join(lines) + newline


def _member(text: str, under: str, name: str, value: Mapping[str, object]) -> tuple[int, str]:
    plain = _plain(text)
    brace = plain.index("{")
    members = list(_members(plain, brace))
    holder = next((member for member in members if member.key == under), None)
    key, values = (name, value) if holder else (under, {name: value})
    if holder:
        brace = holder.value
        members = list(_members(plain, brace))
    newline, step = _newline(text), _step(text)
    outer = _indentation(text, brace)
    end = re.compile(r"[^\r\n]*").match(plain, brace + 1)
    assert end
    starts_line = end.end() < len(plain) and not end[0].strip()
    if members and not starts_line:  # all on one line
        return brace + 1, f"{json.dumps({key: values}, ensure_ascii=False)[1:-1]}, "
    inner = _indentation(text, members[0].start) if members else outer + step
    lines = json.dumps({key: values}, ensure_ascii=False, indent=step).split("\n")[1:-1]
    piece = "".join(f"{newline}{inner}{line.removeprefix(step)}" for line in lines)
    if members:
        piece += ","
    if starts_line:
        return end.end(), piece
    return brace + 1, f"{piece}{newline}{outer}"


def _without_member(text: str, path: list[str]) -> str:
    """Return *text* without the member that *path* leads to, one comma beside it and the blanks before it."""
    plain = _plain(text)
    brace = plain.index("{")
    for key in path[:-1]:
        brace = next(candidate.value for candidate in _members(plain, brace) if candidate.key == key)
    member = next(candidate for candidate in _members(plain, brace) if candidate.key == path[-1])
    start = len(text[: member.start].rstrip())
    following = re.compile(r"\s*,").match(plain, member.end)
    if following and not text[member.end : following.end()].strip(" \t\r\n,"):
        return text[:start] + text[following.end() :]
    before = plain[: member.start].rstrip()
    if before.endswith(","):
        text = text[: len(before) - 1] + " " + text[len(before) :] if start != len(before) else text
        start = len(before) - 1 if start == len(before) else start
    return text[:start] + text[member.end :]


def _members(plain: str, brace: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at *brace*."""
    decoder = json.JSONDecoder()
    at = brace + 1
    while (at := _skip(plain, at)) < len(plain) and plain[at] == '"':
        key, end = decoder.raw_decode(plain, at)
        value = _skip(plain, _skip(plain, end) + 1)
        _, last = decoder.raw_decode(plain, value)
        yield _Member(key, at, value, last)
        at = _skip(plain, last) + 1


def _skip(plain: str, at: int) -> int:
    while at < len(plain) and plain[at] in " \t\r\n":
        at += 1
    return at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return one step of the indentation of *text*: that of its first indented line."""
    match = re.search(r"^(\t|[ ]+)\S", text, re.MULTILINE)
    return match[1] if match and len(match[1]) <= _DEEPEST else "  "
