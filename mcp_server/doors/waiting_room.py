"""
The MCP server of a first start: `python -m mcp_server.doors.waiting_room LAUNCHER…`.

Claude Code does not retry a server that failed to start for a quarter of an hour, and holds prompts back
while one is still starting. So this one answers at once, with the standard library alone, while
LAUNCHER makes the Python environment. Then it starts the real server and passes everything on, so that
memory works in the same session.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

from mcp_server.adapters.detached import outliving
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.json_rpc import INVALID_PARAMS, Lines, Refusal, greets, refusals, say

INSTRUCTIONS = (
    "Daybook, the memory across sessions, is being set up (once, about a minute)."
    " Its tools, remember and recall among them, appear when that is done."
)
NOT_YET = "Daybook is still being set up (once, about a minute). Nothing was done; try again later."
FAILED = "Daybook could not be set up, so nothing was done. {}{} Then start a new session."
NOTHING = "{}"
FOR_THE_PERSON = ("command", "pane", "act")  # the module's events for which the person waits


class WaitingRoom:
    """The process between Claude Code and the server that is not ready yet."""

    def __init__(self, *launcher: str) -> None:
        self._launcher = launcher
        self._lock = threading.Lock()  # held while a line is written to either side
        self._greeting: list[bytes] = []  # the client's first messages; the server must hear them, too
        self._greeted = threading.Event()
        self._server: IO[bytes] | None = None
        self._problem = ""

    def serve(self) -> None:
        """Answer, or pass on, until the client closes the pipe."""
        threading.Thread(target=self._set_up, daemon=True).start()
        lines = Lines(sys.stdin.buffer, readable=lambda line: not refusals(line))
        lines.refuse = self._refuse
        while line := lines.readline():
            with self._lock:
                if self._server:
                    self._server.write(line.encode())
                    self._server.flush()
                else:
                    self._answer(line)
        os._exit(0)  # the server ends when its parent does

    def _answer(self, line: str) -> None:
        if not line.strip():
            return
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method == "notifications/initialized" and len(self._greeting) == 1:
            self._greeting.append(line.encode())
            self._greeted.set()
        if "id" in message and method is not None:
            reply = self._reply(method, params)
            if method == "initialize" and "result" in reply and not self._greeting:
                self._greeting.append(line.encode())
            say({"id": message["id"], **reply})

    def _refuse(self, refusal: Refusal) -> None:
        with self._lock:
            refusal.say()

    def _reply(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize" if not greets(params):
                return {"error": {"code": INVALID_PARAMS, "message": "This is no greeting of MCP."}}
            case "initialize":
                result = {
                    "protocolVersion": params.get("protocolVersion"),
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "daybook", "version": "setting-up"},
                    "instructions": INSTRUCTIONS,
                }
            case "ping":
                result = {}
            case "tools/list":
                about = {"description": "For Daybook's hooks only.", "inputSchema": {"type": "object"}}
                result = {"tools": [{"name": HOOK_TOOL, **about}]}
            case "tools/call":
                is_hook = params.get("name") == HOOK_TOOL
                to_model = "Tell the person: "
                text = self._to_module(params.get("arguments")) if is_hook else self._too_early(to_model)
                is_answer = is_hook and text != NOTHING  # otherwise the launcher's hooks do what they can
                result = {"content": [{"type": "text", "text": text}], "isError": not is_answer}
            case _:
                return {"error": {"code": -32601, "message": "Daybook is being set up"}}
        return {"result": result}

    def _too_early(self, to_model: str = "") -> str:
        return FAILED.format(to_model, self._problem) if self._problem else NOT_YET

    def _to_module(self, arguments: object) -> str:
        """Return the answer for the module in the client: a text for the person, or nothing."""
        event = arguments.get("event") if isinstance(arguments, dict) else None
        if event not in FOR_THE_PERSON:
            return NOTHING
        answer = self._too_early()
        pane = {"mark": answer, "tabs": [], "rows": [], "notes": [answer], "status": ""}
        return json.dumps({"text": answer, **pane})

    def _set_up(self) -> None:
        """Make the environment, in a process that outlives us; then start the server."""
        try:
            with tempfile.TemporaryFile() as output:  # a pipe would break when the set-up outlives us
                result = subprocess.run(
                    [*self._launcher, "setup-environment"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=output,
                    **outliving(),
                )
                output.seek(0)
                lines = output.read().decode(errors="replace").split("\n")
        except OSError as error:
            self._problem = f"{self._launcher[-1]} cannot be run: {error.strerror}."
            return
        if result.returncode:
            said_last = next((line for line in reversed(lines) if line), "it gave no reason.")
            self._problem = said_last.removeprefix("daybook: ")
            return
        self._greeted.wait()
        server = subprocess.Popen([*self._launcher, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin and server.stdout
        server.stdin.writelines(self._greeting)
        server.stdin.flush()
        server.stdout.readline()  # its answer to initialize; the client already has ours
        with self._lock:
            self._server = server.stdin
            say({"method": "notifications/tools/list_changed"})
        for line in server.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        os._exit(server.wait())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    WaitingRoom(*sys.argv[1:]).serve()
