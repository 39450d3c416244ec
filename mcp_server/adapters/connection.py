"""A connection over HTTP: what was sent on it, how another thread cuts it, why there is no answer."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class Connection:
    """
    What one client of httpx is connected by, watched by `on_event`, its `trace` extension; so calls end when
    it is cut. A client that keeps its connection makes another when the other side has closed that.
    """

    def __init__(self) -> None:
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
        if name.endswith("connect_tcp.complete"):
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
                self.sent = not self._cut
            if not self.sent:
                raise ConnectionAbortedError("The connection was cut.")

    def _let_go(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None

    def _shut(self) -> None:
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def why_unanswered(error: BaseException | None, *, reached: bool) -> str:
    """
    Return why a request ended with *error*, and what to do: it goes on after the name of the other side.

    *reached* tells whether anything may have arrived there. The texts of the errors, which could quote what
    was sent, are not used; the reason is in the system's error that caused that of the library.
    """
    causes = []
    while error and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    kinds = _TOO_LATE if reached else _NOT_REACHED
    for kind, sentence in kinds:
        if any(isinstance(cause, kind) for cause in causes):
            return sentence
    return _BROKEN_OFF if reached else "could not be reached. Look at its address, and at your network."


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
