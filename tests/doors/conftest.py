"""`daybook`, run as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.shell import Run
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.terminal import Answers, type_in_terminal


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` with the words given; EMBEDDING_MODEL=none unless told otherwise."""

    def run_(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "MEMORY_DIR": str(memory_dir),
            "EMBEDDING_MODEL": "none",
            "PYTHONPATH": str(ROOT),
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words],
            cwd=project,
            env={**os.environ, **settings},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=PATIENCE,
        )

    return run_


@pytest.fixture
def typed(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` as a person who types the words given in a terminal; *answers* are typed when asked."""

    def typed_(*words: str, answers: Answers = (), **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "MEMORY_DIR": str(memory_dir),
            "EMBEDDING_MODEL": "none",
            "PYTHONPATH": str(ROOT),
            **environment,
        }
        return type_in_terminal(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words],
            cwd=project,
            env={**os.environ, **settings},
            answers=answers,
        )

    return typed_
