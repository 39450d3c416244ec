"""A store that knows something, and a file to tell it in."""

from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.claude_md.block import MINE


@pytest.fixture
def store(store: Store) -> Store:
    remember(store, Draft("Postgres, not MySQL", "The reports need window functions.", type="decision"))
    return store


@pytest.fixture
def document(project: Path) -> Path:
    path = project / "CLAUDE.md"
    path.write_bytes(MINE.encode())
    return path
