"""
Which memory will be recalled next: a Markov chain over the successive recalls of a session.

The chain's state is the result of one recall. Memories in the same result predict nothing about each other.
"""

from collections.abc import Iterable
from typing import NamedTuple

STATE = 3  # the best memories of a recall, which count as the ones that were sought
THRESHOLD = 0.3  # least probability of a prediction
MOST = 3  # predictions at a time
LEAST_COUNT = 2  # times that a step must have been seen
IDLE_DAYS = 30.0  # after each such period without the step, its count is halved


class Step(NamedTuple):
    """
    `second` came so many `times` in the recall after one that gave `first`, last `age` days ago.

    In all, `out` recalls followed one that gave `first`, the last of them `out_age` days ago.
    """

    first: str
    second: str
    times: int
    age: float
    out: int
    out_age: float


class Prediction(NamedTuple):
    """`ref` follows `after` with `probability`; that was seen so many `times`."""

    ref: str
    after: str
    probability: float
    times: int


def faded(count: int, age: float) -> int:
    """Return *count* halved for each 30 days of *age*, rounded down; it reaches 0."""
    return count >> min(60, int(max(0.0, age) // IDLE_DAYS))


def predictions(steps: Iterable[Step]) -> list[Prediction]:
    """Return the predictions of steps seen often enough, with P of 0.3 or more, the likeliest first."""
    likely = []
    for step in steps:
        count, out = faded(step.times, step.age), faded(step.out, step.out_age)
        if count >= LEAST_COUNT and count / out >= THRESHOLD:
            likely.append(Prediction(step.second, step.first, count / out, count))
    return sorted(
        likely,
        key=lambda prediction: (-prediction.probability, -prediction.times, prediction.ref, prediction.after),
    )


def next_after(refs: Iterable[str], steps: Iterable[Step]) -> list[Prediction]:
    """Return the up to three memories most likely to follow *refs*, each once and none that is in it."""
    ref_set = set(refs)
    best: dict[str, Prediction] = {}
    for prediction in predictions(steps):
        if prediction.after in ref_set and prediction.ref not in ref_set:
            best.setdefault(prediction.ref, prediction)
    return list(best.values())[:MOST]
