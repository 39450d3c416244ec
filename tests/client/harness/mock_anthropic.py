"""
The Messages API, scripted: it plays given turns to the real client and keeps every request it was sent.

Standard library only; it listens on loopback.
"""

import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = str | dict[str, Any] | Callable[[Any], dict[str, Any]]
"""
What the model answers: a text, `{"tools": [{"name", "input"}, …]}` (see `call`), or what a function makes of
the request.
"""

OUR_TOOLS = "mcp__plugin_daybook_daybook__"
OUR_QUESTION = "You keep the memory of a software developer"  # in the system prompt of our own requests
OF_THE_MODULE = {"UserPromptSubmit": "prompt.submit"}  # what a classic hook is called in a hooks module
EXHAUSTED = "(the script is exhausted)"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return the turn in which the model calls one tool; a name in lower case is a tool of Daybook's."""
    return {"tools": [{"name": OUR_TOOLS + name if name.islower() else name, "input": arguments}]}


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `main`, `subagent`, `side` (titles, summaries) or `memory` (our own), and its body."""

    kind: str
    body: dict[str, Any]

    @property
    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.body.get("tools") or []}

    def blocks(self) -> Iterator[tuple[str, str, str]]:
        """Yield the role, the block type and the text of everything in the conversation."""
        for message in self.body.get("messages") or []:
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                yield message["role"], block["type"], block_text(block)

    def hook_context(self, event: str) -> list[str]:
        """Return what hooks of *event*, or the module in their place, put into the conversation, in order."""
        names = "|".join(map(re.escape, filter(None, (event, OF_THE_MODULE.get(event)))))
        return [
            context
            for _, kind, text in self.blocks()
            if kind == "text"
            for context in re.findall(
                rf"^(?:{names}) hook additional context: (.*?)(?=\n\n|\n</system-reminder>|\Z)",
                text,
                re.DOTALL | re.MULTILINE,
            )
        ]

    def said(self, role: str = "user") -> str:
        """Return all text blocks of *role*."""
        return "\n".join(text for who, kind, text in self.blocks() if who == role and kind == "text")

    def body_text(self) -> str:
        """Return the text of the whole conversation, whoever said it."""
        return "\n".join(text for _, _, text in self.blocks())

    def tool_results(self) -> list[str]:
        return [text for _, kind, text in self.blocks() if kind == "tool_result"]


def block_text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_result":
        content = block.get("content") or ""
        return content if isinstance(content, str) else "".join(map(block_text, content))
    return json.dumps(block, ensure_ascii=False)


class MockAPI(ThreadingHTTPServer):
    """A context manager; `requests` is complete when the client has ended."""

    daemon_threads = True

    def __init__(
        self,
        turns: Sequence[Turn] = (),
        subagent_turns: Sequence[Turn] = (),
        memory: Callable[[Request], str] = lambda request: "[]",
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Request] = []
        self.memory = memory
        self.arrived = threading.Condition()
        self._turns = {"main": list(turns), "subagent": list(subagent_turns), "side": []}
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def main(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "main"]

    def add(self, turns: Sequence[Turn]) -> None:
        """Go on with *turns* when the others were played."""
        with self.arrived:
            self._turns["main"] += turns

    def add_subagent(self, turns: Sequence[Turn]) -> None:
        """Go on with *turns* in the subagents that are started."""
        with self.arrived:
            self._turns["subagent"] += turns

    def wait_for_main(self, number: int, seconds: float) -> bool:
        """Wait until the model was asked *number* times."""
        with self.arrived:
            return self.arrived.wait_for(lambda: len(self.main()) >= number, seconds)

    def answer(self, request: Request) -> str | dict[str, Any]:
        with self.arrived:
            self.requests.append(request)
            self.arrived.notify_all()
            if request.kind == "memory":
                return self.memory(request)
            turns = self._turns[request.kind]
            turn = turns.pop(0) if turns else EXHAUSTED
            return turn(request) if callable(turn) else turn


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MockAPI

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "has_more": false}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path.startswith("/v1/messages/count_tokens"):
            self._send("application/json", json.dumps({"input_tokens": _tokens(body)}).encode())
        elif self.path.startswith("/v1/messages"):
            message = _message(self.server.answer(Request(self._kind(body), body)), body)
            if body.get("stream"):
                events = "".join(
                    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message)
                )
                self._send("text/event-stream; charset=utf-8", events.encode())
            else:
                self._send("application/json", json.dumps(message).encode())
        else:
            self._send("application/json", b"{}")

    def _kind(self, body: dict[str, Any]) -> str:
        if OUR_QUESTION in str(body.get("system")):
            return "memory"
        if not body.get("tools"):
            return "side"
        return "subagent" if self.headers.get("x-claude-code-agent-id") else "main"

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", f"req_{uuid.uuid4().hex[:20]}")
        self.end_headers()
        self.wfile.write(data)


def _tokens(body: dict[str, Any]) -> int:
    """Four characters to a token, as far as the client cares."""
    return len(json.dumps(body)) // 4


def _message(turn: str | dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    text = turn if isinstance(turn, str) else turn.get("text")
    if text is not None:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    else:
        assert isinstance(turn, dict)
        content = [
            {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", **tool} for tool in turn["tools"]
        ]
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if text is None else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _counted(turn) or _tokens(body), "output_tokens": 12},
    }


def _counted(turn: str | dict[str, Any]) -> int:
    return 0 if isinstance(turn, str) else int(turn.get("tokens", 0))


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield *message* as the events of a stream, each block in one piece."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": message["usage"]}
    yield {"type": "message_stop"}
