"""A hook of Claude Code's, run as the launcher runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.live import ROOT
from tests.patience import PATIENCE


def run_hook(
    memory_dir: Path, event: str, event_json: object, *, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """
    Run the hook of *event* on the store in *memory_dir*, and return its end.

    *said* is what the client writes: bytes as they are, anything else as JSON. *folder* is the project that
    the client names, *environment* what else it sets.
    """
    settings = {"MEMORY_DIR": str(memory_dir), "PYTHONPATH": str(ROOT)}
    settings |= {"CLAUDE_PROJECT_DIR": str(folder)} if folder else {}
    return subprocess.run(
        [sys.executable, "-P", "-s", "-S", "-m", "mcp_server.doors.hooks", event],
        input=event_json if isinstance(event_json, bytes) else json.dumps(event_json).encode(),
        env={**os.environ, **settings, **environment},
        capture_output=True,
        timeout=PATIENCE,
    )
