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
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.mock_anthropic import MockAPI, Request, Turn

KEY = "dummy-for-loopback"
LOOK = 0.1  # seconds between two looks at something that can only be looked at
KEY_LOST = 4.0  # seconds after which a key that changed nothing is pressed again
WAITS = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000"}
"""Lets the client wait for its servers before it asks, as a person who types a prompt does."""
PATIENCE = 30.0  # seconds after which something that should happen does not

needs_tmux = pytest.mark.skipif(
    not shutil.which("tmux"), reason="an interactive session needs tmux, which is not here"
)


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

    def event(self, **wanted: str) -> dict[str, Any]:
        """Return the first event with these values."""
        for event in self.events:
            if wanted.items() <= event.items():
                return event
        raise AssertionError(f"no event {wanted} in {self.stdout}\n{self.stderr}")

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
        done = subprocess.run(
            [self.binary, *args],
            cwd=self.project,
            env=self.environment("http://127.0.0.1:9"),
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
        )
        return Run(done.returncode, done.stdout, done.stderr)

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
        with MockAPI(turns, subagent_turns, memory) as api:
            done = subprocess.run(
                command,
                cwd=self.project,
                env=self.environment(api.url, env),
                input=text,
                check=False,
                capture_output=True,
                encoding="utf-8",
                timeout=100,
            )
            wait_until(until, lambda: f"{done.stdout}\n{done.stderr}")
            return Run(done.returncode, done.stdout, done.stderr, tuple(api.requests))

    def interactive(self) -> "Terminal":
        """Start an interactive session in a terminal of its own (tmux); a context manager."""
        self._accept_first_run()
        return Terminal(self)

    def _accept_first_run(self) -> None:
        """Answer the questions of a first interactive run: theme, API key, trust in the folder."""
        path = self.home / ".claude.json"
        said = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        said |= {"hasCompletedOnboarding": True, "theme": "dark"}
        said["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
        said.setdefault("projects", {}).setdefault(str(self.project), {}).update(
            hasTrustDialogAccepted=True, hasCompletedProjectOnboarding=True
        )
        path.write_text(json.dumps(said), encoding="utf-8")


class Terminal:
    """An interactive client in a private tmux server."""

    def __init__(self, claude: Claude) -> None:
        self.api = MockAPI()
        self._folder = tempfile.mkdtemp()  # a socket's path must be short
        environment = [f"{name}={value}" for name, value in claude.environment(self.api.url).items()]
        command = shlex.join(["env", "-i", *environment, str(claude.binary)])
        self._tmux("new-session", "-d", "-x", "180", "-y", "50", "-c", str(claude.project), command)

    def __enter__(self) -> "Terminal":
        self._wait_for_screen("❯")
        return self

    def __exit__(self, *_: object) -> None:
        # A client that is still ending writes its settings over those that the next one is given.
        for client in self._tmux("list-panes", "-F", "#{pane_pid}").split():
            os.kill(int(client), signal.SIGHUP)
        wait_until(lambda: not self._tmux("list-panes"), self._screen)
        self.api.__exit__()
        shutil.rmtree(self._folder, ignore_errors=True)

    def send(self, text: str, turns: Sequence[Turn]) -> list[Request]:
        """Type *text*, press Enter, wait until *turns* were played, the last a text; return the requests."""
        before = len(self.api.main())
        arrived = functools.partial(self.api.wait_for_main, before + 1)
        self.api.add(turns)
        self._tmux("send-keys", "-l", text)
        self._wait_for_screen(rf"❯\s{re.escape(text)}\s*$")
        # An Enter that follows too closely counts as a part of the text: then another one is needed.
        wait_until(lambda: self._tmux("send-keys", "Enter") or arrived(2), self._screen)
        assert self.api.wait_for_main(before + len(turns), PATIENCE), self._screen()
        self._wait_for_screen(re.escape(str(turns[-1])))
        return self.api.main()[before:]

    def ask(self, text: str, turns: Sequence[Turn], answers: Sequence[tuple[str, str]]) -> list[Request]:
        """
        Do as `send` does while a dialog is answered: each of *answers* is a pattern and the key pressed then.

        A key that a dialog is not ready for is lost, so it is pressed until the next pattern is there.
        """
        before = len(self.api.main())
        arrived = functools.partial(self.api.wait_for_main, before + 1)
        self.api.add(turns)
        self._tmux("send-keys", "-l", text)
        self._wait_for_screen(rf"❯\s{re.escape(text)}\s*$")
        wait_until(lambda: self._tmux("send-keys", "Enter") or arrived(2), self._screen)
        self._wait_for_screen(answers[0][0])
        then = [pattern for pattern, _ in answers[1:]] + [re.escape(str(turns[-1]))]
        for (_, key), next_pattern in zip(answers, then, strict=True):
            wait_until(functools.partial(self._pressed, key, next_pattern), self._screen)
        assert self.api.wait_for_main(before + len(turns), PATIENCE), self._screen()
        return self.api.main()[before:]

    def _pressed(self, key: str, pattern: str) -> bool:
        """Press *key*; tell whether the screen shows *pattern* within some seconds."""
        self._tmux("send-keys", key)
        end = time.monotonic() + KEY_LOST
        while time.monotonic() < end:
            if re.search(pattern, self._screen(), re.MULTILINE):
                return True
            time.sleep(LOOK)
        return False

    def _wait_for_screen(self, pattern: str) -> None:
        wait_until(lambda: re.search(pattern, self._screen(), re.MULTILINE), self._screen)

    def _screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-100")

    def _tmux(self, *args: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", f"{self._folder}/s", "-f", "/dev/null", *args],
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        return done.stdout


def wait_until(holds: Callable[[], object], told: Callable[[], str] = str) -> None:
    """Look until *holds* says so; *told* says what there was to see when it never did."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, told()
        time.sleep(LOOK)
