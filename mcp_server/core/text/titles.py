"""Titles: those that people give, and those made from a text without one."""

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import MAX_TEXT, MAX_TITLE
from mcp_server.core.render import SENTENCE_END, on_one_line

MOST_MADE = 80  # characters of a title that is made from a text


def clean_title(title: str) -> str:
    """Return *title* on one line without control characters; raise Rejected when nothing is left."""
    too_long = f"{MAX_TITLE} is the limit.", "Shorten the title and move the rest into the text."
    if len(title) > MAX_TEXT:  # checked first, before the loop over all characters
        raise Rejected(f"The title has {len(title):,} characters; {too_long[0]}", too_long[1])
    line = on_one_line(title)
    if not line:
        raise Rejected("A memory needs a title.", 'Give one, as in "Title | what to remember".')
    if len(line) > MAX_TITLE:
        raise Rejected(f"The title has {len(line)} characters; {too_long[0]}", too_long[1])
    return line


def clipped(words: str, limit: int = MAX_TITLE) -> str:
    """Return *words* on one line, cut between two of them when they are longer than *limit* characters."""
    line = on_one_line(words[: 4 * limit])
    if len(line) <= limit:
        return line
    return (line[:limit].rpartition(" ")[0] or line[: limit - 1]).rstrip(".,;: ") + "…"


def title_of(text: str, limit: int = MOST_MADE) -> str:
    """
    Return the first sentence of *text*, in its first line that has a word; '' when nothing can be seen.

    Marks of headings, lists, quotes and bold print around the line are left out.
    """
    rows = text[:MAX_TEXT].split("\n")[:50]
    lines = [line.replace("**", "").strip("#*-> \t") for line in rows]
    line = next(filter(on_one_line, [*lines, *rows]), "")
    end = SENTENCE_END.search(line)
    return clipped((line[: end.end()] if end else line).rstrip("."), limit)


def titled(title: str, text: str) -> str:
    """Return *title*, or one made from *text*, within our limit; raise Rejected when neither gives one."""
    return clean_title(clipped(title) or title_of(text))


def split_title(words: str) -> tuple[str, str]:
    """Split "Title | text" into title and text; without a bar the title is made from the words."""
    head, bar, tail = words.partition("|")
    if bar and head.strip() and tail.strip():
        return head.strip(), tail.strip()
    whole = words.strip().strip("|").strip()
    return title_of(whole), whole
