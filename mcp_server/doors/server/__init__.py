"""
The MCP server on stdio: one for each Claude Code session.

It answers at once: before the protocol library is loaded (`start`), it answers hooks and lists; while the
embedding model loads, it searches by words alone. It works without index, model and vault. Everything
it acknowledges is on the disk, so it may be killed at any moment; it ends on its own when Claude Code does.
"""

import logging
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path

from mcp_server.adapters.detached import wait_for_end_of
from mcp_server.adapters.heap import give_back, share_one_arena
from mcp_server.adapters.log_file import send_warnings_to
from mcp_server.bootstrap import Opened, working_folder
from mcp_server.core.errors import DaybookError
from mcp_server.core.remarks import Remark
from mcp_server.core.settings import DEFAULTS
from mcp_server.doors.server.start import Start
from mcp_server.store import Store

TURN = 0.001
"""
Seconds that a thread may keep the interpreter from another that wants it, a fifth of Python's own.

A prompt gives the interpreter away at each file that it reads, and waits so long for it beside a thread that
loads or embeds.
"""


def main() -> None:
    """Serve until Claude Code ends or closes the pipe."""
    share_one_arena()
    sys.setswitchinterval(TURN)
    os.umask(0o077)  # other users must not read the log
    # Nothing is flushed at the end, so the fastest exit is best.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        opened = Opened(wait_for_model=False)
    except DaybookError as error:
        start = Start(Refusing(error))
    else:
        send_warnings_to(opened.home / "logs" / "server.log")
        opened.meaning.hold_back()
        start = Start(opened, beside=partial(_keep_current, opened), after=partial(load_model, opened))
    try:
        start.serve()
    finally:
        start.opened.delete_temporary_index()
        logging.shutdown()
        os._exit(0)  # threads that load a model or wait for the watcher's lock must not delay the exit


class Refusing(Opened):
    """
    Stands for an opened store when the settings are wrong: every tool answers with what to correct.

    Claude Code does not retry a server that failed to start for a quarter of an hour, even if the settings
    are corrected meanwhile; so this one always starts.
    """

    def __init__(self, error: DaybookError) -> None:
        self.environment = os.environ
        self.folder = working_folder(os.environ)
        self.settings = DEFAULTS
        self._error = error

    def store(self, *, folder: Path | None = None) -> Store:
        raise self._error.with_traceback(None)

    def remarks(self) -> list[Remark]:
        return []

    def look_is_due(self) -> bool:
        return False

    def delete_temporary_index(self) -> None:
        """Do nothing: there is no index."""


def _keep_current(opened: Opened) -> None:
    from mcp_server.doors.server.background import keep_current  # the first answers need not wait for it

    keep_current(opened)


def load_model(opened: Opened) -> None:
    """Load the model, and give back what loading took of the heap: several megabytes that nothing uses."""
    opened.meaning.begin()
    opened.meaning.loaded()
    give_back()


def _end_with_parent(parent: int) -> None:
    """End the process when its parent is gone, even if a third process holds our stdin open."""
    wait_for_end_of(parent)
    os._exit(0)
