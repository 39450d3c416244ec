"""
Whether a server may be asked now: after a failure it is left alone for a while, and a question is given up
that it does not answer in time. So a server that fails or is slow does not hold up every question.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from mcp_server.adapters.patient_call import PatientCall, StillRunning

T = TypeVar("T")

RESTS = (15.0, 60.0, 300.0)  # seconds for which it is left alone after the first, second and further failures
LONGEST_REST = 600.0  # seconds; a longer one that an answer asks for is cut to this


class NotAnswered(Exception):
    """A question that was given up; `str(error)` is a sentence."""


class Availability(Generic[T]):
    """
    The availability of the server that sentences call *who*; calls may come from many threads.

    *rests* are the seconds for which it is left alone after the first, the second and each further failure.
    `problem` is why it failed the last time, a sentence; '' when it answered.
    """

    def __init__(self, who: str, rests: Sequence[float] = RESTS) -> None:
        self.problem = ""
        self.late: PatientCall[T] | None = None
        """The last question that was given up."""
        self._who = who
        self._rests = rests
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = -math.inf

    @property
    def is_resting(self) -> bool:
        """Whether it is left alone, because it failed a moment ago."""
        return time.monotonic() < self._rests_until

    def note_failure(self, problem: str, *, retry_after: float) -> None:
        """Note that it failed, and why; it asks to be left alone for *retry_after* seconds."""
        with self._lock:
            rest = self._rests[min(self._failures, len(self._rests) - 1)]
            self._failures += 1
            self._rests_until = time.monotonic() + max(rest, min(retry_after, LONGEST_REST))
            self.problem = problem

    def note_answer(self) -> None:
        """Note that it answered."""
        with self._lock:
            self.problem, self._failures, self._rests_until = "", 0, -math.inf

    def asked(self, call: Callable[[], T], *, patience: float, name: str) -> T:
        """
        Return what *call* returns, made in a thread with that *name*; raises what it raises.

        Raises NotAnswered after *patience* seconds, and at once while the last question goes on.
        """
        if self.late and self.late.goes_on:  # another one would only queue behind it
            raise NotAnswered(f"{self._who} has not answered the last question yet.")
        question = PatientCall(call, name=name)
        try:
            return question.result(patience)
        except StillRunning:
            self.late = question
            raise NotAnswered(f"{self._who} did not answer within {patience:g} seconds.") from None
