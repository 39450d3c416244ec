"""Fixtures: programs that run beside the tests, as processes of their own."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, Wait
from tests.patience import PATIENCE

PROGRAMS = Path(__file__).parent / "programs"
ROOT = PROGRAMS.parent.parent.parent
LONGEST = 800.0  # seconds of a program on a machine that is ten times slower than ours; a test has 900


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """What these tests are about is on a disk; `quick_folder` is for those that ask only about kills."""
    return on_disk


@pytest.fixture
def run_program() -> Run:
    """Run a program of `programs/` to its end, and return the JSON that it prints."""

    def run(name: str, *args: object) -> dict[str, Any]:
        process = subprocess.run(
            [sys.executable, str(PROGRAMS / f"{name}.py"), *map(str, args)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "EMBEDDING_MODEL": "none"},
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        report: dict[str, Any] = json.loads(process.stdout)
        return report

    return run


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a kill does not ask how fast the disk is."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK):
        with tempfile.TemporaryDirectory(dir=memory, prefix="daybook-test-") as folder:
            yield Path(folder)
    else:
        yield tmp_path


@pytest.fixture
def wait_until_in() -> Wait:
    """Return when a thread is stuck in the function of that name; fail when it does not get there."""

    def wait(thread: threading.Thread, function: str) -> None:
        end, times_seen, pause = time.monotonic() + PATIENCE, 0, threading.Event()
        while time.monotonic() < end and times_seen < 5:
            frame = sys._current_frames().get(thread.ident or 0)
            times_seen = times_seen + 1 if frame and frame.f_code.co_name == function else 0
            pause.wait(0.002)
        assert times_seen == 5, f"the thread did not wait in {function}"

    return wait
