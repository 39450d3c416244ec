"""
serve: the viewer's server, on 127.0.0.1 and a free port, for as long as a page is used.

Beside it a thread takes in what is edited by hand, for as long as a page is open.
"""

import asyncio
import logging
import secrets
import socket
import threading
import time

import uvicorn

from mcp_server.bootstrap import Opened
from mcp_server.doors import hand_edits
from mcp_server.doors.viewer.application import application
from mcp_server.doors.viewer.guard import Guard
from mcp_server.doors.viewer.page import Viewer

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
IDLE = 30 * 60  # seconds without anything that a person did, after which the viewer ends
LOOK_EVERY = 0.2  # seconds between two looks at the clock, and after which the thread notices that it ends
LASTS = 5.0  # seconds without a look after which nothing is watched: pages look twice a second
NAME = "edits by hand"  # of the thread
AT_END = 1.0  # seconds that the end of the viewer waits for what is just being taken in


class Following:
    """
    Watches the files of a store from the first `look` on, until there was none for *lasts* seconds.

    A session's server may watch them, too: the second one finds nothing to do.
    """

    def __init__(self, opened: Opened, *, lasts: float = LASTS) -> None:
        self._opened = opened
        self._lasts = lasts
        self._looked = 0.0
        self._ended = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Note that a page is open; may be called from any thread."""
        self._looked = time.monotonic()
        with self._lock:
            if not self._ended and not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._follow, name=NAME, daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Stop watching."""
        with self._lock:
            self._ended = True
        if self._thread:
            self._thread.join(AT_END)

    def _goes_on(self) -> bool:
        return not self._ended and time.monotonic() - self._looked <= self._lasts

    def _follow(self) -> None:
        try:
            for _ in hand_edits.taken_in(self._opened, deep=False, goes_on=self._goes_on, look=LOOK_EVERY):
                pass
        except Exception:  # the pages answer all the same
            log.exception("edits made by hand show when a page is loaded again")
        finally:
            self._opened.database.close()


class ViewerServer:
    """
    The viewer of one store: `link` opens it once, `run` serves until Ctrl-C, `end()` or thirty idle minutes.

    Idle is told by the clock of *opened*.
    """

    def __init__(self, opened: Opened, *, read_only: bool) -> None:
        self._clock = opened.clock
        self._looked_at = opened.clock()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # Connections inherit it. Without it the end of an answer waits 40 ms on a connection that is kept.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.bind((HOST, 0))
        self._socket.listen()  # a browser that comes before `run` waits for its answer
        host = f"{HOST}:{self._socket.getsockname()[1]}"
        base = f"/{secrets.token_urlsafe(16)}"
        self._following = Following(opened)
        pages = application(Viewer(opened, base, read_only, self._following.look))
        self._guard = Guard(pages, host=host, base=base, read_only=read_only, looked=self._look)
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._guard,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )

    @property
    def link(self) -> str:
        """The address that opens the viewer, once."""
        return self._guard.link

    def run(self) -> None:
        """Serve until the end; Ctrl-C is raised as KeyboardInterrupt once all is closed."""
        try:
            asyncio.run(self._run())
        finally:
            self._following.end()

    def end(self) -> None:
        """End `run`; may be called from any thread."""
        self._server.should_exit = True

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._end_when_idle())
            await self._server.serve(sockets=[self._socket])
            watch.cancel()

    async def _end_when_idle(self) -> None:
        while (self._clock() - self._looked_at).total_seconds() < IDLE:
            await asyncio.sleep(LOOK_EVERY)
        self.end()

    def _look(self) -> None:
        self._looked_at = self._clock()
