"""A connection over HTTP: what was sent on it, how another thread cuts it, why there is no answer."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class Connection:
    """
    What one client of httpx is connected by to *host*, watched by `on_event`, its `trace` extension; so calls
    end when it is cut. A client that keeps its connection makes another when the other side has closed that.
    *own_network* is false when proxies or certificates that a repository names would be used, but are not.
    """

    def __init__(self, host: str = "", *, own_network: bool) -> None:
        self.host = host
        self.own_network = own_network
        self.proxy = ""
        """The host of the proxy to which it was connected last, or should have been; '' without one."""
        self.sent = False
        """Whether anything of a request may have left this machine."""
        self.opened = 0
        """How many connections were made."""
        self._lock = threading.Lock()
        self._cut = False
        self._socket: socket.socket | None = None

    @property
    def is_cut(self) -> bool:
        """Whether it was cut; nothing is sent on it any more."""
        return self._cut

    def cut(self) -> None:
        """Close the connection now, and any that is still being opened as soon as it exists."""
        with self._lock:
            self._cut = True
            self._shut()

    def forget(self) -> None:
        """Forget the connection, which its owner has closed."""
        with self._lock:
            self._let_go()

    def on_event(self, name: str, info: dict[str, Any]) -> None:
        """Note what happens on the connection; raise ConnectionAbortedError where it was cut before."""
        if name.endswith("connect_tcp.started"):
            self.proxy = info["host"] if info["host"] != self.host else ""
        elif name.endswith("connect_tcp.complete"):
            connected = info["return_value"].get_extra_info("socket")
            with self._lock:
                self._let_go()
                # A copy of the descriptor, because TLS takes the socket over.
                self._socket = connected.dup()
                self.opened += 1
                if self._cut:
                    self._shut()
        elif name.endswith("send_request_headers.started"):
            with self._lock:
                if self._cut:
                    raise ConnectionAbortedError("The connection was cut.")
                # A proxy that is asked to connect gets nothing of the request itself.
                self.sent = self.sent or info["request"].method != b"CONNECT"

    def _let_go(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None

    def _shut(self) -> None:
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def why_unanswered(error: BaseException, connection: Connection, *, reached: bool) -> str:
    """
    Return why a request on *connection* ended with *error*, and what to do: it goes on after the name of the
    other side.

    *reached* tells whether anything may have arrived there. The texts of the errors, which could quote what
    was sent, are not used; the reason is in the system's error that caused that of the library.
    """
    why = _why(error, reached=reached, proxy=connection.proxy)
    return why if reached or connection.own_network else f"{why} {_NOT_USED}"


def _why(error: BaseException | None, *, reached: bool, proxy: str) -> str:
    """Return what why_unanswered does, by the host of the *proxy* between, if any."""
    causes = []
    while error and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    if proxy and not reached and not any(isinstance(cause, ssl.SSLError) for cause in causes):
        return _why_not_by_proxy(proxy, str(causes[0]))
    kinds = _TOO_LATE if reached else _NOT_REACHED
    for kind, sentence in kinds:
        if any(isinstance(cause, kind) for cause in causes):
            return sentence
    return _BROKEN_OFF if reached else "could not be reached. Look at its address, and at your network."


def _why_not_by_proxy(proxy: str, text: str) -> str:
    """Return what why_unanswered does; *text* is the error's, and may begin with the proxy's HTTP status."""
    status = re.match(r"\d{3}\b", text)
    if not status:
        problem = f"the proxy {proxy} does not connect to it. Look at HTTPS_PROXY"
    elif status[0] == "407":
        problem = f"the proxy {proxy} wants a name and a password (HTTP 407). Give HTTPS_PROXY both"
    else:
        problem = f"the proxy {proxy} refuses to connect to it (HTTP {status[0]}). Look at HTTPS_PROXY"
    return f"could not be reached: {problem}, or name the host in NO_PROXY."


def why_unusable(error: Exception) -> str:
    """
    Return why the environment's certificates or proxies make a client of HTTP impossible, and what to do.

    *error* is what making the client raised; the sentence goes on after the name of the other side.
    """
    if isinstance(error, OSError):  # errors of TLS are such, too
        return (
            "could not be reached: SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read."
            " Correct it, or take it out of the environment."
        )
    return (
        "could not be reached: the environment names a proxy that Daybook cannot use."
        " The address of a proxy begins with http://, https:// or socks5://."
    )


_NOT_REACHED: tuple[tuple[type[BaseException], str], ...] = (
    (
        socket.gaierror,
        "could not be reached: its name is not known. Look at the address, and at your network.",
    ),
    (
        ConnectionRefusedError,
        "could not be reached: nothing answers at that address. Start it there, or correct the address.",
    ),
    (TimeoutError, "could not be reached in time. Look at its address, and at your network."),
    (
        ssl.SSLCertVerificationError,
        "could not be reached: its certificate is not trusted here. If it is your organization's, name the"
        " certificate's file in SSL_CERT_FILE.",
    ),
    (
        ssl.SSLError,
        "could not be reached: no encrypted connection came about. Look at the address, and at your proxy.",
    ),
)
"""What caused that nothing arrived → why, and what to do; the first that fits counts."""
_TOO_LATE: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "did not answer in time. Try again in a moment."),
)
_NOT_USED = "Proxies and certificates that the settings of this repository name were not used."
_BROKEN_OFF = "did not answer in full: the connection broke off. Try again in a moment."


def seconds_asked(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer asks us to wait, None when its `Retry-After` has no usable value."""
    value = headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdecimal() and len(value) < 16:
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
