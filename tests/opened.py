"""A store as a process of its own sees it, which searches by words only."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp_server import bootstrap
from mcp_server.bootstrap import Opened

ROOT = Path(__file__).resolve().parents[1]
DAYBOOK = (sys.executable, "-P", "-m", "mcp_server.doors.cli")


def opened_at(memory_dir: Path, folder: Path = Path("/"), **more: Any) -> Opened:
    """Open the store in *memory_dir* from *folder*; its clock may be among *more*, with settings."""
    clock = more.pop("clock", bootstrap.now)
    settings = {**os.environ, "MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", **more}
    return Opened(settings, folder=folder, clock=clock)


def run_daybook(
    memory_dir: Path, *words: str, cwd: Path = Path("/"), typed: bool = False, **more: str
) -> subprocess.CompletedProcess[str]:
    """
    Run a command of `daybook` on the store in *memory_dir* from *cwd*; *more* is its environment.

    With *typed* a person types it in a terminal; then all that stood on the screen is its `stdout`.
    """
    settings = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT), **more}
    environment = {**os.environ, **settings}
    if typed:
        from tests.terminal import type_in_terminal  # needs more than Windows has

        return type_in_terminal([*DAYBOOK, *words], cwd=cwd, env=environment)
    return subprocess.run(
        [*DAYBOOK, *words], env=environment, cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
