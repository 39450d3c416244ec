"""A server that runs as Claude Code runs it, spoken to line by line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

CLIENT = {"name": "claude-code", "version": "2"}
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": CLIENT}
Said = dict[str, Any]


def call_of(hook: Said) -> tuple[str, Said]:
    """Return the call of the tool `hook` with these arguments."""
    return "tools/call", {"name": "hook", "arguments": hook}


def messages(requests: list[tuple[str, Said]]) -> list[Said]:
    lines: list[Said] = []
    for number, (method, params) in enumerate(requests):
        lines.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if method == "initialize":
            lines.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return lines


class Server:
    """A server that runs as Claude Code runs it."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mcp_server"],
            env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def tell(self, message: Said) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, message: Said) -> Said:
        self.tell(message)
        answer = self.hear()
        assert answer["id"] == message["id"]
        return answer

    def hear(self) -> Said:
        assert self._process.stdout
        return dict(json.loads(self._process.stdout.readline()))

    def results(self, requests: list[tuple[str, Said]]) -> list[Said]:
        lines = messages(requests)
        return [self.ask(line)["result"] for line in lines if "id" in line or self.tell(line)]

    def loaded(self) -> set[str]:
        """Return which shared libraries of slow packages the process has loaded."""
        maps = Path(f"/proc/{self._process.pid}/maps").read_text(encoding="utf-8")
        return {name for name in ("pydantic_core", "numpy", "onnxruntime") if f"/{name}/" in maps}

    def runs_a_loop(self) -> bool:
        """Tell whether the process has an event loop, as the library has and nothing before it."""
        opened = Path(f"/proc/{self._process.pid}/fd").iterdir()
        # Not readlink, which fails on what was closed meanwhile.
        return any(os.path.realpath(link).endswith("anon_inode:[eventpoll]") for link in opened)

    def ends(self) -> None:
        """Wait until the process ends by itself."""
        self._process.wait(timeout=PATIENCE)

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        self._process.wait(timeout=PATIENCE)
