"""Daybook's own processes: the worker, which outlives its parent, and a test run of a hook."""

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
