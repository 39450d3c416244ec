"""
The arithmetic of a search by words: how much each memory has of each term, and what that comes to.

Each term counts by how rare it is among the memories searched. How often it occurs in a memory, and how short
that is, counts less than in BM25: which terms a memory has decides more.
"""

import itertools
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_server.core.search import ranking

SATURATION = 1.2  # k1 and b of BM25, as in FTS5
LENGTH_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Matches:
    """
    The result of a search by words: the sum over the terms (larger is better) of the best memories.

    `near` is the share of the neighbouring terms that a memory has near each other, 0 to 1;
    `weights` says how telling each term is among the memories searched.
    """

    memories: Mapping[int, float]
    near: Mapping[int, float]
    weights: Mapping[str, float]
    having: Mapping[str, Container[int]]
    forms: Mapping[str, Sequence[str]]
    """The words by which each term is looked up."""
    searched: int
    """How many memories were searched."""

    def best_coverage(self) -> float:
        """Return the largest share of the terms' weight that one of the memories has, 0 to 1."""
        every = sum(self.weights.values())
        by_weight = [(self.weights[term], rows) for term, rows in self.having.items()]
        heaviest = max((sum(w for w, rows in by_weight if row in rows) for row in self.memories), default=0.0)
        return heaviest / every if every > 0 else 0.0

    def terms_of(self, memory: int) -> frozenset[str]:
        """Return which of the terms *memory* has."""
        return frozenset(term for term, rows in self.having.items() if memory in rows)


def frequency_score(times: float, length: float, mean_length: float) -> float:
    """Return what BM25 makes of a word that stands *times* in a text of that *length*, in words."""
    longer = 1.0 - LENGTH_SHARE + LENGTH_SHARE * length / max(1.0, mean_length)
    return times * (SATURATION + 1.0) / (times + SATURATION * longer)


def added(parts: Iterable[Mapping[int, float]]) -> Mapping[int, float]:
    """Return row → the sum of its values in *parts*: the forms of a term count as one term."""
    first, *others = [*parts] or [{}]
    if not others:
        return first
    sums = dict(first)
    for scores in others:
        for row, score in scores.items():
            sums[row] = sums.get(row, 0.0) + score
    return sums


def sums(by_term: Mapping[str, Mapping[int, float]], weights: Mapping[str, float]) -> dict[int, float]:
    """Return row → the sum over its terms, each multiplied by its weight."""
    totals: dict[int, float] = {}
    for term, scores in by_term.items():
        weight = weights[term]
        for row, score in scores.items():
            totals[row] = totals.get(row, 0.0) + weight * score**ranking.DAMPING
    return totals


def near(
    memories: Container[int],
    weights: Mapping[str, float],
    forms: Mapping[str, tuple[str, ...]],
    together: Callable[[tuple[str, ...], tuple[str, ...]], Collection[int]],
) -> dict[int, float]:
    """
    Return memory → which share of the question's neighbouring terms it has near each other.

    *together* tells which memories have two terms, each in one of its *forms*, near each other.
    """
    shares: dict[int, float] = {}
    pairs = [(*pair, min(weights[pair[0]], weights[pair[1]])) for pair in itertools.pairwise(weights)]
    every = sum(weight for _, _, weight in pairs)
    for first, second, weight in pairs:
        for row in together(forms[first], forms[second]) if forms[first] and forms[second] else ():
            if row in memories:
                shares[row] = shares.get(row, 0.0) + weight / every
    return shares


def best_passages(sums_of: Mapping[int, float], owners: Mapping[int, int]) -> dict[int, int]:
    """Return memory → its passage with the largest sum, the first of equals; *owners* tells whose each is."""
    best: dict[int, tuple[float, int]] = {}
    for passage, score in sorted(sums_of.items()):
        memory = owners[passage]
        if score > best.get(memory, (0.0, 0))[0]:
            best[memory] = (score, passage)
    return {memory: passage for memory, (_, passage) in best.items()}
