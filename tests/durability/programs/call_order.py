"""
Run verbs, and print in which order names were made, made durable and removed.

    python call_order.py FOLDER VERB...

Prints a JSON list with an object for each verb: its name, and its calls as lists of a word and paths:
`made` (a folder or a file got this name), `synced` (a file or a folder), `gone` (a name was removed), `ran`
(a command was started), `appended` (to a file).
An event of the interpreter comes right before its call; `synced` is noted when fsync has returned. What
SQLite writes is not seen, and promises nothing.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from verbs import VERBS, Place

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.adapters import exchange, files
from mcp_server.core.memory import Draft
from tests.opened import opened_at

calls: list[list[str]] = []


def note_call(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "os.mkdir":
        calls.append(["made", os.fspath(arguments[0])])
    elif event == "os.link":
        calls.append(["made", os.fspath(arguments[1]), os.fspath(arguments[0])])
    elif event == "os.rename":
        calls.append(["made", os.fspath(arguments[1]), os.fspath(arguments[0])])
        calls.append(["gone", os.fspath(arguments[0])])
    elif event == "os.remove":
        calls.append(["gone", os.fspath(arguments[0])])
    elif event == "subprocess.Popen":
        calls.append(["ran", " ".join(map(os.fspath, arguments[1]))])


def called(frame: FrameType, event: str, function: Any) -> None:
    if event == "c_return" and function is os.fsync:
        calls.append(["synced", _name_of(frame.f_locals["handle"])])
    elif event == "c_return" and function is os.write and frame.f_code is files.append_line.__code__:
        calls.append(["appended", _name_of(frame.f_locals["handle"])])
    elif event == "return" and function is True and frame.f_code is exchange.exchange.__code__:
        first, second = frame.f_locals["first"], frame.f_locals["second"]
        calls.append(["made", os.fspath(second), os.fspath(first)])


def _name_of(handle: int) -> str:
    """Return the path of an open file."""
    if sys.platform == "darwin":
        import fcntl

        return fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
    return os.readlink(f"/proc/self/fd/{handle}")


def take(place: Place) -> None:
    """Take what another machine has; only this is noted, not what that machine does."""
    other, remote = opened_at(place.folder / "other").store(), str(place.folder / "memory.git")
    for number in range(3):
        remember(other, Draft(f"Fact {number}", f"Fact {number} holds."))
    add(other, look_ahead(other, remote))
    calls.clear()
    store = place.store()
    add(store, look_ahead(store, remote))


VERBS["take"] = take
place = Place(Path(sys.argv[1]).resolve())
sys.addaudithook(note_call)
threading.setprofile(called)
sys.setprofile(called)
report = []
for name in sys.argv[2:]:
    calls.clear()
    VERBS[name](place)
    report.append({"verb": name, "calls": list(calls)})
sys.setprofile(None)
print(json.dumps(report))
