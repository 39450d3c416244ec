"""The answers of tools: short text with ids first, every foreign word quoted or on one line."""

from mcp_server.core.render import one_line, quoted, within
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.shown import Shown, cells

LIMIT = 8000  # characters of an answer: Claude Code takes up to 50,000, and each costs tokens from then on
MORE = 100  # characters for the sentence about what did not fit
CUT = "(cut; read_memory shows all of it)"
LEAST = 1000  # characters of a text that are shown however long what stands around it is
PATH = 1000  # characters; in a repository a file's name may be anything, even with line feeds


def shown_lines(result: Shown, *, label: str = "") -> str:
    """
    Return a result as lines that mean nothing to markdown, secrets masked, within LIMIT characters.

    *label* is put before every row; the texts of memories are behind bars. What does not fit is only counted,
    and of a body it is said how to read on.
    """
    head = [_line(result.head)] if result.head else []
    notes = [_line(note) for note in result.notes]
    parts = _parts(result, label)
    first = len(parts)
    for table in (below for below in result.below if below.rows):
        parts += _below(table, label)
    room = LIMIT - MORE - sum(len(line) + 1 for line in (*head, *notes)) - (LEAST if result.body else 0)
    lines, left_out = within(parts, room)
    if parts and not lines:  # even the first alone is too long
        lines, left_out = [f"{parts[0][:room]}\n{CUT}"], len(parts) - 1
    more = [f"({left_out} more did not fit; the command line shows all.)"] if left_out else []
    if not result.body and result.offset is not None and result.total > (next := result.offset + len(lines)):
        more = [f"({result.total - next} more: offset={next})"]
    around = sum(len(line) + 1 for line in (*head, *lines, *more, *notes))
    body = _body(result, LIMIT - MORE - around) if result.body else []
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


def _body(result: Shown, room: int) -> list[str]:
    """Return what fits into *room* of the body from its offset on, and how to read on."""
    text = redact(result.body)[result.offset or 0 :]
    if len(whole := quoted(text)) <= room:
        return [whole]
    shown = text[:room]
    while len(quoted(shown)) > room:
        shown = shown[: len(shown) - (len(quoted(shown)) - room)]
    if "\n" in shown[LEAST // 2 :]:
        shown = shown[: shown.rindex("\n") + 1]
    left_out, next_offset = len(text) - len(shown), (result.offset or 0) + len(shown)
    end = "the command line shows all" if result.offset is None else f"read_memory with offset={next_offset}"
    return [quoted(shown.removesuffix("\n")), f"({left_out} more characters: {end})"]
