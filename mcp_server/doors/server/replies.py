"""The answers of tools: short text with ids first, every foreign word quoted or on one line."""

from mcp_server.core.render import one_line, quoted, within
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.shown import Shown, cells

LIMIT = 8000  # characters of an answer; Claude Code stores longer ones in a file
LONG = 5 * LIMIT  # characters of what was requested by its id
MORE = 100  # characters for the sentence about what did not fit
CUT = "(cut; the file has all of it)"
PATH = 1000  # characters; in a repository a file's name may be anything, even with line feeds


def shown_lines(result: Shown, *, label: str = "", limit: int = LIMIT) -> str:
    """
    Return a result as lines that mean nothing to markdown, secrets masked, within *limit* characters.

    *label* is put before every row; the texts of memories are behind bars. What does not fit is only counted.
    A body may be as long as LONG, because it was requested by its id.
    """
    head = [_line(result.head)] if result.head else []
    notes = [_line(note) for note in result.notes]
    parts = _parts(result, label)
    first = len(parts)
    for table in result.below:
        parts += _below(table, label)
    room = limit - MORE - sum(len(line) + 1 for line in (*head, *notes))
    lines, left_out = within(parts, room)
    if parts and not lines:  # even the first alone is too long
        lines, left_out = [f"{parts[0][:room]}\n{CUT}"], len(parts) - 1
    more = [f"({left_out} more did not fit; the command line shows all.)"] if left_out else []
    if result.offset is not None and result.total > (next := result.offset + len(lines)):
        more = [f"({result.total - next} more: offset={next})"]
    body = _body(result.body, LONG - sum(map(len, (*head, *lines, *notes)))) if result.body else []
    return "\n".join([*head, *lines[:first], *body, *lines[first:], *more, *notes])


def _parts(table: Shown, label: str) -> list[str]:
    """Return the rows of a table, each with the text of its memory."""
    texts = [f"\n{quoted(redact(text))}" for text in table.texts] or [""] * len(table.rows)
    lines = [" · ".join([*map(_line, cells(table, row)), *([label] if label else [])]) for row in table.rows]
    return [f"{line}{text}" for line, text in zip(lines, texts, strict=True)]


def _below(table: Shown, label: str) -> list[str]:
    """Return the rows of a further table; its head is put before the first."""
    parts = _parts(table, label)
    return ["\n".join([_line(table.head), *parts[:1]]), *parts[1:]] if table.head else parts


def _line(text: str) -> str:
    return one_line(redact(text), PATH)


def _body(text: str, room: int) -> list[str]:
    body = quoted(redact(text))
    return [body] if len(body) <= room else [body[: room - len(CUT)], CUT]
