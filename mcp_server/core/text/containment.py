"""Whether a text says all that another says, so that the other can give way; see docs/capture.md."""

import re

from mcp_server.core.render import repeats
from mcp_server.core.text.text_relation import Statement, guarded_difference, names_in, negates, numbers_in
from mcp_server.core.text.words import STOP_WORDS, words

CLAUSE_ENDS = ".!?;:,\n\u2014\u2013("
SENTENCE_ENDS = ".!?;\n"
LIMITING = frozenset(
    """
    after although apart at because before besides but by during else except for from hardly however if in
    instead just merely on only or otherwise outside over partly per rarely rather seldom since sometimes than
    though till to under unless until usually when whenever where whether while within without
    """.split()
) - {"because", "since"}
"""Words that bring a condition or a limit; a reason brings none."""

_CODE = re.compile(r"(`[^`]*`)")


def contains(whole: Statement, part: Statement) -> bool:
    """
    Tell whether *whole* says all that *part* says, under the same title or none, and limits nothing of it, so
    strictly that *part* can give way to it and nothing of it is lost.

    The words of *part* stand in *whole* unbroken; what is added is a clause or a sentence of its own, in
    English, without a negation, a number, a name, a condition or a limit.
    """
    if whole.type != part.type or _own_title(whole) != _own_title(part):
        return False
    whole_text, part_text = normal(whole.text), normal(part.text).rstrip(SENTENCE_ENDS + " ")
    at = whole_text.find(part_text)
    if not part_text or at < 0 or whole_text == part_text:
        return False
    before, after = whole_text[:at].rstrip(), whole_text[at + len(part_text) :].lstrip(" ")
    if (before and before[-1] not in SENTENCE_ENDS) or (after and after[0] not in CLAUSE_ENDS):
        return False
    added = _added(whole.text, part.text)
    return bool(added) and _limits_nothing(added) and not guarded_difference(whole.text, part.text)


def _own_title(statement: Statement) -> str:
    """Return the title in one form, '' when it only repeats how the text begins."""
    if repeats(statement.title, statement.text):
        return ""
    return " ".join(statement.title.casefold().split()).rstrip(".\u2026 ")


def normal(text: str) -> str:
    """Return *text* on one line, in lower case outside of code."""
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(piece if number % 2 else piece.casefold() for number, piece in enumerate(pieces))


def _added(whole: str, part: str) -> str:
    """Return what *whole* says in addition to *part*, as it is written."""
    line = " ".join(whole.split())
    part_text = " ".join(part.split()).rstrip(SENTENCE_ENDS + " ")
    at = line.casefold().find(part_text.casefold())
    if at < 0:  # a letter whose other case is longer
        return ""
    return f"{line[:at]} {line[at + len(part_text) :].lstrip(CLAUSE_ENDS + ' ')}".strip()


def _limits_nothing(added: str) -> bool:
    spoken = words(added)
    if not added.isascii() or not STOP_WORDS.intersection(spoken):
        return False  # no English: its limiting words are not known here
    names = names_in(f"it says {added}")  # a name may begin a sentence, too
    return not (negates(added) or numbers_in(added) or LIMITING.intersection(spoken) or names)
