"""The lines that a client sends: readable ones are passed on, the others are answered here."""

import io
import queue
import re
import threading
from collections.abc import Callable, Iterable
from typing import BinaryIO

from mcp_server.doors.json_rpc import LONGEST_LINE, Refusal, refusals

# Escaped characters in JSON: a surrogate pair is one character, and two backslashes are one.
_HALVES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class Lines(io.TextIOWrapper):
    """
    The lines that a client sends on *source*; the protocol library would drop unreadable ones silently.

    `is_readable`, at first *readable*, tells whether a line can be passed on as it is: a request that
    will be answered. `refuse` is called with the answer to each other line. `takes` is called first: a line
    that it takes, an answer to a question of the server's, goes no further.
    """

    def __init__(self, source: BinaryIO, *, readable: Callable[[str], bool]) -> None:
        # Only a line feed ends a line: a carriage return is white space in JSON.
        super().__init__(source, encoding="utf-8", errors="replace", newline="\n")
        self.is_readable = readable
        self._back: list[str] = []
        self.refuse: Callable[[Refusal], None] = _drop
        self.takes: Callable[[str], bool] = lambda line: False
        self._read: queue.SimpleQueue[str] | None = None  # what the thread of `read_beside` has read

    def read_beside(self) -> None:
        """Read in a thread from now on, so that `wake` can end a wait for the next line."""
        self._read = queue.SimpleQueue()
        threading.Thread(target=self._fill, args=(self._read,), name="read-lines", daemon=True).start()

    def wake(self) -> None:
        """Let who waits for the next line get an empty one; only after `read_beside`."""
        if self._read:
            self._read.put("\n")

    def put_back(self, lines: Iterable[str]) -> None:
        """Return *lines*, which were read and can be passed on, before all others."""
        self._back = [*lines, *self._back]

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return the next line that the library can read, '' at the end; *size* is ignored."""
        if self._back:
            return self._back.pop(0)
        while line := mended(self._next(self._read) if self._read else self._whole_line()):
            if self.takes(line):
                continue
            if len(line) <= LONGEST_LINE and self.is_readable(line):
                return line
            answers = refusals(line, unreadable=True)
            if not answers:
                return line
            for refusal in answers:
                self.refuse(refusal)
        return ""

    def _fill(self, read: queue.SimpleQueue[str]) -> None:
        try:
            while line := self._whole_line():
                read.put(line)
        finally:
            read.put("")

    @staticmethod
    def _next(read: queue.SimpleQueue[str]) -> str:
        line = read.get()
        if not line:
            read.put(line)  # whoever reads on is told of the end, too
        return line

    def _whole_line(self) -> str:
        """Return the next line; only the beginning and the end of one that is too long."""
        line = super().readline(LONGEST_LINE + 1)
        if len(line) <= LONGEST_LINE:
            return line
        end = line
        while not end.endswith("\n") and (more := super().readline(LONGEST_LINE)):
            end = end[-LONGEST_LINE // 2 :] + more
        return line + end


def mended(line: str) -> str:
    """Return *line* without a byte order mark, and with a sign for each unpaired surrogate."""
    line = line.removeprefix("\ufeff")
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _HALVES.sub(lambda half: r"\ufffd" if half[1] else half[0], line)


def _drop(_: Refusal) -> None:
    """Do nothing: no one takes answers yet."""
