"""What a process could not write to the index, and what to tell the person about it."""

import contextlib
import threading
from collections.abc import Iterator


class Trouble:
    """
    True while the index may lack something that was written; remarks are kept for each thread.

    It ends with the process: the next process compares the files with the index anyway.
    """

    def __init__(self) -> None:
        self._missed = 0
        self._made_up = 0
        self._threads = threading.local()

    def __bool__(self) -> bool:
        return self._missed > self._made_up

    def miss(self) -> None:
        """Note that something was not written to the index."""
        self._missed += 1

    @contextlib.contextmanager
    def making_up(self) -> Iterator[None]:
        """Count everything missed so far as made up for when the block succeeds."""
        missed = self._missed
        yield
        self._made_up = max(self._made_up, missed)

    def remark(self, sentence: str) -> None:
        """Keep *sentence* for the end of this thread's answer."""
        self._threads.remarks = [*dict.fromkeys([*self._remarks(), sentence])]

    def remarks(self) -> list[str]:
        """Return the remarks for the end of this thread's answer, and forget them."""
        remarks = self._remarks()
        self._threads.remarks = []
        return remarks

    def _remarks(self) -> list[str]:
        remarks: list[str] = getattr(self._threads, "remarks", [])
        return remarks
