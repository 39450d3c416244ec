"""
The lines between a client and us: JSON-RPC 2.0 as MCP uses it. Readable ones go on, the others are answered.

Every request with an id gets one answer, whatever its types are; a notification gets none. Standard library
only: at a first start the server has nothing else.
"""

import io
import json
import math
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
LONGEST_LINE = 16 * 1024 * 1024  # characters; a memory has 64 Ki, a conversation 768 Ki

Id = str | int | float | None

# Where clients write the id: right after the version, or last. Needed only for a line that does not parse.
_ID = r'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")'
_FIRST = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + r"\s*,")
_LAST = re.compile(r",\s*" + _ID + r"\s*\}\s*\Z")
_EDGE = 400  # characters at each end of a line in which the id is looked for
# Escaped characters in JSON: a surrogate pair is one character, and two backslashes are one.
_HALVES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as the answer to the request with that `id`; None when the request has no usable id."""

    id: Id
    code: int
    message: str

    def say(self) -> None:
        """Write this error to the client."""
        say({"id": self.id, "error": {"code": self.code, "message": self.message}})


def say(message: dict[str, Any]) -> None:
    """Write *message* to the client, as one line on standard output."""
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sys.stdout.buffer.flush()


def refusals(line: str, *, unreadable: bool = False) -> list[Refusal]:
    """
    Return the error answers to a *line* that is not passed on; [] when it is passed on or dropped.

    *unreadable*: the protocol library does not take this line for a request, so we refuse one that is in it.
    """
    if not line.strip():
        return []
    if len(line) > LONGEST_LINE:
        too_long = f"The line has more than {LONGEST_LINE:,} characters."
        return [Refusal(_id_at_an_end(line), INVALID_REQUEST, too_long)]
    try:
        message = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        return [Refusal(_id_at_an_end(line), PARSE_ERROR, "The line is nested too deeply.")]
    except ValueError:
        return [Refusal(None, PARSE_ERROR, "The line is not JSON.")]
    if not isinstance(message, list):
        return list(_wrong(message, unreadable=unreadable))
    one_by_one = "Batches are not taken: send each message on a line of its own."
    ids = [
        _id(request)
        for request in message
        if isinstance(request, dict) and "id" in request and "method" in request
    ]
    return [Refusal(number, INVALID_REQUEST, one_by_one) for number in ids or [None]]


def _wrong(message: Any, *, unreadable: bool) -> Iterator[Refusal]:
    """Yield the refusal of *message*, if any; *unreadable*: the protocol library cannot read it."""
    if not isinstance(message, dict):
        yield Refusal(None, INVALID_REQUEST, "A message is a JSON object.")
        return
    method, is_response = message.get("method"), "result" in message or "error" in message
    if "id" not in message:
        if not isinstance(method, str) and not is_response:
            yield Refusal(None, INVALID_REQUEST, "A message names a method, which is a text.")
        return
    if "method" not in message and is_response:
        return  # an answer gets no answer
    number = _id(message)
    if isinstance(number, float) or number is None:
        yield Refusal(number, INVALID_REQUEST, "The id of a request is a text or a whole number.")
    elif message.get("jsonrpc") != "2.0":
        yield Refusal(number, INVALID_REQUEST, 'A message says "jsonrpc": "2.0".')
    elif not isinstance(method, str):
        yield Refusal(number, INVALID_REQUEST, "A request names a method, which is a text.")
    elif is_response:
        yield Refusal(number, INVALID_REQUEST, "A message is a request or an answer, not both.")
    elif not isinstance(message.get("params"), dict | None):
        yield Refusal(number, INVALID_PARAMS, "The params of a request are an object.")
    elif unreadable:
        yield Refusal(number, PARSE_ERROR, "The request cannot be read; it may be nested too deeply.")


def greets(params: dict[str, Any]) -> bool:
    """Tell whether *params*, those of `initialize`, are a client's greeting."""
    client = params.get("clientInfo")
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and isinstance(client, dict)
        and all(isinstance(client.get(name), str) for name in ("name", "version"))
    )


def _id(message: dict[str, Any]) -> Id:
    """Return the id of a message if an answer can name it."""
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, str | int | float):
        return None
    return None if isinstance(number, float) and not math.isfinite(number) else number


def _id_at_an_end(line: str) -> Id:
    named = _FIRST.match(line[:_EDGE]) or _LAST.search(line[-_EDGE:])
    return json.loads(named[1], strict=False) if named else None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


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
