"""
Whether two memories may be about the same thing, so that the person is asked how they relate.

Nothing is decided here: both are shown until it is decided which one holds. Questions are few, so that a
person can answer them: two of one series ("Sprint 12", "Sprint 13") are never asked about.
"""

import re
from dataclasses import dataclass

from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import fingerprint
from mcp_server.core.text.containment import contains
from mcp_server.core.text.series import enumerates
from mcp_server.core.text.text_relation import Statement, guarded_difference, jaccard
from mcp_server.core.text.words import telling

LONGEST = 4000  # characters that are compared; comparing takes time by the square of the length
# From these values on the person is asked; benchmarks/results/learning.md shows which pairs that gives.
NEAR = 0.9  # least sum of the cosine and
COMMON_SHARE = 0.5  # times the share of telling words that both have,
LEAST_COMMON = 0.06  # if that share is at least this,
NEAR_WORDS = 0.45  # or, without a cosine, least share
FAR = NEAR - COMMON_SHARE  # below this cosine, no share of words is enough
MOST_COMPARED = 1000  # memories of one vault that are compared with each other, the last updated ones
ONE, OTHER = 1, 2  # which of two

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Likeness:
    """
    How two memories relate: how near they are (more is nearer), and what differs, '' if nothing.

    `fuller` is ONE or OTHER for the one that says all that the other says, 0 when neither does;
    `same_words`: both say it in the same words.
    """

    nearness: float
    differs: str
    fuller: int = 0
    same_words: bool = False


def likeness(statement: Statement, other: Statement, cosine: float | None) -> Likeness | None:
    """Return how two memories relate, None when there is nothing to ask about."""
    if statement.type != other.type or enumerates(statement.title, other.title):
        return None
    if fingerprint(statement.title, statement.text) == fingerprint(other.title, other.text):
        return Likeness(1 + COMMON_SHARE, "", same_words=True)
    if cosine is not None and cosine < FAR:
        return None
    statement, other = (Statement(side.title, side.text[:LONGEST], side.type) for side in (statement, other))
    near = nearness(telling(statement.title_and_text), telling(other.title_and_text), cosine)
    if not near:
        return None
    fuller = ONE if contains(statement, other) else OTHER if contains(other, statement) else 0
    return Likeness(round(near, 3), "" if fuller else _difference(statement, other), fuller)


def nearness(first: frozenset[str], other: frozenset[str], cosine: float | None) -> float:
    """Return how near two memories with these telling words are, 0 when too far apart to ask about."""
    common = jaccard(first, other)
    near = COMMON_SHARE + common if cosine is None else cosine + COMMON_SHARE * common
    return 0.0 if common < (NEAR_WORDS if cosine is None else LEAST_COMMON) or near < NEAR else near


def _difference(statement: Statement, other: Statement) -> str:
    """Return what makes two memories say different things, '' when nothing does."""
    return guarded_difference(statement.text, other.text) or guarded_difference(
        statement.title_and_text, other.title_and_text
    )


def merged_text(newer: Memory, older: Memory) -> tuple[str, str]:
    """Return the title and text of *newer*, with each sentence of *older* that it lacks appended."""
    newer_words = _plain(f"{newer.title}\n{newer.text}")
    title = [] if _plain(older.title) in _plain(older.text) else [older.title]
    sentences = [
        sentence for sentence in _SENTENCE.split("\n".join([*title, older.text])) if sentence.strip()
    ]
    lacking = [sentence.strip() for sentence in sentences if _plain(sentence) not in newer_words]
    if not lacking:
        return newer.title, newer.text
    return newer.title, "\n".join([newer.text.rstrip(), *lacking])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?… ")
