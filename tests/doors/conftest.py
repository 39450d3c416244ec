"""`daybook`, run in this process, or as a person types it in a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.shell import Run, run_here
from tests.live import ROOT
from tests.terminal import Answers, type_in_terminal


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` with the words given; EMBEDDING_MODEL=none unless told otherwise."""

    def run_(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", **environment}
        return run_here(words, folder=project, environment=settings, stdin=stdin)

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
