"""Whether work grows with its amount or with the square of it; how quick the machine is does not matter."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

LEAST = 0.02  # seconds of processor time for the smaller amount; what takes less is mostly noise
MOST_TIMES = 9.0  # as long for four times as much: in proportion that is 4, by the square 16
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
    Tell whether *work* takes less than nine times as long for four times as much.

    *make* returns what *work* is given, of an amount; only the work is measured. The first amount is
    *amount*, doubled until it is work for 20 ms, up to *most*. The shortest of several measurements count,
    for what else the machine does only adds to one; what is quick at four times *most* is quick enough.
    """
    while amount < most and _seconds(work, make(amount)) < LEAST:
        amount *= 2
    small, large = make(amount), make(4 * amount)
    of_small = of_large = float("inf")
    for _ in range(ROUNDS):
        of_small, of_large = min(of_small, _seconds(work, small)), min(of_large, _seconds(work, large))
        if of_large < max(MOST_TIMES * of_small, LEAST):
            return True
    return False


def _seconds(work: Callable[[Given], object], given: Given) -> float:
    """Return the processor time that this thread takes, but for the collector of garbage."""
    gc.disable()
    try:
        began = time.thread_time()
        work(given)
        return time.thread_time() - began
    finally:
        gc.enable()
