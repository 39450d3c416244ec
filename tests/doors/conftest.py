"""`daybook`, run in this process or as a person types it in a terminal, and the tools of a server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Open
from tests.doors.called import Caller, connected
from tests.doors.shell import Run, run_here
from tests.live import ROOT
from tests.person import Agreeing
from tests.recorded import Recorded
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


@pytest.fixture
def call(open_here: Open) -> Iterator[Caller]:
    """Call tools of a server on the store, as Claude does whose person says yes to everything."""
    with connected(open_here(), Agreeing()) as caller:
        yield caller


@pytest.fixture
def session(scratch_home: Path, project: Path) -> Recorded:
    """The transcript of a session, where Claude Code keeps such."""
    return Recorded(scratch_home / ".claude" / "projects" / "shop", cwd=project)


@pytest.fixture
def claude(open_here: Open, session: Recorded) -> Iterator[Caller]:
    """Call tools as Claude does in *session*, in a client without dialogs."""
    with connected(open_here(CLAUDE_CODE_SESSION_ID=session.session)) as caller:
        yield caller
