"""
python killed_at_writes.py FOLDER: run every verb, killed at each of the files that it writes.

Each run is a fork of this warmed process, killed when a temporary file has its bytes and not yet its name.
Prints a JSON object: how many were killed, and what they left.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from verbs import VERBS, Place

LAST = 40  # files that no verb writes more of

place = Place(Path(sys.argv[1]))


def kill_at(number: int) -> None:
    """End this process before it makes the file of that *number* durable."""
    writes = 0

    def called(frame: FrameType, event: str, function: object) -> None:
        nonlocal writes
        if event == "c_call" and function is os.fsync and frame.f_code.co_name == "_write_temporary":
            writes += 1
            if writes == number:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(called)  # an import writes its files beside each other
    sys.setprofile(called)


killed = dict.fromkeys(VERBS, 0)
for name, verb in VERBS.items():
    for number in range(1, LAST):
        child = os.fork()
        if child == 0:
            os.environ["DAYBOOK_HOOKS"] = "off"
            kill_at(number)
            try:
                verb(place)
            finally:
                os._exit(0)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            break
        killed[name] += 1
unfinished = sorted(str(path) for path in place.folder.rglob(".daybook-*"))
print(json.dumps({"killed": killed, "left": unfinished}))
