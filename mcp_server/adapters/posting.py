"""
One request over HTTP, whatever the other side does: it ends within a deadline, its answer is read up to a
number of bytes, and no redirection is followed.
"""

import logging
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from mcp_server.adapters.connection import Connection
from mcp_server.core.addresses import is_loopback

CONNECT_TIMEOUT = 5.0  # seconds
MOST_OF_REFUSAL = 64 * 1024  # bytes that are read of an answer that is no success
SAID = {"content-type": "application/json", "accept-encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: its HTTP status, what of the body was read, and the seconds to wait that it names, or 0."""

    status: int
    body: bytes
    retry_after: float

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class NoAnswer(Exception):
    """
    There is no answer; the sentence goes on after the name of the other side, and quotes nothing of it.

    *again* tells whether the same request may succeed in a moment, *reached* whether anything may have
    arrived there.
    """

    def __init__(self, sentence: str, *, again: bool = False, reached: bool = True) -> None:
        super().__init__(sentence)
        self.again, self.reached = again, reached


class Poster:
    """
    Sends JSON to *url*, each time on a connection of its own.

    *own_network* is false when the environment names proxies and certificates that the person did not set; a
    request to this machine never goes through a proxy. *deadline* is in seconds, *most* in bytes.
    """

    def __init__(self, url: str, *, own_network: bool, deadline: float, most: int) -> None:
        for name in ("httpx2", "httpcore2"):  # at their most verbose they log headers
            logging.getLogger(name).setLevel(logging.WARNING)
        self._url = url
        self._trusts = own_network and not is_loopback(url)
        # The certificates take a while to read; without TLS none is needed.
        self._verify: ssl.SSLContext | bool = (
            httpx2.create_ssl_context(trust_env=self._trusts) if url.startswith("https:") else False
        )
        self._deadline = deadline
        self._most = most

    def __call__(self, content: bytes, headers: Mapping[str, str]) -> Answered:
        """Return the answer to *content*; raise NoAnswer for every other end, within the deadline."""
        connection = Connection()
        ended: list[Answered | NoAnswer] = []

        def post() -> None:
            try:
                ended.append(self._post(content, headers, connection))
            except NoAnswer as failed:
                ended.append(failed)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                ended.append(NoAnswer(f"could not be reached ({type(error).__name__}).", reached=False))
            except httpx2.TimeoutException:
                ended.append(NoAnswer(self._late))
            except Exception as error:  # its text could quote what was sent
                ended.append(NoAnswer(f"did not answer ({type(error).__name__}).", again=True))
            finally:
                connection.forget()

        # A thread of its own: nothing else bounds a slow name server, or an answer of one byte per second.
        thread = threading.Thread(target=post, name="post", daemon=True)
        thread.start()
        thread.join(self._deadline)
        if not ended:
            connection.cut()
            thread.join(1.0)
            raise NoAnswer(self._late)
        if isinstance(ended[0], NoAnswer):
            raise ended[0]
        return ended[0]

    @property
    def _late(self) -> str:
        return f"did not answer within {self._deadline:g} seconds."

    def _post(self, content: bytes, headers: Mapping[str, str], connection: Connection) -> Answered:
        with (
            httpx2.Client(
                timeout=httpx2.Timeout(self._deadline, connect=min(CONNECT_TIMEOUT, self._deadline)),
                verify=self._verify,
                trust_env=self._trusts,
                follow_redirects=False,  # what is sent goes only to the address that the person named
            ) as client,
            client.stream(
                "POST",
                self._url,
                content=content,
                headers={**SAID, **headers},
                extensions={"trace": connection.on_event},
            ) as response,
        ):
            body = bytearray()
            for part in response.iter_raw():
                body += part
                if not response.is_success and len(body) > MOST_OF_REFUSAL:
                    break  # its status says enough
                if len(body) > self._most:
                    raise NoAnswer(f"answered with more than {self._most:,} bytes.")
            named = response.headers.get("retry-after", "")
            seconds = float(named) if named.isdecimal() and len(named) < 9 else 0.0
            return Answered(response.status_code, bytes(body), seconds)
