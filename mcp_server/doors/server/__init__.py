"""
The MCP server on stdio: one for each Claude Code session.

It answers at once, by words alone while the embedding model loads beside, and survives having no
index, no model and no vault. Everything it acknowledges is on the disk, so it may be killed at any
moment; it ends by itself when Claude Code does.
"""

import logging
import os
import signal
import threading
from pathlib import Path

import anyio

from mcp_server.adapters.heap import share_one_arena
from mcp_server.adapters.log_file import send_warnings_to
from mcp_server.bootstrap import Opened, working_folder
from mcp_server.core.errors import DaybookError
from mcp_server.core.settings import DEFAULTS
from mcp_server.doors.server import (
    admin_tools,
    curation_tools,
    graph_tools,
    hook_tool,
    hot_tools,
    learning_tools,
    memory_tools,
    review_tools,
    session_history_tools,
    session_tools,
    transcript_tools,
    trust_tools,
    undo_tools,
)
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.arguments import Server
from mcp_server.doors.server.background import keep_current
from mcp_server.store import Store

TOOLSETS = {  # the modules of each set of tools that DAYBOOK_TOOLSETS chooses from
    "core": (memory_tools, review_tools, undo_tools),
    "sessions": (session_tools, transcript_tools),
    "curation": (learning_tools, session_history_tools, curation_tools, hot_tools, trust_tools),
    "graph": (graph_tools,),
    "admin": (admin_tools,),
}
PARENT_CHECK = 1.0  # seconds between two looks at whether Claude Code is still there


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
        opened = Refusing(error)
    else:
        send_warnings_to(opened.home / "logs" / "server.log")
        threading.Thread(target=keep_current, args=(opened,), name="keep-current", daemon=True).start()
    server = build(opened)
    try:
        anyio.run(server.run_stdio_async)
    finally:
        opened.delete_temporary_index()
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


def build(opened: Opened) -> Server:
    """Return the server with the tools of the sets that were chosen."""
    application = Application(opened)
    for name in opened.settings.toolsets:
        for tools in TOOLSETS[name]:
            tools.register(application)
    hook_tool.register(application)
    return application.server


def _end_with_parent(parent: int) -> None:
    """End the process when the one that started it is gone, even if a third holds our stdin open."""
    gone = threading.Event()
    while os.getppid() == parent:
        gone.wait(PARENT_CHECK)
    os._exit(0)
