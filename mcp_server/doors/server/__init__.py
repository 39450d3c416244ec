"""
The MCP server on stdio: one for each Claude Code session.

It answers at once: the hooks and what it has, before the protocol library is there (`start`), and by words
alone while the embedding model loads beside. It survives having no index, no model and no vault. Everything
it acknowledges is on the disk, so it may be killed at any moment; it ends by itself when Claude Code does.
"""

import logging
import os
import signal
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server.adapters.detached import wait_for_end_of
from mcp_server.adapters.heap import share_one_arena
from mcp_server.adapters.log_file import send_warnings_to
from mcp_server.bootstrap import Opened, working_folder
from mcp_server.core.errors import DaybookError
from mcp_server.core.settings import DEFAULTS
from mcp_server.doors.server.hook_tool import Hooks
from mcp_server.doors.server.start import Start
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def main() -> None:
    """Serve until Claude Code ends or closes the pipe."""
    share_one_arena()
    os.umask(0o077)  # what the log says is nobody else's business
    # Nothing is flushed at the end, so the quickest death is the best one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        opened = Opened(wait_for_model=False)
    except DaybookError as error:
        start = Start(Refusing(error), beside=lambda: None)
    else:
        send_warnings_to(opened.home / "logs" / "server.log")
        start = Start(opened, beside=partial(_keep_current, opened))
    try:
        start.serve()
    finally:
        start.opened.delete_temporary_index()
        logging.shutdown()
        os._exit(0)  # threads that load a model or wait for the watcher's lock must not hold us


class Refusing(Opened):
    """
    What is opened when the settings are wrong: every tool answers with what to correct.

    Claude Code does not try a server again for a quarter of an hour that could not be started, whatever
    is corrected meanwhile; so it always starts.
    """

    def __init__(self, error: DaybookError) -> None:
        self.environment = os.environ
        self.folder = working_folder(os.environ)
        self.settings = DEFAULTS
        self._error = error

    def store(self, *, folder: Path | None = None) -> Store:
        raise self._error.with_traceback(None)

    def remarks(self) -> list[str]:
        return []

    def look_is_due(self) -> bool:
        return False

    def delete_temporary_index(self) -> None:
        """Do nothing: there is none."""


def build(opened: Opened, hooks: Hooks | None = None) -> "MCPServer[Any]":
    """Return the server with the tools of the sets that were chosen, and *hooks* that answered before it."""
    from mcp_server.doors.server.toolsets import registered  # loads the protocol library

    return registered(opened, hooks or Hooks(opened))


def _keep_current(opened: Opened) -> None:
    from mcp_server.doors.server.background import keep_current  # the first answers need not wait for it

    keep_current(opened)


def _end_with_parent(parent: int) -> None:
    """End the process when the one that started it is gone, even if a third holds our stdin open."""
    wait_for_end_of(parent)
    os._exit(0)
