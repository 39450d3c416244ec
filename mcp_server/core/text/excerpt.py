"""excerpt: the sentences of a text that say most about what was asked."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter

from mcp_server.core.text.words import folded, index_parts, words

LEFT_OUT = "…"
_ENDS = re.compile(r"(?<=[.!?])(?=\s)|(?<=[\n。！？])")


def excerpt(text: str, terms: Collection[str], most: int) -> str:
    """
    Return *text*, or of a longer one the sentences in a row that have the most of *terms*.

    They have at most *most* characters, with `…` where something is left out; of two such rows it is the
    one whose sentences have the terms more often, then the first. A sentence that is too long is cut.
    *terms* are those of `words.query_terms`.
    """
    if len(text) <= most:
        return text
    parts = sentences(text)
    term_set = frozenset(terms)
    terms_of_rows = [
        term_set.intersection([*map(folded, words(sentence)), *index_parts(sentence)]) for sentence in parts
    ]
    room = most - 2 * len(LEFT_OUT)

    _, (start, end) = max(_rows(parts, terms_of_rows, room), key=itemgetter(0))
    row_text = "".join(parts[start:end]).strip()
    before = LEFT_OUT if start else ""
    after = LEFT_OUT if end < len(parts) or len(row_text) > room else ""
    return f"{before}{row_text[:room]}{after}"


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of *text* in order, none of their blanks is lost."""
    return _ENDS.split(text)


def _rows(
    parts: Sequence[str], terms_of_rows: Sequence[frozenset[str]], room: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """
    Yield for each sentence, as a beginning, how many terms its row has, how often, and the row.

    *terms_of_rows* are those of each sentence.

    A row is (its place, the place behind the last sentence that fits as well).
    """
    counts: Counter[str] = Counter()
    end = length = 0
    for start, first in enumerate(parts):
        while end < len(parts) and (end == start or length + len(parts[end]) <= room):
            counts.update(terms_of_rows[end])
            length += len(parts[end])
            end += 1
        yield (len(counts), counts.total()), (start, end)
        counts -= Counter(terms_of_rows[start])
        length -= len(first)
