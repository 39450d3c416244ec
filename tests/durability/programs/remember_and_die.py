"""
python remember_and_die.py FOLDER WORK TITLE…: remember TITLEs and be killed, so that the index's log stays.

Prints nothing; WORK is the folder that the process works in.
"""

import os
import signal
import sys
from pathlib import Path

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from tests.opened import opened_at

folder, work, *titles = sys.argv[1:]
store = opened_at(Path(folder), Path(work)).store()
for title in titles:
    remember(store, Draft(title, f"{title} was said last"))
os.kill(os.getpid(), signal.SIGKILL)
