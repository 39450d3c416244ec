"""Two models, and stores that use them."""

from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.memory import Draft
from tests.actions.choose_embedder.chosen import MEMORIES, TITLES, Chosen
from tests.conftest import Open
from tests.tiny_model import make_model


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that differ in their dimensions, and a copy of the second with other vectors."""
    folder = tmp_path_factory.mktemp("models")
    make_model(folder / "old", dimensions=8)
    make_model(folder / "new", dimensions=12, seed=1)
    return folder


@pytest.fixture
def chosen(open_here: Open) -> Chosen:
    return Chosen(open_here)


@pytest.fixture
def filled(chosen: Chosen, models: Path) -> Chosen:
    """A store whose memories are all embedded by the old model."""
    store = chosen.use(models / "old")
    for title in TITLES:
        remember(store, Draft(title, f"What is known of {title}."))
    embed_pending(store)
    assert progress(store).embedded == MEMORIES
    return chosen
