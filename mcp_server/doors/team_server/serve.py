"""serve: a team's server on one address and port, until Ctrl-C or SIGTERM."""

import asyncio
import contextlib
import errno
import ipaddress
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from types import FrameType

import uvicorn

from mcp_server.core.errors import SettingsError
from mcp_server.core.team.team import TeamDatabase
from mcp_server.doors.team_server.application import EACH_MINUTE, application

MOST_CONNECTIONS = 500  # at once; further ones are told to come later
KEEP_ALIVE = 75  # seconds that an idle connection stays open: as long as nginx keeps its own
GRACE = 10  # seconds that what is being answered may take at the end
BACKLOG = 256  # connections that wait to be accepted


class TeamServer:
    """
    The server of the team of *database*: it listens on *bind* from now on, and `run` answers.

    Port 0 takes a free one. Raises SettingsError where it cannot listen. The other arguments are those of
    `application`.
    """

    def __init__(
        self,
        database: TeamDatabase,
        *,
        bind: str,
        port: int,
        now: Callable[[], datetime],
        names: Iterable[str] = (),
        each_minute: int = EACH_MINUTE,
    ) -> None:
        self._socket = _listening(bind, port)
        app = application(database, now=now, broke=_print_fault, names=names, each_minute=each_minute)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="on",
                ws="none",
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=GRACE,
            )
        )

    @property
    def address(self) -> str:
        """Where it listens: http://HOST:PORT."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def run(self) -> None:
        """Serve until `end`, Ctrl-C or SIGTERM, and finish what is being answered."""
        with _signals_taken():
            asyncio.run(self._server.serve(sockets=[self._socket]))

    def end(self) -> None:
        """End `run`; may be called from any thread."""
        self._server.should_exit = True


def is_beyond(bind: str) -> bool:
    """Tell whether other machines can reach a server that listens on *bind*."""
    try:
        return not ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind != "localhost"


def _listening(bind: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise SettingsError(*_cannot_listen(error, bind, port)) from None
    # Connections inherit it. Without it the end of an answer waits 40 ms on a connection that is kept.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener


def _cannot_listen(error: OSError, bind: str, port: int) -> tuple[str, str]:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"This machine has no address '{bind}'.", "Give one of its own: --bind 127.0.0.1."
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {bind} is taken.", "Give another with --port, or end what listens there."
    return f"Port {port} of {bind} cannot be listened on: {error.strerror or error}.", "Give another."


@contextlib.contextmanager
def _signals_taken() -> Iterator[None]:
    """
    Let SIGINT and SIGTERM only end the server, without an error, while the block runs.

    uvicorn ends on them, and afterwards raises them again for the former handlers.
    """

    def ignore(_: int, __: FrameType | None) -> None: ...

    try:
        before = {number: signal.signal(number, ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread, where no signals arrive
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_fault(tool: str, error: BaseException) -> None:
    """Print where *tool* failed; not the error's own words, which could hold what a member said."""
    where = "".join(traceback.format_tb(error.__traceback__))
    print(f"daybook: {tool} failed: {type(error).__name__}\n{where}", file=sys.stderr, flush=True)
