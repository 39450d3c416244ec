"""
The real Claude Code client, driven offline: an environment of its own, and the scripted API as its model.

    claude = Claude(binary, home=home, project=project, env={"MEMORY_DIR": store})
    run = claude.prompt("hello", [call("recall", query="hello"), "hi"])
    run.main[0].hook_context("SessionStart")  # what our hook put into the first request
    with claude.interactive() as terminal: terminal.send("hello", ["hi"])
"""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.mock_anthropic import MockAPI, Request, Turn
from harness.terminal import PATIENCE, Terminal, wait_until

KEY = "dummy-for-loopback"
WAITS = {
    "MCP_CONNECTION_NONBLOCKING": "false",
    "MCP_CONNECT_TIMEOUT_MS": "60000",
    "MCP_TIMEOUT": "120000",  # ms, for on a busy machine a server that starts is slow, and then given up
}
"""Lets the client wait for its servers before it asks, as a person who types a prompt does."""
ORPHANED = 'exec 3<&0; { "$@"; echo $? >"$0"; } <&3 3<&- &'
"""
Runs a client that has none of our processes above it: Claude Code may have started the tests, and nothing
that is typed in a client that Claude started is the person's. How it ends is written into the first argument.
"""


@dataclass(frozen=True)
class Run:
    """What one run of the client said and asked."""

    code: int
    stdout: str
    stderr: str
    requests: Sequence[Request] = ()

    @property
    def main(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "main"]

    @property
    def memory(self) -> list[Request]:
        """What our worker asked."""
        return [request for request in self.requests if request.kind == "memory"]

    @property
    def side(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "side"]

    @property
    def subagent(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "subagent"]

    @functools.cached_property
    def events(self) -> list[dict[str, Any]]:
        """The lines of stream-json."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    def event(self, **fields: str) -> dict[str, Any]:
        """Return the first event with these values."""
        for event in self.events:
            if fields.items() <= event.items():
                return event
        raise AssertionError(f"no event {fields} in {self.stdout}\n{self.stderr}")

    def hook(self, event: str) -> dict[str, Any]:
        """Return the first hook of *event* that ended: `output`, `exit_code`, `outcome`."""
        return self.event(subtype="hook_response", hook_event=event)

    @property
    def hooks_said(self) -> list[str]:
        """What hooks that did not fail answered, empty answers left out."""
        ended = [event for event in self.events if event.get("subtype") == "hook_response"]
        outputs = [event["output"] for event in ended if event["outcome"] == "success"]
        return [output for output in outputs if output.strip() not in ("", "{}")]

    @property
    def answer(self) -> str:
        return str(self.event(type="result")["result"])

    @property
    def session(self) -> str:
        return str(self.event(type="system", subtype="init")["session_id"])

    @property
    def tool_results(self) -> list[str]:
        """What the model saw of each tool call, as of its last request."""
        return self.main[-1].tool_results()


class Claude:
    """A person's Claude Code; *env* is what hooks and servers see besides the usual."""

    def __init__(self, binary: Path, *, home: Path, project: Path, env: Mapping[str, str]) -> None:
        self.binary, self.home, self.project, self.env = binary, home, project, dict(env)

    def environment(self, url: str, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment, with the model at *url*."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **self.env,
            **(env or {}),
        }

    def cli(self, *args: str | Path) -> Run:
        """Run a subcommand like `plugin validate`; it needs no model."""
        process = subprocess.run(
            [self.binary, *args],
            cwd=self.project,
            env=self.environment("http://127.0.0.1:9"),
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        return Run(process.returncode, process.stdout, process.stderr)

    def install(self, plugin: Path) -> None:
        """Install *plugin*, the folder of which is its marketplace too."""
        for command in (["marketplace", "add", str(plugin)], ["install", "daybook@daybook"]):
            run = self.cli("plugin", *command)
            assert run.code == 0, run.stdout + run.stderr

    def install_changed(self, plugin: Path, folder: Path, change: Callable[[Path], object]) -> None:
        """Install a copy of *plugin* that *change* changed, for a new HOME; both are in *folder*."""
        copy, self.home = folder / "changed" / "daybook", folder / "home"
        shutil.copytree(plugin, copy, symlinks=True)
        self.home.mkdir()
        change(copy)
        self.install(copy)

    def prompt(
        self,
        text: str,
        turns: Sequence[Turn] = ("ok",),
        *,
        subagent_turns: Sequence[Turn] = (),
        args: Sequence[str] = (),
        resume: str = "",
        env: Mapping[str, str] | None = None,
        memory: Callable[[Request], str] = lambda request: "[]",
        until: Callable[[], object] = lambda: True,
    ) -> Run:
        """
        Run `claude -p` in the default permission mode; *text* is given on stdin and may be of any size.

        *memory* answers the worker, which may ask after the client has ended: the API goes on *until*.
        """
        command = [self.binary, "-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"]
        command += ["--permission-mode", "default", *(["--resume", resume] if resume else []), *args]
        with MockAPI(turns, subagent_turns, memory) as api, tempfile.NamedTemporaryFile() as ended:
            process = subprocess.run(
                ["sh", "-c", ORPHANED, ended.name, *command],
                cwd=self.project,
                env=self.environment(api.url, env),
                input=text,
                check=False,
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE,
            )
            wait_until(until, lambda: f"{process.stdout}\n{process.stderr}")
            return Run(int(ended.read()), process.stdout, process.stderr, tuple(api.requests))

    def interactive(self, *, columns: int = 180, rows: int = 50) -> "Terminal":
        """Start an interactive session in a terminal of its own (tmux) of that size; a context manager."""
        self._accept_first_run()
        return Terminal(
            self.binary, project=self.project, environment=self.environment, columns=columns, rows=rows
        )

    def _accept_first_run(self) -> None:
        """Answer the questions of a first interactive run: theme, API key, trust in the folder."""
        path = self.home / ".claude.json"
        settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        settings |= {"hasCompletedOnboarding": True, "theme": "dark"}
        settings["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
        settings.setdefault("projects", {}).setdefault(str(self.project), {}).update(
            hasTrustDialogAccepted=True, hasCompletedProjectOnboarding=True
        )
        path.write_text(json.dumps(settings), encoding="utf-8")
