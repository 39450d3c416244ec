"""
Which memories may contradict each other: alike enough that somebody is asked, and different in something.

Likeness alone is no contradiction (3.2-5 in docs/features.md): two that say the same are duplicates. What is
found here is only proposed; nothing is marked without somebody's word.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from mcp_server.core.judge.consolidation import deny_each_other
from mcp_server.core.judge.questions import LONGEST, likeness, nearness
from mcp_server.core.text.verdict import Statement
from mcp_server.core.text.words import telling

COMMON = 25  # memories that a word may occur in and still bring two of them together
MOST_PAIRS = 2000  # nearest pairs that are looked at closely: a second


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two that may contradict each other: what differs, how near they are (more is nearer), and how sure."""

    one: int
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

    *cosines* has (number, larger number) → cosine, of FAR at least, for those that are *embedded*; where one
    of two is not, they are compared by words. With *about* only pairs with that number are looked at.
    """
    statements = {number: replace(said, text=said.text[:LONGEST]) for number, said in statements.items()}
    told = {number: telling(said.said) for number, said in statements.items()}
    by_words = {pair for pair in _meeting(told) if not (pair[0] in embedded and pair[1] in embedded)}
    near = {
        pair: close
        for pair in by_words | cosines.keys()
        if about is None or about in pair
        if (close := nearness(told[pair[0]], told[pair[1]], cosines.get(pair)))
    }
    found = []
    for one, other in sorted(near, key=lambda pair: (-near[pair], pair))[:MOST_PAIRS]:
        pair = statements[one], statements[other]
        if (alike := likeness(*pair, cosines.get((one, other)))) and alike.differs:
            found.append(Opposed(one, other, alike.differs, alike.nearness, deny_each_other(*pair)))
    return sorted(found, key=lambda each: (not each.sure, -each.nearness, each.one, each.other))


def _meeting(told: Mapping[int, frozenset[str]]) -> set[tuple[int, int]]:
    """Return the pairs, the smaller number first, that share a word which is not common."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number in sorted(told):
        for word in told[number]:
            holders[word].append(number)
    return {
        pair for numbers in holders.values() if len(numbers) <= COMMON for pair in combinations(numbers, 2)
    }
