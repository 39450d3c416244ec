"""
Take locks of a store and stop, as a process does that a debugger or Ctrl-Z holds: `lock_and_stop.py PATH...`.

A path that ends in .db is an index: its lock for writing is taken. Prints "held" before it stops.
"""

import fcntl
import os
import signal
import sqlite3
import sys

locks: list[object] = []
for path in sys.argv[1:]:
    if path.endswith(".db"):
        index = sqlite3.connect(path, isolation_level=None)
        index.execute("BEGIN IMMEDIATE")
        locks.append(index)
    else:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
