"""Whether work grows with its amount or with the square of it; how quick the machine is does not matter."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

LEAST = 0.02  # seconds of processor time for the smaller amount; what takes less is mostly noise
FACTOR = 8  # by which the larger amount is more
MOST_TIMES = 24.0  # as long: in proportion that is 8, by the square 64
ROUNDS = 5  # measurements before it is believed

Given = TypeVar("Given")


def grows_evenly(
    make: Callable[[int], Given],
    work: Callable[[Given], object],
    *,
    amount: int = 256,
    most: int = 1 << 20,
) -> bool:
    """
    Tell whether *work* takes less than 24 times as long for eight times as much.

    *make* returns what *work* is given, of an amount; only the work is measured. The first amount is
    *amount*, doubled until it is work for 20 ms. The shortest of several measurements count, for what else
    the machine does only adds to one; what takes less than 20 ms for *most* is quick enough.
    """
    while _seconds(work, make(amount)) < LEAST:
        if amount >= most:
            return True
        amount *= 2
    small, large = make(amount), make(FACTOR * amount)
    of_small = of_large = float("inf")
    for _ in range(ROUNDS):
        of_small, of_large = min(of_small, _seconds(work, small)), min(of_large, _seconds(work, large))
        if of_large < MOST_TIMES * of_small:
            return True
    return False


def _seconds(work: Callable[[Given], object], subject: Given) -> float:
    """Return the processor time that this thread takes, but for the collector of garbage."""
    gc.disable()
    try:
        began = time.thread_time()
        work(subject)
        return time.thread_time() - began
    finally:
        gc.enable()
