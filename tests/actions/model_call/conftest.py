"""A real server on loopback that keeps its own accounts, and stores that may ask it."""

import os
from collections.abc import Iterator

import pytest

from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.actions.model_call.asking import KEY
from tests.conftest import Open
from tests.scripted_model import ScriptedModel


@pytest.fixture(autouse=True)
def nothing_of_the_tester(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "DAYBOOK_")):
            monkeypatch.delenv(name)


@pytest.fixture
def api() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture
def open_asking(open_here: Open, api: ScriptedModel) -> Open:
    """Open a store whose person has agreed, has a key, and calls the server of the test."""

    def open_(**environment: str) -> Opened:
        return open_here(
            **{
                "DAYBOOK_MODEL_CALLS": "true",
                "ANTHROPIC_API_KEY": KEY,
                "ANTHROPIC_BASE_URL": api.url,
                **environment,
            }
        )

    return open_


@pytest.fixture
def asking(open_asking: Open) -> Store:
    return open_asking().store()
