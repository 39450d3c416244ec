"""A relay on loopback between a client and a server, which can be cut: nothing passes, nothing is closed."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.patience import PATIENCE


class Relay:
    """Forwards every connection to the server at *address*; while it is cut, bytes are swallowed."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._to = (place.hostname or "", place.port or 0)
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._connected: list[socket.socket] = []
        self.is_cut = threading.Event()
        self.swallowed = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        for connection in (self._listening, *self._connected):
            connection.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._to, PATIENCE)
                self._connected += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                if self.is_cut.is_set():
                    self.swallowed.set()
                else:
                    target.sendall(part)
            if not self.is_cut.is_set():
                target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def relayed(address: str) -> Iterator[Relay]:
    """Give a relay to the server at *address*."""
    relay = Relay(address)
    try:
        yield relay
    finally:
        relay.close()
