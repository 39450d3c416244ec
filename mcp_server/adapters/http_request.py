"""
One request over HTTP, whatever the other side does: it ends within a deadline, its answer is read up to a
number of bytes, and no redirection is followed. A request that may be repeated goes on a kept connection.
"""

import functools
import logging
import ssl
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from mcp_server.adapters.connection import Connection, seconds_asked, why_unanswered, why_unusable
from mcp_server.adapters.patient_call import PatientCall, StillRunning
from mcp_server.core.addresses import is_loopback

CONNECT_TIMEOUT = 5.0  # seconds
MOST_OF_REFUSAL = 64 * 1024  # bytes that are read of an answer that is no success
# Seconds for which an idle connection is kept. A gateway may forget it after four minutes, and then
# nobody says that it is gone.
LONGEST_IDLE = 200.0
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

    *again* tells whether the same request may succeed in a moment.
    """

    def __init__(self, sentence: str, *, again: bool = False) -> None:
        super().__init__(sentence)
        self.again = again


class Poster:
    """
    Sends JSON to *url*; calls may come from many threads.

    *own_network* is false when the environment names proxies and certificates that the person did not set; a
    machine never reaches itself through a proxy. *deadline* is in seconds, *most* in bytes.
    """

    def __init__(self, url: str, *, own_network: bool, deadline: float, most: int) -> None:
        for name in ("httpx2", "httpcore2"):  # at their most verbose they log headers
            logging.getLogger(name).setLevel(logging.WARNING)
        self._url = url
        self._own_network = own_network
        self._proxies = own_network and not is_loopback(url)
        self._deadline = deadline
        self._most = most
        self._kept = _Kept()
        weakref.finalize(self, self._kept.close)

    def __call__(self, content: bytes, headers: Mapping[str, str], *, repeatable: bool = False) -> Answered:
        """
        Return the answer to *content*; raise NoAnswer for every other end, within the deadline.

        What is *repeatable* does the same when it is done twice. It goes on the connection of the last such
        request; when the other side has closed that meanwhile, it is sent again on a new one.
        """
        line = (self._kept.take() if repeatable else None) or self._new_line()
        # A thread of its own: nothing else bounds a slow name server, or an answer of one byte per second.
        call = PatientCall(lambda: self._posted(content, headers, line, repeatable=repeatable), name="post")
        try:
            return call.result(self._deadline)
        except StillRunning:
            line.connection.cut()
            call.wait(1.0)
            raise NoAnswer(self._late) from None

    def _posted(
        self, content: bytes, headers: Mapping[str, str], line: "_Line", *, repeatable: bool
    ) -> Answered:
        """Return the answer, or raise NoAnswer; *line* is then kept or closed."""
        keeps = False
        try:
            answer = self._post(content, headers, line, repeatable=repeatable)
            keeps = repeatable
            return answer
        except NoAnswer:
            raise
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            why = why_unanswered(error, line.connection, reached=False)
            raise NoAnswer(why) from None
        except httpx2.TimeoutException:
            raise NoAnswer(self._late) from None
        except Exception as error:  # its text could quote what was sent
            why = why_unanswered(error, line.connection, reached=line.connection.sent)
            raise NoAnswer(why, again=True) from None
        finally:
            if keeps:
                self._kept.put(line)
            else:
                line.close()

    @property
    def _late(self) -> str:
        return f"did not answer within {self._deadline:g} seconds."

    @functools.cached_property
    def _certificates(self) -> ssl.SSLContext | bool:
        """Which certificates are trusted. They take a while to read; without TLS none is needed."""
        return (
            httpx2.create_ssl_context(trust_env=self._own_network)
            if self._url.startswith("https:")
            else False
        )

    def _new_line(self) -> "_Line":
        try:
            client = httpx2.Client(
                timeout=httpx2.Timeout(self._deadline, connect=min(CONNECT_TIMEOUT, self._deadline)),
                verify=self._certificates,
                trust_env=self._proxies,
                follow_redirects=False,  # what is sent goes only to the address that the person named
                limits=httpx2.Limits(keepalive_expiry=LONGEST_IDLE),
            )
        except Exception as error:
            raise NoAnswer(why_unusable(error)) from None
        host = httpx2.URL(self._url).raw_host.decode("ascii")
        own_network = self._own_network or is_loopback(self._url)
        return _Line(client, Connection(host, own_network=own_network))

    def _post(
        self, content: bytes, headers: Mapping[str, str], line: "_Line", *, repeatable: bool
    ) -> Answered:
        opened = line.connection.opened
        try:
            return self._post_once(content, headers, line)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            was_kept = opened and opened == line.connection.opened
            if not (repeatable and was_kept) or line.connection.is_cut:
                raise
        return self._post_once(content, headers, line)

    def _post_once(self, content: bytes, headers: Mapping[str, str], line: "_Line") -> Answered:
        with line.client.stream(
            "POST",
            self._url,
            content=content,
            headers={**SAID, **headers},
            extensions={"trace": line.connection.on_event},
        ) as response:
            body = bytearray()
            for part in response.iter_raw():
                body += part
                if not response.is_success and len(body) > MOST_OF_REFUSAL:
                    break  # its status says enough
                if len(body) > self._most:
                    raise NoAnswer(f"answered with more than {self._most:,} bytes.")
            return Answered(response.status_code, bytes(body), seconds_asked(response.headers) or 0.0)


@dataclass(frozen=True, slots=True)
class _Line:
    """A client of httpx for one request at a time, and what it is connected by."""

    client: httpx2.Client
    connection: Connection

    def close(self) -> None:
        self.client.close()
        self.connection.forget()


class _Kept:
    """The line of the last request that was answered, while nobody uses it: one at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: _Line | None = None
        self._since = 0.0

    def take(self) -> _Line | None:
        """Return the line, for the caller alone, None where there is none to be used."""
        with self._lock:
            line, self._line = self._line, None
            # By the clock on the wall: the other one stands still while the machine sleeps.
            is_old = not 0 <= time.time() - self._since < LONGEST_IDLE
        if line and (is_old or line.connection.is_cut):
            line.close()
            return None
        return line

    def put(self, line: _Line) -> None:
        """Keep *line*; close it where another is kept already."""
        with self._lock:
            if self._line is None and not line.connection.is_cut:
                self._line, self._since = line, time.time()
                return
        line.close()

    def close(self) -> None:
        with self._lock:
            line, self._line = self._line, None
        if line:
            line.close()
