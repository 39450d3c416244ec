"""
guard: only the browser that the person's command opened may see the viewer, and only from its own pages.

Any program of this machine can connect to the port, and any page in the browser can send requests to it.
Each request is therefore checked for

- its Host, against a page whose name was rebound to this machine,
- its Origin and Sec-Fetch-Site, against pages of other sites and of other ports,
- the account of who uses the one-time link, which stands in the browser's command line, and on Linux every
  account may read that,
- the cookie, which that link sets, and the secret first part of the path. Browsers send a cookie to
  every port of a machine; its path keeps it from the other programs that listen here.
"""

import hmac
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.adapters.account import is_anothers_connection
from mcp_server.doors.http_headers import with_headers

LINK = "/open/"  # what the one-time link begins with
COOKIE = "daybook"
POLLING = "x-polling"  # the header of what a page asks by itself, which keeps nothing open
MOST_SENT = 4 * 1024 * 1024  # bytes of one request's body: four times the longest text of a memory
READS = ("GET", "HEAD")
OWN_PAGE = ("same-origin", "none")  # Sec-Fetch-Site of our own pages, and of an address that is typed
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",  # without any, a form that is sent before htmx is there has no Origin
    "X-Content-Type-Options": "nosniff",
}
ENDED = "This link was already used, or the viewer has ended: run 'daybook view' again."
ANOTHER = "This link is for another account of this machine."
STRANGE = "The viewer answers only its own pages."
READ_ONLY = "This page is read-only. For changes, run 'daybook view' in your own terminal."


class Guard:
    """
    Let through to *app* what the person's own browser asks of the viewer at *host* ("127.0.0.1:PORT").

    *base* is the secret first part of every path. *looked* is called for each request that a person caused.
    With *read_only*, nothing but reading passes.
    """

    def __init__(
        self, app: ASGIApp, *, host: str, base: str, read_only: bool, looked: Callable[[], None]
    ) -> None:
        self._app = app
        self._host = host
        self._base = base
        self._read_only = read_only
        self._looked = looked
        self._ticket = secrets.token_urlsafe(32)
        self._key = secrets.token_urlsafe(32)

    @property
    def link(self) -> str:
        """The address that opens the viewer, once."""
        return f"http://{self._host}{LINK}{self._ticket}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refused(scope)
        if answer is None:
            if POLLING not in Headers(scope=scope):
                self._looked()
            scope = {**scope, "path": scope["path"].removeprefix(self._base), "root_path": ""}
        await (answer or self._app)(scope, receive, with_headers(send, HEADERS))

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer for a request that is not let through, None for one that is."""
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if headers.get("host") != self._host:
            return _no(HTTPStatus.MISDIRECTED_REQUEST, STRANGE)
        if path.startswith(LINK):
            if is_anothers_connection(tuple(scope["client"]), int(self._host.rpartition(":")[2])):
                return _no(HTTPStatus.FORBIDDEN, ANOTHER)
            return self._enter(path.removeprefix(LINK), method)
        site = headers.get("sec-fetch-site", "none")
        origin = headers.get("origin")
        if site not in OWN_PAGE or (origin or f"http://{self._host}") != f"http://{self._host}":
            return _no(HTTPStatus.FORBIDDEN, STRANGE)
        if not path.startswith(f"{self._base}/") or not self._has_key(headers):
            return _no(HTTPStatus.FORBIDDEN, ENDED)
        if method in READS:
            return None
        if origin is None:
            return _no(HTTPStatus.FORBIDDEN, STRANGE)
        if self._read_only:
            return _no(HTTPStatus.FORBIDDEN, READ_ONLY)
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return _no(HTTPStatus.LENGTH_REQUIRED, "The request does not say how long it is.")
        if int(length) > MOST_SENT:
            return _no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"That is more than {MOST_SENT:,} bytes.")
        return None

    def _enter(self, ticket: str, method: str) -> Response:
        if method != "GET" or not self._ticket or not _same(ticket, self._ticket):
            return _no(HTTPStatus.FORBIDDEN, ENDED)
        self._ticket = ""
        self._looked()
        answer = RedirectResponse(f"{self._base}/", HTTPStatus.SEE_OTHER)
        answer.set_cookie(COOKIE, self._key, path=self._base, httponly=True, samesite="strict")
        return answer

    def _has_key(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self._key)


def _same(value: str, secret: str) -> bool:
    return hmac.compare_digest(value.encode(), secret.encode())


def _no(status: HTTPStatus, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)
