"""
The Messages API, scripted: a real server on loopback that plays given answers and keeps its own accounts.

It counts what it was asked and what that costs by itself, so that no figure of ours is trusted.
Standard library only.
"""

import json
import random
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.patience import PATIENCE


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: status, body and headers; or a way to break off, or a byte at a time."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    usd: float = 0.0  # what the call costs
    reset: bool = False  # the connection is broken off instead
    drip: str = ""  # "head" or "body": a byte at a time from there on, for ever
    after: threading.Event | None = None  # waited for before anything is answered


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its headers, its body and what it was charged."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    usd: float

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][0]["content"])


def reply(
    text: str = "[]", *, tokens: tuple[int, int] = (1000, 200), stop_reason: str = "end_turn", **more: Any
) -> Answer:
    """Return a reply with *text* that counts (input, output) *tokens*."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }
    return Answer(body=json.dumps(message).encode(), usd=(tokens[0] + 5 * tokens[1]) / 1e6, **more)


def error(status: int, type: str = "api_error", message: str = "No.", **headers: str) -> Answer:
    """Return an error as the API gives it; `retry_after="7"` becomes a header."""
    error_json = {"type": "error", "error": {"type": type, "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(error_json).encode(), named)


RESET = Answer(reset=True)


class ScriptedModel(ThreadingHTTPServer):
    """
    A context manager; plays *answers*, the last of them for ever.

    A function instead of a list is given each request's body and returns the answer.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, answers: Sequence[Answer] | Callable[[dict[str, Any]], Answer] = ()) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] | Callable[[dict[str, Any]], Answer]
        self.answers = answers if callable(answers) else list(answers or [reply()])
        self.asked: list[Asked] = []
        self.most_in_flight = 0
        self.changed = threading.Condition()
        self.ended = threading.Event()
        self._in_flight = 0
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def calls(self) -> int:
        with self.changed:
            return len(self.asked)

    def charges(self, key: Callable[[Asked], str]) -> dict[str, float]:
        """Return what was charged, in USD, added up by *key*."""
        usd_by_key: dict[str, float] = {}
        with self.changed:
            for request in self.asked:
                usd_by_key[key(request)] = usd_by_key.get(key(request), 0.0) + request.usd
        return usd_by_key

    def wait_for_calls(self, number: int, seconds: float = PATIENCE) -> bool:
        """Wait until the model was asked *number* times."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.asked) >= number, seconds)

    def take(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        with self.changed:
            if callable(self.answers):
                answer = self.answers(body)
            else:
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            self.asked.append(Asked(path, headers, body, answer.usd))
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            self.changed.notify_all()
            return answer

    def done(self) -> None:
        with self.changed:
            self._in_flight -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when a client breaks off, which is what many tests are about."""


def agreed(model: ScriptedModel, **more: str) -> dict[str, str]:
    """Return the settings of a person who agreed to calls of *model*, with *more*."""
    environment = {"DAYBOOK_MODEL_CALLS": "true", "ANTHROPIC_API_KEY": "sk-test-0000"}
    return {**environment, "ANTHROPIC_BASE_URL": model.url, **more}


def moody(seed: int) -> Callable[[dict[str, Any]], Answer]:
    """Return answers at random: most are replies at their full price, the others every kind of failure."""
    rng = random.Random(seed)

    def answer(body: dict[str, Any]) -> Answer:
        size = len(json.dumps(body))
        full = reply(tokens=(int(size / 2.5), int(body["max_tokens"])))
        failures = [
            error(529),
            error(500),
            RESET,
            error(429, retry_after="30"),
            Answer(body=b"{", usd=full.usd),
        ]
        return full if rng.random() < 0.97 else rng.choice(failures)

    return answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        answer = self.server.take(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        try:
            self._play(answer)
        finally:
            self.server.done()

    def _play(self, answer: Answer) -> None:
        if answer.after:
            answer.after.wait(PATIENCE)
        if answer.reset:
            # Closing with this option sends a reset instead of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif answer.drip == "head":
            self._drip(b"HTTP/1.1 200 OK\r\n" + b"x-more: and more\r\n" * 1000)
        else:
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        if answer.drip == "body":
            self._drip(answer.body)
        else:
            self.wfile.write(answer.body)

    def _drip(self, data: bytes) -> None:
        for byte in data:
            self.connection.sendall(bytes([byte]))
            if self.server.ended.wait(0.05):
                return
