"""The folder in which Claude Code keeps its own memory of a project."""

from pathlib import Path

import pytest

from mcp_server.adapters import auto_memory_folder
from mcp_server.adapters.auto_memory_folder import slug_of


@pytest.fixture(autouse=True)
def no_settings_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", auto_memory_folder.OFF):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def claude(scratch_home: Path) -> Path:
    folder = scratch_home / ".claude"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(claude: Path, project: Path) -> Path:
    """The folder that Claude Code keeps for the project, without a topic file."""
    place = claude / "projects" / slug_of(project) / "memory"
    place.mkdir(parents=True)
    return place
