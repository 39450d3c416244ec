"""A real server process, spoken to as a client does: one JSON object for each line."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_server.core.settings import TOOLSETS
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "0"},
}


def environment(memory_dir: Path, project: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server on *memory_dir* that searches by words only and has every tool."""
    return {
        **os.environ,
        "DAYBOOK_TOOLSETS": " ".join(TOOLSETS),
        "PYTHONPATH": str(ROOT),
        "MEMORY_DIR": str(memory_dir),
        "CLAUDE_PROJECT_DIR": str(project),
        "EMBEDDING_MODEL": "none",
        **more,
    }


class Served:
    """
    One server; `noise` is what it wrote to stdout that is not a JSON object on a line, `passed` are the
    messages that came while an answer was waited for.
    """

    def __init__(self, memory_dir: Path, project: Path, **more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mcp_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(memory_dir, project, **more),
            cwd=project,
        )
        self.noise: list[bytes] = []
        self.passed: list[dict[str, Any]] = []
        self._left = b""
        self._number = 0

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()

    def greet(self) -> "Served":
        """Do what every client does first."""
        assert "result" in self.ask("initialize", HELLO)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def ready(self) -> "Served":
        """Greet the server, and wait until it has loaded what its tools need."""
        self.greet().call("list_memories")
        return self

    def send(self, message: object) -> None:
        """Write one line: bytes as they are, anything else as JSON."""
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """Send a request and return the response to it; fail when none comes in time."""
        self._number += 1
        number = f"ask-{self._number}"
        request = {"jsonrpc": "2.0", "id": number, "method": method}
        self.send(request if params is None else {**request, "params": params})
        end = time.monotonic() + PATIENCE
        while message := self.next_line(end):
            if message.get("id") == number:
                return message
            self.passed.append(message)
        raise AssertionError(f"no answer to {method} within {PATIENCE} s; exit code {self.process.poll()}")

    def call(self, tool: str, **arguments: object) -> str:
        """Call a tool and return its text."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        content = answer.get("result", {}).get("content", [])
        return "".join(part.get("text", "") for part in content) or json.dumps(answer)

    def next_line(self, end: float) -> dict[str, Any] | None:
        """Return the next JSON object that the server writes, None when none comes before *end*."""
        assert self.process.stdout
        while True:
            line, feed, rest = self._left.partition(b"\n")
            if feed:
                self._left = rest
                try:
                    message = json.loads(line)
                except ValueError:
                    message = None
                if isinstance(message, dict):
                    return message
                self.noise.append(line)
                continue
            seconds_left = end - time.monotonic()
            if seconds_left <= 0 or not select.select([self.process.stdout], [], [], seconds_left)[0]:
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                return None
            self._left += part


def eventually(holds: Callable[[], bool], condition: str) -> None:
    """Return when *holds* holds; fail when it does not in time."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {condition}"
        select.select([], [], [], 0.02)
