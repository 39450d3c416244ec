"""One memory on one line of limited length that has no meaning in markdown or for Claude Code."""

import re

from mcp_server.core.render import one_line, repeats

_SENTENCE_END = re.compile(r"(?<![.\s]\w)[.!?](?= )")  # not the end of "e.g."


def title_and_text(title: str, text: str, limit: int) -> str:
    """
    Return `title: text`, from which `shortened` makes a line of at most *limit* characters.

    A title that only repeats the beginning of the text is left out.
    """
    title, text = one_line(title, limit), one_line(text, 4 * limit)
    if not title or not text or repeats(title, text):
        return text or title
    between = " " if title.endswith(("?", "!", ":")) else ". " if ": " in title else ": "
    return f"{title.rstrip('.')}{between}{text}"


def shortened(line: str, room: int) -> str:
    """Return *line* in at most *room* characters, cut after a sentence in the last quarter, else a word."""
    if len(line) <= room:
        return line
    ends = [match.end() for match in _SENTENCE_END.finditer(line, room * 3 // 4, room - 1)]
    if ends:
        return f"{line[: ends[-1]]} …"
    head, _, tail = line[:room].rpartition(" ")
    return f"{head.rstrip(',;:') if len(tail) < room // 2 else line[: room - 1]}…"
