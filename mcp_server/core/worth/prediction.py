"""
Which memory comes next: a Markov chain over the successive recalls of a session.

The chain's state is what one recall gave. Memories in one list of results say nothing of each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass

STATE = 3  # best memories of a recall that count as what was asked for
THRESHOLD = 0.3  # least probability of a prediction
MOST = 3  # predictions at a time
LEAST_COUNT = 2  # times that a step must have been seen
IDLE_DAYS = 30.0  # days without the step after which its count is halved, and again


@dataclass(frozen=True, slots=True)
class Step:
    """
    `second` came `count` times in the recall after one that gave `first`, last `age` days ago.

    `out` recalls followed on `first` at all, the last one `out_age` days ago.
    """

    first: str
    second: str
    count: int
    age: float
    out: int
    out_age: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """`ref` follows on `after` with `probability`, as seen `count` times."""

    ref: str
    after: str
    probability: float
    count: int


def faded(count: int, age: float) -> int:
    """Return *count* halved for each 30 days that nothing happened, rounded down; 0 in the end."""
    return count >> min(60, int(max(0.0, age) // IDLE_DAYS))


def predictions(steps: Iterable[Step]) -> list[Prediction]:
    """Return what each step makes likely, the likeliest first: steps seen often enough, P of 0.3 or more."""
    likely = []
    for step in steps:
        count, out = faded(step.count, step.age), faded(step.out, step.out_age)
        if count >= LEAST_COUNT and count / out >= THRESHOLD:
            likely.append(Prediction(step.second, step.first, count / out, count))
    return sorted(likely, key=lambda one: (-one.probability, -one.count, one.ref, one.after))


def next_after(given: Iterable[str], steps: Iterable[Step]) -> list[Prediction]:
    """Return the three memories that likeliest follow on *given*, each once and none that is in it."""
    known = set(given)
    best: dict[str, Prediction] = {}
    for one in predictions(steps):
        if one.after in known and one.ref not in known:
            best.setdefault(one.ref, one)
    return list(best.values())[:MOST]
