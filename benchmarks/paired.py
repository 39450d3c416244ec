"""Two ways of ranking, compared question by question."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

DRAWS = 10_000
SURE = 95  # percent

Figures = dict[str, dict[str, float]]
"""Way of searching → question → its nDCG@10."""


@dataclass(frozen=True, slots=True)
class Difference:
    """
    How much better the second way is in the mean over *questions*, and where that lies 95 times of 100.

    The interval is a percentile bootstrap: questions are drawn anew, each with both of its figures.
    """

    questions: int
    before: float
    after: float
    mean: float
    low: float
    high: float


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> Difference:
    """Compare two ways of ranking by the questions that both were asked; raise ValueError for none."""
    both = sorted(before.keys() & after.keys())
    if not both:
        raise ValueError("no question was asked both times")
    old = np.array([before[question] for question in both])
    new = np.array([after[question] for question in both])
    gains = new - old
    chance = np.random.default_rng(0)
    drawn = [gains[chance.integers(0, len(gains), len(gains))].mean() for _ in range(DRAWS)]
    low, high = np.percentile(drawn, [(100 - SURE) / 2, (100 + SURE) / 2])
    return Difference(
        len(both), float(old.mean()), float(new.mean()), float(gains.mean()), float(low), float(high)
    )
