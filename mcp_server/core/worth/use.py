"""
Whether a memory was used: the reply has a token that is in the memory and hardly anywhere else.

Such a telling token has six characters or more, with one of `_ . / : -`, a digit or an inner capital.
A token that the person's prompt has proves nothing.
"""

import re
from collections.abc import Sequence

from mcp_server.core.text.words import STOP_WORDS

SHORTEST = 6  # characters of a telling token
MOST = 10  # tokens of one memory
CONSIDERED = 30  # first tokens of a text; the most telling are chosen from these
LONGEST_REPLY = 100_000  # characters of a reply that are read

_TOKEN = re.compile(r"[^\s`'\"()<>\[\]{},;|*=“”‘’…]+")
_EDGES = ".:!?/\\-–—#@$%^&~+"
_MARK = re.compile(r"[_./:-]|\d|[a-z][A-Z]")
_PLAIN_COMPOUND = re.compile(r"[a-z]+(?:[-/][a-z]+)+")
_DATE_OR_NUMBER = re.compile(r"\d{4}-\d\d-\d\d(?:t[\d:.]+z?)?|[\d.:/-]+%?")
# Many replies have compounds of everyday words: read-only, follow-up, well-known, client/server.
_EVERYDAY = STOP_WORDS | frozenset(
    """
    back based case client close code co cross custom data default e.g end error existing fast fine first
    free friendly full good half hand hard high i.e inline known last left level life like line long look
    low multi must new non normal one open opt part per place post pre production quick re ready real right
    round run safe second self server set short side sign single specific step sub super test third time top
    trade two type un user version wide well work world write year
    """.split()
)


def telling_tokens(text: str, *, id: str = "") -> tuple[str, ...]:
    """
    Return at most ten telling tokens of a memory's *text*, in lower case, and its *id*.

    Dates, plain numbers and compounds of everyday words do not count. The *id* comes first, then the best.
    """
    counts: dict[str, int] = {}
    for match in _TOKEN.finditer(text):
        token = match[0].strip(_EDGES)
        if len(token) < SHORTEST or not (marks := _MARK.findall(token)):
            continue
        folded = token.lower()
        if token[0].isdigit() and _DATE_OR_NUMBER.fullmatch(folded):
            continue
        kinds = {"0" if mark.isdigit() else mark if len(mark) == 1 else "A" for mark in marks}
        if kinds <= {"-", "/"} and _is_everyday(folded):
            continue
        counts.setdefault(folded, len(kinds))
        if len(counts) == CONSIDERED:
            break
    best = sorted(counts, key=lambda token: (-counts[token], -len(token)))
    return tuple(dict.fromkeys([*([id.lower()] if id else []), *best]))[: MOST + bool(id)]


def is_used(tokens: Sequence[str], reply: str, *, prompt: str = "") -> bool:
    """Tell whether *reply* names one of *tokens*, as a whole word, that *prompt* does not name."""
    reply_words, prompt_words = reply[:LONGEST_REPLY].lower(), prompt.lower()
    return any(_names(reply_words, token) and not _names(prompt_words, token) for token in tokens)


def _names(text: str, token: str) -> bool:
    """Tell whether *token* occurs in *text* with no letter, digit or `_` next to it."""
    at = text.find(token)
    while at >= 0:
        before, behind = text[at - 1 : at], text[at + len(token) : at + len(token) + 1]
        if not (_joins(before) or _joins(behind)):
            return True
        at = text.find(token, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_everyday(token: str) -> bool:
    parts = token.replace("/", "-").split("-")
    return bool(_PLAIN_COMPOUND.fullmatch(token)) and not _EVERYDAY.isdisjoint(parts)
