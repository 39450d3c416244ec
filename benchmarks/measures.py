"""What a ranking is worth."""

import math
from collections.abc import Mapping, Sequence

MEASURES = ("recall@1", "recall@5", "any@5", "recall@10", "mrr@10", "ndcg@10")
DEPTH = 10  # hits that are looked at


def measures(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    """
    Return every measure of one *ranking*, each 0 to 1; *relevant* gives grades above 0.

    recall@k is the share of what is relevant among the first k, any@5 whether there is anything of it among
    the first 5; the gain of nDCG is the grade itself.
    """
    grades = [relevant.get(document, 0) for document in ranking[:DEPTH]]
    first = next((rank for rank, grade in enumerate(grades, start=1) if grade), 0)
    best = sorted(relevant.values(), reverse=True)[:DEPTH]
    figures = {f"recall@{k}": sum(1 for grade in grades[:k] if grade) / len(relevant) for k in (1, 5, 10)}
    figures["any@5"] = float(0 < first <= 5)
    return figures | {"mrr@10": 1 / first if first else 0.0, "ndcg@10": _gain(grades) / _gain(best)}


def mean(results: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every measure, 0 when there are no results."""
    return {name: sum(result[name] for result in results) / max(1, len(results)) for name in MEASURES}


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
