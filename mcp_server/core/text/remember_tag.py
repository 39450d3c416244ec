"""
The tag `#remember`, by which a person orders a prompt to be stored.

It is an order where the person typed it, and none where it is quoted: in code, in a paste, between quotation
marks. At the very beginning or end of a prompt it counts after a paste, too: that is where people put it.
"""

import re
from collections.abc import Iterator

from mcp_server.core import markdown
from mcp_server.core.text.own_words import others_words

LONGEST_READ = 20_000  # characters of a prompt in which the tag is looked for; a longer one has it at an end

_TAG = re.compile(r"(?<![\w/#&=.-])#remember(?![\w-]):?", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|(?<!\w)'[^'\n]*'(?!\w)")
_INDENTED = re.compile(r" {4}|\t")


def without_order(prompt: str) -> str | None:
    """Return *prompt* without each #remember that is an order, word for word; None when none is."""
    parts, at = [], 0
    for start, end in _orders(prompt):
        parts.append(prompt[at:start])
        at = end
    return "".join([*parts, prompt[at:]]) if parts else None


def stands_in_a_paste(prompt: str) -> bool:
    """Tell whether a #remember is no order only because what it stands in looks pasted, which is a guess."""
    if len(prompt) > LONGEST_READ:
        return False
    quoted, pasted = list(_quoted(prompt)), others_words(prompt)
    starts = [match.start() for match in _TAG.finditer(prompt)]
    return without_order(prompt) is None and any(
        _within(pasted, start) and not _within(quoted, start) for start in starts
    )


def _orders(prompt: str) -> Iterator[tuple[int, int]]:
    tags = [match.span() for match in _TAG.finditer(prompt)]
    if not tags:
        return
    is_read = len(prompt) <= LONGEST_READ
    quoted = list(_quoted(prompt)) if is_read else []
    pasted = others_words(prompt) if is_read else []
    for start, end in tags:
        at_an_end = not prompt[:start].strip() or not prompt[end:].strip(" \t\n.!")
        if (at_an_end or (is_read and not _within(pasted, start))) and not _within(quoted, start):
            yield start, end


def _within(spans: list[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in spans)


def _quoted(prompt: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where *prompt* is code, a quoted line, or between quotation marks."""
    at = 0
    for line, is_code in markdown.lines(prompt):
        end = at + len(line)
        if is_code or line.lstrip().startswith(">") or (_INDENTED.match(line) and prompt[:at].strip()):
            yield at, end
        else:
            yield from _code_in(line, at)
            yield from (match.span() for match in _QUOTED.finditer(prompt, at, end))
        at = end + 1


def _code_in(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where *line*, which begins at *offset*, is code between equal runs of backticks."""
    runs = [match.span() for match in _BACKTICKS.finditer(line)]
    opening = 0
    while opening < len(runs):
        start, end = runs[opening]
        closing = next(
            (n for n in range(opening + 1, len(runs)) if runs[n][1] - runs[n][0] == end - start), None
        )
        if closing is not None:
            yield offset + start, offset + runs[closing][1]
        opening = (opening if closing is None else closing) + 1
