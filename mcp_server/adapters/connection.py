"""The connection of one call over HTTP: what was sent on it, and how another thread cuts it."""

import contextlib
import socket
import threading
from typing import Any


class Connection:
    """One connection, watched by `on_event`, the `trace` extension of httpx; so it ends when it is cut."""

    def __init__(self) -> None:
        self.sent = False
        """Whether anything of the request may have left this machine."""
        self._lock = threading.Lock()
        self._cut = False
        self._socket: socket.socket | None = None

    def cut(self) -> None:
        """Close the connection now, and any that is still being opened as soon as it exists."""
        with self._lock:
            self._cut = True
            self._shut()

    def forget(self) -> None:
        """Forget the connection, which its owner has closed."""
        with self._lock:
            if self._socket:
                self._socket.close()
            self._socket = None

    def on_event(self, name: str, info: dict[str, Any]) -> None:
        """Note what happens on the connection; raise ConnectionAbortedError where it was cut before."""
        if name.endswith("connect_tcp.complete"):
            connected = info["return_value"].get_extra_info("socket")
            with self._lock:
                # A copy of the descriptor, because TLS takes the socket over.
                self._socket = connected.dup()
                if self._cut:
                    self._shut()
        elif name.endswith("send_request_headers.started"):
            with self._lock:
                self.sent = not self._cut
            if not self.sent:
                raise ConnectionAbortedError("The connection was cut.")

    def _shut(self) -> None:
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
