"""A connection over HTTP: what was sent on it, how another thread cuts it, when an answer asks us to wait."""

import contextlib
import socket
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
