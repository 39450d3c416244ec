"""highlight: an excerpt of a memory's text in which the words of a question are marked, as safe HTML."""

import re
from collections.abc import Collection

from markupsafe import Markup, escape

from mcp_server.core.render import visible
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import folded, identifier_parts

_WORD = re.compile(r"(\w+)")
# At least three letters stay.
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ings?|ies|ed|es|s|e|y)$")


def marked(text: str, terms: Collection[str], most: int = 0) -> Markup:
    """
    Return *text* on one line, of at most *most* characters if that is not 0, with those of *terms* marked.

    *terms* are those of `words.query_terms`; other forms of a word are marked as well, as the index finds
    them.
    """
    line = " ".join(visible(excerpt(text, terms, most) if most else text).split())
    stems = {_stem(term) for term in terms}
    pieces = _WORD.split(line)  # every second one is a word
    meant = {word for word in set(pieces[1::2]) if _is_meant(word, terms, stems)}
    parts = [f"<mark>{escape(piece)}</mark>" if piece in meant else str(escape(piece)) for piece in pieces]
    return Markup("".join(parts))  # noqa: S704 - each piece is escaped


def _is_meant(word: str, terms: Collection[str], stems: Collection[str]) -> bool:
    parts = [folded(word), *identifier_parts(word)]
    if "_" in word:
        parts += map(folded, word.split("_"))
    return any(part in terms or _stem(part) in stems for part in parts)


def _stem(word: str) -> str:
    """Return *word* without the commonest English endings; no more than marking needs."""
    return _ENDING.sub("", word)
