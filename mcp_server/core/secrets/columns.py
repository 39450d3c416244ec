"""
Secrets in tables: in Markdown, and with commas, semicolons or tabs, below a heading such as "password".

A table begins and ends where the number of cells changes; no line is read as a part of two tables.
"""

from collections.abc import Iterator

from mcp_server.core.secrets.places import places_of
from mcp_server.core.secrets.shapes import pattern
from mcp_server.core.secrets.values import SecretSpan, is_key, is_password, is_strict

_HEADINGS = ("passwor", "passwd", "passcode", "kennwort", "contrase", "secret", "token", "api key", "api_key")
_MADE = r"[^\n]{0,20}(?:secret|token|key)"  # by machines
_HEADING = r"[*_`\"' ]{0,4}[\w./()# -]{1,40}[*_`\"' ]{0,4}"
_LONGEST_HEAD = 400  # characters
_AROUND = "*_`\"' \r"  # the value of a cell


def in_columns(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield the values below a heading that names a secret; *lowered* is *text* in lower case."""
    lines = {_line_start(text, at) for word in _HEADINGS for at in places_of(lowered, word)}
    read_to = 0
    for start in sorted(lines):
        end = text.find("\n", start, start + _LONGEST_HEAD)
        if start < read_to or end < 0:
            continue
        above = text[_line_start(text, start - 1) : start] if start else ""
        for sign in "|\t,;":
            many = text.count(sign, start, end)
            if many and above.count(sign) != many and (heads := _headings(lowered[start:end], sign)):
                read_to = end + 1
                for row in _rows(text, end + 1, sign, len(heads)):
                    yield from _secrets(row, heads)
                    read_to = row[-1][0] + len(row[-1][1]) + 1
                break


def _line_start(text: str, at: int) -> int:
    """Return where the line around *at* begins, 0 for a line too long to be the head of a table."""
    return text.rfind("\n", max(0, at - _LONGEST_HEAD), at) + 1


def _headings(line: str, sign: str) -> list[str]:
    """Return the headings in *line*, none for a line that is no head of a table."""
    heads = line.rstrip("\r").split(sign)
    filled = heads[1:-1] if sign == "|" and not heads[0].strip() else heads
    return heads if len(filled) > 1 and all(map(pattern(_HEADING).fullmatch, filled)) else []


def _rows(text: str, start: int, sign: str, many: int) -> Iterator[list[tuple[int, str]]]:
    """Yield (place, words) of each cell of the lines from *start* on, as long as they have so *many*."""
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        cells = line.split(sign)
        if len(cells) != many:
            return
        places = [start]
        for cell in cells[:-1]:
            places.append(places[-1] + len(cell) + 1)
        yield [*zip(places, cells, strict=True)]
        start += len(line) + 1


def _secrets(row: list[tuple[int, str]], heads: list[str]) -> Iterator[SecretSpan]:
    for (place, cell), head in zip(row, heads, strict=True):
        value = cell.strip(_AROUND)
        if value and " " not in value and any(word in head for word in _HEADINGS):
            is_made = pattern(_MADE).match(head) is not None
            if is_key(value) and is_strict(value) if is_made else is_password(value, plain_word=False):
                at = place + cell.index(value)
                yield at, at + len(value), "a secret" if is_made else "a password"
