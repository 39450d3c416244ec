"""A store with notes."""

import pytest

from mcp_server.store import Store
from tests.actions.recall.notes import fill


@pytest.fixture
def ids(store: Store) -> dict[str, str]:
    return fill(store)
