"""
The server's answers before the protocol library is loaded, with the standard library alone.

Loading that library and the embedding model takes a second of processor time, and the first prompt of a
session waits for its hook. So the greeting, the lists of what the server has (`listed.json`) and the hooks
are answered here. The library answers everything else. It is loaded in parallel when a prompt was answered,
when something needs it, or when nothing came for a while; from then on it answers everything. What needs it
waits until then, and hooks are answered meanwhile.
"""

import contextlib
import gc
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.json_rpc import Lines, Refusal, greets, refusals, say
from mcp_server.doors.server import opening
from mcp_server.doors.server.hook_tool import HOOK_EVENTS, Hooks
from mcp_server.doors.server.session import note_caller

if TYPE_CHECKING:
    from mcp_server.doors.server.arguments import Server

log = logging.getLogger(__name__)

LISTED = Path(__file__).with_name("listed.json")
"""The library's answers, by protocol and method, and the tools and resources of each set."""
GREETED = "2025"  # the protocols that begin with a greeting, in LISTED
STATELESS = "2026-07-28"  # the protocol without a greeting: every request names the client
DISCOVER = "server/discover"  # by which a client asks whether the server knows that protocol
QUIET = 3.0  # seconds without a request after which the library and the model are loaded
LONGEST_ROOTS = 64 * 1024  # characters of an answer that names the client's folders
GREETING_ID = "daybook-greeting"  # of the greeting for the library; the client already has its answer
UNUSED = ("uvicorn", "python_multipart", "rich")
"""
What the protocol library loads for servers on HTTP and for coloured logs, and does without if it is missing.

It costs a tenth of the library's loading and some two megabytes of every server, four with `rich`.
"""
_META = "io.modelcontextprotocol/"


class Start:
    """
    The server of one session until the library takes over.

    *beside* runs in parallel with the loading of the library and with all that follows, *after* when the
    library is loaded: beside two threads that load, a prompt gets a third of the interpreter.
    Garbage, which the caller may have stopped collecting, is collected from then on.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        beside: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self.opened = opened
        self._beside, self._after = beside, after
        self._hooks = Hooks(opened)
        self._lines = Lines(sys.stdin.buffer, readable=lambda line: not refusals(line))
        self._lines.refuse = Refusal.say
        self._listed = json.loads(LISTED.read_bytes())
        self._instructions = ""  # for a client without hooks
        self._hidden: tuple[str, ...] = ()  # the tools that the client does not see
        self._asks_roots = False  # whether the client has yet to say where it works
        self._protocol = ""  # a key of `_listed` once the client has begun
        self._greeting: list[dict[str, Any]] = []  # the client's first messages, for the library
        self._library: Server | None = None  # what takes over, once it is loaded
        self._waiting: list[str] = []  # what only the library can answer, until it is loaded
        self._load_now = threading.Event()
        self._loaded = threading.Event()

    def serve(self) -> None:
        """Answer until the client closes the pipe."""
        self._lines.read_beside()
        threading.Thread(target=self._load, name="load-library", daemon=True).start()
        while line := self._lines.readline():
            is_greeted = self._protocol != "" and len(self._greeting) != 1  # 1: the client has yet to confirm
            if self._loaded.is_set() and (is_greeted or self._waiting or line.strip()):
                self._hand_over([*self._waiting, line])
                return
            if self._waiting and not _is_call(line):
                self._waiting.append(line)
            elif not self._answer(line):
                self._waiting.append(line)
                self._load_now.set()
        if self._waiting:
            self._hand_over(self._waiting)

    def _load(self) -> None:
        """Load the library, with the watcher in parallel and the model after it, behind the first prompt."""
        self._load_now.wait(QUIET)
        with contextlib.suppress(DaybookError, OSError):
            self.opened.store()  # a missing index is made before the imports delay everything
        threading.Thread(target=self._beside, name="keep-current", daemon=True).start()
        try:
            self._library = self._built()
        except Exception:  # the code that takes over fails in the same way
            log.exception("the protocol library cannot be loaded")
        gc.freeze()  # what was loaded stays, so no later collection looks through it
        gc.enable()
        self._loaded.set()
        self._lines.wake()
        self._after()

    def _hand_over(self, lines: Sequence[str]) -> None:
        """Let the library answer *lines* and what comes after them."""
        self._loaded.wait()
        lines = [line for line in lines if line.strip()]
        greeting = [json.dumps(message) + "\n" for message in self._greeting]
        self._lines.put_back([*greeting, *lines])
        if lines:
            self._meet(json.loads(lines[0]).get("params"))
        library = self._library or self._built()
        library.serve(
            self._lines,
            answered=GREETING_ID,
            instructions=self._instructions,
            is_foreign=self._hooks.is_foreign,
        )

    def _built(self) -> "Server":
        """Return the library's server with our tools, which takes most of a second of the processor."""
        with _left_out(*UNUSED):
            import anyio

            from mcp_server.doors.server.toolsets import registered

            anyio.run(anyio.sleep, 0)  # loads what the first request would wait for
            return registered(self.opened, self._hooks)

    def _answer(self, line: str) -> bool:
        """Answer *line*; return False when only the library can."""
        if not line.strip():
            return True
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message or method is None:
            if method == "notifications/initialized" and len(self._greeting) == 1:
                self._greeting.append(message)
                if self._asks_roots:
                    say({"id": opening.ROOTS_ID, "method": "roots/list"})
            return True
        self._meet(params)
        result = self._result(method, params)
        if result is None:
            return False
        if method == "initialize":
            self._greeting.append({**message, "id": GREETING_ID})
        say({"id": message["id"], "result": result})
        if method == "tools/call":
            self._load_now.set()
        return True

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the library's answer, None when the library must be asked."""
        if method == "initialize":
            if (
                self._protocol
                or not greets(params)
                or params["protocolVersion"] not in self._listed["greeted"]
            ):
                return None
            self._protocol = GREETED
            result = self._listed[GREETED][method]
            return self._with_instructions({**result, "protocolVersion": params["protocolVersion"]})
        protocol = _stateless(params) or (GREETED if len(self._greeting) == 2 else "")
        if not protocol or self._protocol not in ("", protocol):
            return None
        if method != DISCOVER:  # who waited too long for that answer greets after it
            self._protocol = protocol
        result = self._listed[protocol].get(method)
        if method == "tools/call":
            answer = self._hook(params)
            return None if answer is None else {"content": [{"type": "text", "text": answer}], **result}
        if result is None or params.keys() - {"_meta"}:
            return None
        for name in ("tools", "resources"):
            if name in result:
                sets = [self._listed[name][toolset] for toolset in self.opened.settings.toolsets]
                listed = [entry for entry in chain(*sets) if entry["name"] not in self._hidden]
                result = {**result, name: listed}
        return self._with_instructions(dict(result)) if method == DISCOVER else dict(result)

    def _meet(self, params: Any) -> None:
        """Check which client it is; all but Claude Code get a session of their own, and instructions."""
        if self._instructions or not isinstance(params, dict):
            return
        meta = params.get("_meta")
        named = meta.get(f"{_META}clientInfo") if isinstance(meta, dict) else None
        if not opening.is_foreign(params.get("clientInfo") or named):
            return
        self._hooks.is_foreign, self._hidden = True, (HOOK_TOOL,)
        self._instructions = opening.begin(self.opened, self._hooks.session)
        self._asks_roots = opening.needs_roots(self.opened, params.get("capabilities"))
        if self._asks_roots:
            self._lines.takes = self._take_roots
        else:
            opening.note_begun(self.opened)

    def _take_roots(self, line: str) -> bool:
        """Learn from *line* where the client works; return False for any other line."""
        if opening.ROOTS_ID not in line[:LONGEST_ROOTS]:
            return False
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(message, dict) or message.get("id") != opening.ROOTS_ID or "method" in message:
            return False
        opening.take_roots(self.opened, message.get("result"))
        opening.note_begun(self.opened)
        return True

    def _with_instructions(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "instructions": self._instructions} if self._instructions else result

    def _hook(self, params: dict[str, Any]) -> str | None:
        """Return the answer to a hook that calls its tool, None for another call, or invalid arguments."""
        arguments = params.get("arguments") or {}
        if params.get("name") != HOOK_TOOL or self._hooks.is_foreign or not isinstance(arguments, dict):
            return None
        if arguments.get("event") not in HOOK_EVENTS:
            return None
        texts = {name: value for name, value in arguments.items() if name in HOOK_ARGUMENTS}
        if not all(isinstance(value, str) for value in texts.values()):
            return None
        note_caller(params.get("_meta"))
        return self._hooks.answer(**texts)


HOOK_ARGUMENTS = frozenset(Hooks.answer.__annotations__) - {"given", "return"}  # each is a text


@contextlib.contextmanager
def _left_out(*packages: str) -> Iterator[None]:
    """Let imports find none of *packages* meanwhile, but for what is loaded already."""
    left_out = [name for name in packages if name not in sys.modules]
    for name in left_out:
        sys.modules[name] = None  # type: ignore[assignment]  # the import system's mark of a missing package
    try:
        yield
    finally:
        for name in left_out:
            del sys.modules[name]


def _is_call(line: str) -> bool:
    """Tell whether *line* calls a tool: a hook's call need not wait for what only the library can answer."""
    return bool(line.strip()) and json.loads(line).get("method") == "tools/call"


def _stateless(params: dict[str, Any]) -> str:
    """Return STATELESS when the request has all that this protocol requires, '' otherwise."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or meta.get(f"{_META}protocolVersion") != STATELESS:
        return ""
    client = meta.get(f"{_META}clientInfo")
    is_named = client is None or (
        isinstance(client, dict) and all(isinstance(client.get(name), str) for name in ("name", "version"))
    )
    return STATELESS if is_named and isinstance(meta.get(f"{_META}clientCapabilities"), dict) else ""
