"""A store whose model answers as it is told."""

from collections.abc import Callable

import pytest

from mcp_server.store import Store
from tests.conftest import Open
from tests.scripted_model import ScriptedModel


@pytest.fixture(autouse=True)
def _used(steady_use: None) -> None:
    """Let the clock be believed."""


@pytest.fixture
def with_model(open_here: Open) -> Callable[[ScriptedModel], Store]:
    def open_(api: ScriptedModel) -> Store:
        return open_here(
            DAYBOOK_MODEL_CALLS="true", ANTHROPIC_API_KEY="sk-test", ANTHROPIC_BASE_URL=api.url
        ).store()

    return open_
