"""Two ways of ranking, compared question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    common = sorted(before.keys() & after.keys())
    if not common:
        raise ValueError("no question was asked both times")
    old = np.array([before[question] for question in common])
    new = np.array([after[question] for question in common])
    low, high = _interval(_drawn(new - old))
    return Difference(len(common), float(old.mean()), float(new.mean()), float((new - old).mean()), low, high)


def over_sets(differences: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> Difference:
    """
    Compare two ways of ranking over several sets, each given as (before, after), and each counting the same.

    Questions are drawn anew within their set. Raises ValueError when a set has no question in common.
    """
    set_differences = [difference(before, after) for before, after in differences]
    gains = [
        np.array([after[question] - before[question] for question in sorted(before.keys() & after.keys())])
        for before, after in differences
    ]
    low, high = _interval(np.mean([_drawn(gain) for gain in gains], axis=0))
    return Difference(
        questions=sum(difference_of_set.questions for difference_of_set in set_differences),
        before=sum(difference_of_set.before for difference_of_set in set_differences) / len(set_differences),
        after=sum(difference_of_set.after for difference_of_set in set_differences) / len(set_differences),
        mean=sum(difference_of_set.mean for difference_of_set in set_differences) / len(set_differences),
        low=low,
        high=high,
    )


def interval(figures: Mapping[str, float]) -> tuple[float, float]:
    """Return where the mean of *figures*, at least one, lies 95 times of 100."""
    return _interval(_drawn(np.array(list(figures.values()))))


def _drawn(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of 10,000 drawings of as many questions; equal numbers are drawn alike."""
    chance = np.random.default_rng(0)
    times = len(values)
    return np.array([values[chance.integers(0, times, times)].mean() for _ in range(DRAWS)])


def _interval(drawn: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(drawn, [(100 - SURE) / 2, (100 + SURE) / 2])
    return float(low), float(high)
