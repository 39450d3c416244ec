"""
gate: only a member with a token may ask, not too often and not too much at once.

Each request is checked, before anything of its body is read, for

- its Host, against a page whose name was rebound to this machine, and its Origin, against pages of others,
- the bearer token, which is looked up each time: one that is withdrawn works no longer,
- how often the token asked lately, and how long the body says it is.
"""

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from http import HTTPStatus
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.core.errors import DaybookError, NotAllowed, Rejected, StorageUnavailable
from mcp_server.core.team import wire
from mcp_server.core.team.team import Member, TeamDatabase
from mcp_server.doors.http_headers import with_headers

MINUTE = 60.0  # seconds
MOST_KNOWN = 10_000  # tokens counted at once; then the one that asked longest ago is forgotten
PATH = "/mcp"
HEALTH = "/health"
MEMBER = "daybook.member"  # the key of the scope under which the application finds who asks
LONGEST_TOKEN = 200  # characters
BODY_PATIENCE = 30.0  # seconds in which the whole body must have arrived
HEALTHY_FOR = 1.0  # seconds for which what the database answered counts
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class Rates:
    """
    At most *each_minute* requests a minute by each key; what was not used is there at once, up to a minute's.

    Each server counts for itself, and forgets it when it ends. *clock* returns seconds that only grow. Calls
    may come from many threads.
    """

    def __init__(self, each_minute: int, clock: Callable[[], float]) -> None:
        self._most = float(each_minute)
        self._clock = clock
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()  # key → requests left, when
        self._lock = threading.Lock()

    def wait(self, key: bytes) -> float:
        """Count a request of *key*, unless it is one too many; return the seconds until it may ask, or 0."""
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - at) * self._most / MINUTE)
            waits = 0.0 if left >= 1 else (1 - left) * MINUTE / self._most
            self._left[key] = (left if waits else left - 1, now)
            if len(self._left) > MOST_KNOWN:
                self._left.popitem(last=False)
            return waits


class Gate:
    """
    Let through to *app* what members ask, with who asks in the scope.

    *names* are those by which members reach the server, besides this machine's own. *limiter* bounds how
    many calls wait for the database at once. *clock* returns seconds that only grow.
    """

    def __init__(
        self,
        app: ASGIApp,
        database: TeamDatabase,
        *,
        names: Iterable[str],
        rates: Rates,
        limiter: anyio.CapacityLimiter,
        clock: Callable[[], float],
    ) -> None:
        self._app = app
        self._database = database
        self._names = {*LOOPBACK, *map(_name, names)}
        self._rates = rates
        self._limiter = limiter
        self._clock = clock
        self._health = (HTTPStatus.OK, -math.inf)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["path"] == HEALTH:
            await (await self._health_answer(scope))(scope, receive, send)
            return
        answer = self._strange(scope, headers)
        member: Member | None = None
        if answer is None:
            answer, member = await self._who_asks(headers)
        body = b""
        if answer is None:
            answer, body = await _body(headers, receive)
        if answer is None:
            await self._app({**scope, MEMBER: member}, _again(body, receive), with_headers(send, SAFE))
        else:
            await answer(scope, receive, send)

    async def _health_answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return _no(HTTPStatus.METHOD_NOT_ALLOWED, Rejected("Ask with GET."), allow="GET, HEAD")
        status, at = self._health
        if self._clock() - at >= HEALTHY_FOR:
            self._health = (status, self._clock())  # whoever asks meanwhile is told what was before
            try:
                await anyio.to_thread.run_sync(self._database.member_of, "", limiter=self._limiter)
                status = HTTPStatus.OK
            except DaybookError:
                status = HTTPStatus.SERVICE_UNAVAILABLE
            self._health = (status, self._clock())
        return PlainTextResponse("ok\n" if status is HTTPStatus.OK else "unavailable\n", status, SAFE)

    def _strange(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a request that is none of a member's client, None for one that may be."""
        host = _host(f"//{headers.get('host', '')}")
        if host not in self._names:
            error = Rejected(
                "This server does not answer under that host name.",
                "Its administrator sets host names with 'daybook team serve --host-name'.",
            )
            return _no(HTTPStatus.MISDIRECTED_REQUEST, error)
        origin = headers.get("origin")
        if origin is not None and _host(origin) != host:
            return _no(HTTPStatus.FORBIDDEN, Rejected("Pages of other sites cannot ask this server."))
        if scope["path"].rstrip("/") != PATH:
            return _no(HTTPStatus.NOT_FOUND, Rejected(f"A team's server answers at {PATH}."))
        if scope["method"] != "POST":  # nothing is told but in answers, so there is no stream to open
            return _no(HTTPStatus.METHOD_NOT_ALLOWED, Rejected("Ask with POST."), allow="POST")
        return None

    async def _who_asks(self, headers: Headers) -> tuple[Response | None, Member | None]:
        """Return the answer for who may not ask, or the member."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not 0 < len(token) <= LONGEST_TOKEN:
            return _no_token("A member's token is needed."), None
        key = hashlib.sha256(token.encode("latin-1", "replace")).digest()
        if waits := self._rates.wait(key):
            error = StorageUnavailable("You asked too often.", f"Wait {math.ceil(waits)} seconds.")
            return _no(HTTPStatus.TOO_MANY_REQUESTS, error, **{"retry-after": f"{math.ceil(waits)}"}), None
        try:
            member = await anyio.to_thread.run_sync(self._database.member_of, token, limiter=self._limiter)
        except DaybookError as error:
            return _no(HTTPStatus.SERVICE_UNAVAILABLE, error, **{"retry-after": "5"}), None
        if member is None:
            return _no_token("This token was never issued, or it is withdrawn."), None
        return None, member


async def _body(headers: Headers, receive: Receive) -> tuple[Response | None, bytes]:
    """Return the body, or the answer for one that is too long, or does not arrive."""
    too_long = Rejected(f"A request has at most {wire.MOST_REQUEST:,} bytes.", "Split it into several.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > wire.MOST_REQUEST:
        return _no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_long, connection="close"), b""
    body = bytearray()
    with anyio.move_on_after(BODY_PATIENCE):
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > wire.MOST_REQUEST:
                return _no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_long, connection="close"), b""
            if message["type"] != "http.request" or not message.get("more_body", False):
                return None, bytes(body)
    late = Rejected(f"The request did not arrive within {BODY_PATIENCE:g} seconds.")
    return _no(HTTPStatus.REQUEST_TIMEOUT, late, connection="close"), b""


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a *receive* that gives the *body* that was read, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _name(name: str) -> str:
    """Return the host *name*, with or without a port, in the form in which requests name it."""
    return name.lower() if name.count(":") > 1 and "[" not in name else _host(f"//{name.strip()}")


def _host(address: str) -> str:
    """Return the name of the host in *address*, without the port; '' when there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _no_token(sentence: str) -> Response:
    error = NotAllowed(sentence, "Ask the team's administrator for a token.")
    return _no(HTTPStatus.UNAUTHORIZED, error, **{"www-authenticate": "Bearer"})


def _no(status: HTTPStatus, error: DaybookError, **headers: str) -> Response:
    return JSONResponse(wire.error_value(error), status, {**SAFE, **headers})
