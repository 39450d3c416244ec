"""
Whether two memories may be about the same thing, so that a person is asked how they stand to each other.

Nothing is decided here: both are told until somebody says which one holds. So few are asked about that a
person can answer: two of one series ("Sprint 12", "Sprint 13") are no question, whatever they say.
"""

import re
from dataclasses import dataclass

from mcp_server.core.memory import Memory, fingerprint
from mcp_server.core.text.containment import contains
from mcp_server.core.text.series import enumerates
from mcp_server.core.text.verdict import Statement, guarded_difference, jaccard
from mcp_server.core.text.words import telling

LONGEST = 4000  # characters that are compared; comparing takes time by the square of the length
# From where a person is asked; benchmarks/README.md has what that asks about.
NEAR = 0.9  # cosine plus
COMMON_SHARE = 0.5  # of the share of telling words that both have,
LEAST_COMMON = 0.06  # if that is so much at least,
NEAR_WORDS = 0.45  # or, without a cosine, that share alone
FAR = NEAR - COMMON_SHARE  # below this cosine no words bring two together
MOST_COMPARED = 1000  # memories of one vault that are compared with each other, those updated last
ONE, OTHER = 1, 2  # which of two

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Likeness:
    """
    How two memories stand to each other: how near they are (more is nearer), and what differs, '' if nothing.

    `fuller` is ONE or OTHER when that one says all that the other says, 0 when neither does; `same` when both
    say it in the same words.
    """

    nearness: float
    differs: str
    fuller: int = 0
    same: bool = False


def likeness(one: Statement, other: Statement, cosine: float | None) -> Likeness | None:
    """Return how two memories stand to each other, None when nobody need be asked."""
    if one.type != other.type or enumerates(one.title, other.title):
        return None
    if fingerprint(one.title, one.text) == fingerprint(other.title, other.text):
        return Likeness(1 + COMMON_SHARE, "", same=True)
    if cosine is not None and cosine < FAR:
        return None
    one, other = (Statement(each.title, each.text[:LONGEST], each.type) for each in (one, other))
    near = nearness(telling(one.said), telling(other.said), cosine)
    if not near:
        return None
    fuller = ONE if contains(one, other) else OTHER if contains(other, one) else 0
    return Likeness(round(near, 3), "" if fuller else _difference(one, other), fuller)


def nearness(one: frozenset[str], other: frozenset[str], cosine: float | None) -> float:
    """Return how near two memories with these telling words are, 0 when nobody need be asked about them."""
    common = jaccard(one, other)
    near = COMMON_SHARE + common if cosine is None else cosine + COMMON_SHARE * common
    return 0.0 if common < (NEAR_WORDS if cosine is None else LEAST_COMMON) or near < NEAR else near


def _difference(one: Statement, other: Statement) -> str:
    """Return what makes two memories say different things, '' when nothing does."""
    return guarded_difference(one.text, other.text) or guarded_difference(one.said, other.said)


def merged_text(newer: Memory, older: Memory) -> tuple[str, str]:
    """Return the title and the text of *newer*, with each sentence of *older* behind it that it lacks."""
    said = _plain(f"{newer.title}\n{newer.text}")
    title = [] if _plain(older.title) in _plain(older.text) else [older.title]
    sentences = [each for each in _SENTENCE.split("\n".join([*title, older.text])) if each.strip()]
    lacking = [each.strip() for each in sentences if _plain(each) not in said]
    if not lacking:
        return newer.title, newer.text
    return newer.title, "\n".join([newer.text.rstrip(), *lacking])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?… ")
