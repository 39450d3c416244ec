"""A store whose person agreed to model calls."""

import pytest

from mcp_server.store import Store
from tests.actions.learn.learned import open_learning
from tests.conftest import Open
from tests.scripted_model import ScriptedModel


@pytest.fixture
def learning(open_here: Open, model: ScriptedModel) -> Store:
    """A store whose person agreed to model calls."""
    return open_learning(open_here, model)
