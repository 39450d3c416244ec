"""A store whose person agreed to model calls."""

from collections.abc import Callable

import pytest

from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.actions.learn.learned import open_learning
from tests.scripted_model import ScriptedModel


@pytest.fixture
def learning(open_here: Callable[..., Opened], model: ScriptedModel) -> Store:
    """A store whose person agreed to model calls."""
    return open_learning(open_here, model)
