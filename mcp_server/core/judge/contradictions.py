"""
Which memories may contradict each other: similar enough to ask about, and different in something.

This looks at all pairs at once. `actions/judge/compare.py` looks at the nearest ten of each new memory, later
than the answer, and keeps what it finds; what is found here must not depend on what was compared before.
Both ask `questions.likeness` about a pair.

Similarity alone is no contradiction (3.2-5 in docs/features.md): two that say the same are duplicates. The
pairs found here are only proposed; none is marked before the contradiction is confirmed.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from mcp_server.core.judge.consolidation import deny_each_other
from mcp_server.core.judge.questions import LONGEST, likeness, nearness
from mcp_server.core.text.text_relation import Statement
from mcp_server.core.text.words import telling

COMMON = 25  # a word in more memories than this does not make two of them a pair
MOST_PAIRS = 2000  # nearest pairs that are compared closely, which takes about a second


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two memories that may contradict each other: what differs, nearness (more is nearer), how sure."""

    first: int
    other: int
    why: str
    nearness: float
    sure: bool


def opposed(
    statements: Mapping[int, Statement],
    cosines: Mapping[tuple[int, int], float],
    embedded: Collection[int] = (),
    *,
    about: int | None = None,
) -> list[Opposed]:
    """
    Return the pairs of *statements* that may contradict each other, the surest and nearest first.

    *cosines* has (number, larger number) → cosine, at least FAR, for memories that are *embedded*. If one of
    two is not, they are compared by words. With *about*, only pairs with that number are compared.
    """
    statements = {
        number: replace(statement, text=statement.text[:LONGEST]) for number, statement in statements.items()
    }
    telling_words = {number: telling(statement.title_and_text) for number, statement in statements.items()}
    by_words = {pair for pair in _meeting(telling_words) if not (pair[0] in embedded and pair[1] in embedded)}
    near = {
        pair: close
        for pair in by_words | cosines.keys()
        if about is None or about in pair
        if (close := nearness(telling_words[pair[0]], telling_words[pair[1]], cosines.get(pair)))
    }
    oppositions = []
    for first, other in sorted(near, key=lambda pair: (-near[pair], pair))[:MOST_PAIRS]:
        pair = statements[first], statements[other]
        if (alike := likeness(*pair, cosines.get((first, other)))) and alike.differs:
            oppositions.append(Opposed(first, other, alike.differs, alike.nearness, deny_each_other(*pair)))
    return sorted(
        oppositions,
        key=lambda opposition: (
            not opposition.sure,
            -opposition.nearness,
            opposition.first,
            opposition.other,
        ),
    )


def _meeting(telling_words: Mapping[int, frozenset[str]]) -> set[tuple[int, int]]:
    """Return the pairs, the smaller number first, that share a word that is not common."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number in sorted(telling_words):
        for word in telling_words[number]:
            holders[word].append(number)
    return {
        pair for numbers in holders.values() if len(numbers) <= COMMON for pair in combinations(numbers, 2)
    }
