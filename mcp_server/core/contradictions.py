"""
Which memories may contradict each other: near in subject, of one type, and different where it matters.

Likeness alone is no contradiction (3.2-5 in docs/features.md): two that say the same are duplicates. What is
found here is only proposed; nothing is marked without somebody's word.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from mcp_server.core.consolidation import deny_each_other, difference
from mcp_server.core.series import enumerates
from mcp_server.core.verdict import OTHER_WORD, Statement, names_in, numbers_in, tokens

NEAR = 0.75  # cosine from which two memories may be about one thing
SHARED = 0.5  # share of the weight of the telling words that does the same for words; rare ones weigh more
COMMON = 25  # memories that a word may occur in and still bring two of them together
LONGEST = 4000  # characters that are compared
MOST_PAIRS = 2000  # nearest pairs that are looked at closely: a second


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two that may contradict each other: what differs, how near they are (0 to 1), whether that is sure."""

    one: int
    other: int
    why: str
    nearness: float
    sure: bool


def opposed(
    statements: Mapping[int, Statement],
    cosines: Mapping[tuple[int, int], float],
    *,
    about: int | None = None,
) -> list[Opposed]:
    """
    Return the pairs of *statements* that may contradict each other, the surest and nearest first.

    *cosines* has the likeness of (number, larger number) as far as it is known; with *about* only pairs
    with that number are looked at.
    """
    # Comparing takes time by the square of the length, and a file may have 64 KiB.
    statements = {number: replace(said, text=said.text[:LONGEST]) for number, said in statements.items()}
    near = _nearness({number: _telling(said) for number, said in statements.items()}, about)
    for pair, cosine in cosines.items():
        if cosine >= NEAR and (about is None or about in pair):
            near[pair] = max(cosine, near.get(pair, 0.0))
    found = []
    for (number, second), nearness in sorted(near.items(), key=lambda each: -each[1])[:MOST_PAIRS]:
        one, other = statements[number], statements[second]
        if one.type != other.type or enumerates(one.title, other.title):
            continue
        why = difference(one, other)
        sure = deny_each_other(one, other)
        # Two texts about one subject often name other things without denying each other.
        if why in ("", OTHER_WORD) or (why == "names" and not sure):
            continue
        found.append(Opposed(number, second, why, round(nearness, 3), sure))
    return sorted(found, key=lambda each: (not each.sure, -each.nearness, each.one, each.other))


def _telling(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """Return (the words of *statement* without its numbers, those of them that are names)."""
    said = statement.said[:LONGEST]
    words = tokens(said) - numbers_in(said)
    return words, words & names_in(said)


def _nearness(
    told: Mapping[int, tuple[frozenset[str], frozenset[str]]], about: int | None
) -> dict[tuple[int, int], float]:
    """Return (number, larger number) → share of common weight, for pairs that share enough of it."""
    counts = Counter(word for words, _ in told.values() for word in words)
    weights = {word: 1.0 / math.log2(1 + number) for word, number in counts.items()}
    totals = {number: sum(map(weights.__getitem__, words)) for number, (words, _) in told.items()}
    found = {}
    for one, other in _meeting({number: words for number, (words, _) in told.items()}, about):
        (left, left_names), (right, right_names) = told[one], told[other]
        others = left_names ^ right_names  # another name may be what they contradict each other in
        common = left & right
        lesser = min(
            totals[number] - sum(map(weights.__getitem__, others & words))
            for number, words in ((one, left), (other, right))
        )
        share = sum(map(weights.__getitem__, common)) / max(lesser, 1e-9)
        if len(common) > 1 and share >= SHARED:
            found[one, other] = min(1.0, share)
    return found


def _meeting(words_of: Mapping[int, frozenset[str]], about: int | None) -> set[tuple[int, int]]:
    """Return the pairs that share a word which is not common."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, words in words_of.items():
        for word in words:
            holders[word].append(number)
    pairs = set()
    for numbers in holders.values():
        if len(numbers) <= COMMON:
            pairs |= {pair for pair in combinations(sorted(numbers), 2) if about is None or about in pair}
    return pairs
