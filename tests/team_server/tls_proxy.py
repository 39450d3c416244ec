"""A proxy on loopback that does TLS before a team's server, counts connections, and hangs up when told."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.certificate import Certificate
from tests.patience import PATIENCE


class TlsProxy:
    """
    Passes on what clients send to the server at *address*, and the answers.

    With `hangs_up_at_next` set, the next part that a client sends is swallowed, and its connection closed.
    """

    def __init__(self, address: str, certificate: Certificate) -> None:
        place = urlsplit(address)
        self._to = (place.hostname, place.port)
        self._context = certificate.context()
        self._loop = asyncio.new_event_loop()
        self._open: dict[asyncio.StreamWriter, threading.Event] = {}
        self._port = 0
        self._listens = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.connections = 0
        self.hangs_up_at_next = threading.Event()

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._thread.start()
        assert self._listens.wait(PATIENCE)

    def end(self) -> None:
        self.hang_up()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def hang_up(self) -> None:
        """Close every connection, and wait until it is closed."""
        for writer, closed in list(self._open.items()):
            self._loop.call_soon_threadsafe(writer.close)
            assert closed.wait(PATIENCE)

    def _run(self) -> None:
        self._loop.run_until_complete(self._listen())
        self._listens.set()
        self._loop.run_forever()
        self._server.close()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _listen(self) -> None:
        # A client that rests does not answer the end of TLS, for which asyncio would wait half a minute.
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, ssl=self._context, ssl_shutdown_timeout=0.1
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open[writer] = closed = threading.Event()
        from_server, to = await asyncio.open_connection(*self._to)
        answers = asyncio.create_task(self._pass(from_server, writer))
        try:
            await self._pass(reader, to, may_hang_up=True)
        finally:
            answers.cancel()
            for stream in (to, writer):
                stream.close()
                with contextlib.suppress(OSError):
                    await stream.wait_closed()
            del self._open[writer]
            closed.set()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, may_hang_up: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while part := await reader.read(65536):
                if may_hang_up and self.hangs_up_at_next.is_set():
                    self.hangs_up_at_next.clear()
                    return
                writer.write(part)
                await writer.drain()


@contextlib.contextmanager
def behind_tls(address: str, certificate: Certificate) -> Iterator[TlsProxy]:
    """Give a proxy before the server at *address*."""
    proxy = TlsProxy(address, certificate)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.end()
