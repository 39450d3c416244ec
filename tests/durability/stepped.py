"""Something that happens between two lines of the code that writes files, at each of them in turn."""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from mcp_server.adapters import exchange, files, guarded_replace, moving

WATCHED = frozenset(module.__file__ for module in (exchange, files, moving, guarded_replace))
Act = Callable[[], object]


def stepped(act: Act, events: Mapping[int, Act]) -> list[str]:
    """
    Run *act*, and each of *events* before the line of that number, counted from 1.

    Return for each line that it ran the name of the function.
    """
    lines: list[str] = []

    def before_line(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            lines.append(frame.f_code.co_name)
            if len(lines) in events:
                events[len(lines)]()
        return before_line

    def entered(frame: FrameType, event: str, arg: Any) -> Any:
        return before_line if frame.f_code.co_filename in WATCHED else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        act()
    finally:
        sys.settrace(before)
    return lines


def killed(act: Act, events: Mapping[int, Act], at: int) -> bool:
    """Run *act* with its *events* in a process that is killed at a line; tell whether it came so far."""
    child = os.fork()
    if child == 0:
        try:
            stepped(act, {**events, at: lambda: os.kill(os.getpid(), signal.SIGKILL)})
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


class Editor:
    """
    A program that has a memory's file open and saves other words into it.

    `saves` happen at once; `begins` leaves a save half done, which `ends` completes.
    """

    def __init__(self, path: Path, way: str, words: bytes) -> None:
        self.path, self.way, self.words = path, way, words
        self._handle = os.open(path, os.O_WRONLY) if way == "held" else -1
        self.saved = False

    def save(self) -> None:
        """Save, or begin to when the way takes its time."""
        self.saved = True
        other = self.path.with_name(self.path.name + "~")
        match self.way:
            case "rename":
                other.write_bytes(self.words)
                other.replace(self.path)
            case "backup":
                if self.path.exists():
                    self.path.replace(other)
                self.path.write_bytes(self.words)
            case "at once":
                self.path.write_bytes(self.words)
            case "in place":
                self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.write(self._handle, self.words[:3])
            case "held":
                os.ftruncate(self._handle, 0)
                os.write(self._handle, self.words[:3])

    def finish(self) -> None:
        """Write what is left of a save that takes its time, and close the file."""
        if self._handle >= 0:
            if self.saved:
                os.write(self._handle, self.words[3:])
            os.close(self._handle)


WAYS = ("rename", "backup", "at once", "in place", "held")
