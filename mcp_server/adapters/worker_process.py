"""The worker as a process of its own: it outlives whoever started it and holds none of its streams."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_started: list[subprocess.Popen[bytes]] = []  # asked now and then how they ended, or they would stay zombies


def start_worker(environment: Mapping[str, str]) -> None:
    """Start `daybook work`, detached; it ends by itself. Raises OSError when no process can be had."""
    _started[:] = [process for process in _started if process.poll() is None]
    _started.append(
        subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "mcp_server.doors.worker"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            # Should anything of ours ever start a session, its hooks do nothing.
            env={**environment, "PYTHONPATH": str(ROOT), "DAYBOOK_HOOKS": "off"},
        )
    )
