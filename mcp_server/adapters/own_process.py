"""Daybook's own processes: the worker, which outlives its parent, and test runs of a hook and of a server."""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters.detached import outliving, windowless
from mcp_server.core.settings import HOOKS

if TYPE_CHECKING:
    import subprocess  # slow to load, and would delay the start of a server

ROOT = Path(__file__).resolve().parents[2]
HOOK_TIMEOUT = 5.0  # seconds, as in hooks/hooks.json
SERVER_TIMEOUT = 60.0  # seconds; a quiet machine needs two
_started: "list[subprocess.Popen[bytes]]" = []  # polled now and then, so that no zombie stays


def start_worker(environment: Mapping[str, str]) -> None:
    """Start `daybook work`, detached; it ends on its own. Raises OSError when it cannot be started."""
    import subprocess

    _started[:] = [process for process in _started if process.poll() is None]
    _started.append(
        subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "mcp_server.doors.worker"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **outliving(),
            # If one of our processes ever starts a session, its hooks do nothing.
            env={**environment, "PYTHONPATH": str(ROOT), HOOKS: "off"},
        )
    )


def try_hook() -> str:
    """
    Run the hook of a new session as the launcher does; return what is wrong with its answer, '' for nothing.

    Its input says that the session continues, so the hook notes nothing as shown.
    """
    import subprocess

    payload = json.dumps({"session_id": "doctor", "source": "resume", "hook_event_name": "SessionStart"})
    try:
        result = subprocess.run(
            [sys.executable, "-P", "-s", "-S", "-m", "mcp_server.doors.hooks", "SessionStart"],
            input=payload.encode(),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=HOOK_TIMEOUT,
            check=False,
            **windowless(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error}"
    if result.returncode or result.stderr:
        return f"ended with {result.returncode}: {result.stderr.decode('utf-8', 'replace')[:200]}"
    try:
        json.loads(result.stdout or b"{}")
    except ValueError:
        return "answered something that is not JSON"
    return ""


def try_server() -> str:
    """
    Start a server for an empty store, and ask it what it answers only when all its libraries are loaded.

    Return what is wrong with its answer, as a clause about the server, '' for nothing.
    """
    import subprocess  # only doctor needs these, and hooks load this module
    import tempfile
    from threading import Timer

    with tempfile.TemporaryDirectory(prefix="daybook-") as folder:
        store = {"MEMORY_DIR": str(Path(folder) / "memory"), "EMBEDDING_MODEL": "none"}
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-m", "mcp_server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,  # else closing the pipe to a server that ended would fail
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), **store},
                **windowless(),
            )
        except OSError as error:
            return f"does not run: {error}"
        with process:
            late = Timer(SERVER_TIMEOUT, process.kill)
            late.start()
            try:
                return _asked(process)
            finally:
                late.cancel()
                process.kill()


def _asked(process: "subprocess.Popen[bytes]") -> str:
    """Greet the server *process* and ask it something; return what is wrong with its answer."""
    assert process.stdin and process.stdout
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "doctor", "version": "1"},
    }
    messages = (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "lighthouse"}}},
    )
    with contextlib.suppress(OSError):  # it has ended; what it wrote says why
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    last = ""
    for line in process.stdout:
        last = line.decode("utf-8", "replace").strip() or last
        try:
            answer = json.loads(line)
        except ValueError:
            continue  # a line of its log
        if isinstance(answer, dict) and answer.get("id") == 2:
            failed = "result" not in answer or answer["result"].get("isError")
            return f"answered a question with an error: {last[:200]}" if failed else ""
    return f"ended without an answer: {last[:200]}"
