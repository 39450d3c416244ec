"""What a process could not tell the index, and what the person is to be told about that."""

import contextlib
import threading
from collections.abc import Iterator


class Trouble:
    """
    True while something that was written is not in the index for certain; every thread has its remarks.

    A process that ends forgets it: whoever comes next compares the files with the index anyway.
    """

    def __init__(self) -> None:
        self._missed = 0
        self._made_up = 0
        self._threads = threading.local()

    def __bool__(self) -> bool:
        return self._missed > self._made_up

    def miss(self) -> None:
        """Note that the index was not told of something."""
        self._missed += 1

    @contextlib.contextmanager
    def making_up(self) -> Iterator[None]:
        """Count what was missed until now as made up for when the block ends well."""
        missed = self._missed
        yield
        self._made_up = max(self._made_up, missed)

    def remark(self, sentence: str) -> None:
        """Keep *sentence* for the end of the answer that this thread gives."""
        self._threads.remarks = [*dict.fromkeys([*self._remarks(), sentence])]

    def remarks(self) -> list[str]:
        """Return what this thread's answer is to end with, once."""
        remarks = self._remarks()
        self._threads.remarks = []
        return remarks

    def _remarks(self) -> list[str]:
        remarks: list[str] = getattr(self._threads, "remarks", [])
        return remarks
