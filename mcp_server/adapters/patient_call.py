"""A call in a thread of its own, for whose answer its caller waits only so long."""

import math
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class StillRunning(Exception):
    """The call has not ended within the patience of its caller."""


class PatientCall(Generic[T]):
    """
    Begins *call* at once, in a thread with that *name*.

    A call that is given up goes on to its end: a model that had to be loaded answers the next question. It
    holds up no process that ends.
    """

    def __init__(self, call: Callable[[], T], *, name: str) -> None:
        self._answers: list[T] = []
        self._errors: list[Exception] = []

        def run() -> None:
            try:
                self._answers.append(call())
            except Exception as error:  # it is raised where the result is asked for
                self._errors.append(error)

        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()

    @property
    def goes_on(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def result(self, patience: float = math.inf) -> T:
        """
        Return what the call returned, waiting at most *patience* seconds for it.

        Raises what the call raised, and StillRunning when it has not ended by then.
        """
        self.wait(patience)
        if self._errors:
            raise self._errors[0]
        if not self._answers:
            raise StillRunning
        return self._answers[0]

    def wait(self, patience: float) -> None:
        """Return when the call has ended, or after *patience* seconds."""
        self._thread.join(None if patience == math.inf else max(0.0, patience))
