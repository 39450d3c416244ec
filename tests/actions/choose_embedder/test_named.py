"""How a model is named, and what is told of each."""

from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.choose_embedder import list_models, progress, setting_of
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.stats import get_stats
from mcp_server.core.embedding_models import NAMES
from mcp_server.core.errors import Rejected, SettingsError
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.core.settings import parse_settings
from mcp_server.store import Store
from tests.actions.choose_embedder.chosen import Chosen


@pytest.mark.feature("B-33", "B-49", "3.4-unknown-model")
def test_every_name_and_any_absolute_path_is_a_setting() -> None:
    for name in NAMES:
        assert parse_settings({"EMBEDDING_MODEL": name.upper()}, {}).embedding_model == name
    assert parse_settings({"EMBEDDING_MODEL": "/My/Model"}, {}).embedding_model == "/My/Model"
    for wrong in ("model", "minilm-l7", "models/mine", "./mine", "~/mine"):
        with pytest.raises(SettingsError, match=f"EMBEDDING_MODEL is '{wrong}'") as refused:
            parse_settings({"EMBEDDING_MODEL": wrong}, {})
        assert "minilm-l6" in refused.value.hint


def test_a_folder_may_be_named_from_where_one_stands(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)

    assert setting_of("old") == setting_of("./old") == str(models / "old")
    assert setting_of("MiniLM-L12") == "minilm-l12"
    with pytest.raises(Rejected, match="no embedding model 'quagga'"):
        setting_of("quagga")


def test_the_list_tells_what_is_here_and_what_is_in_use(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    listed = {model.name: model for model in list_models(store)}

    assert [name for name, model in listed.items() if model.here] == [
        "minilm-l6", str(models / "new"),
    ]  # fmt: skip
    assert [name for name, model in listed.items() if model.chosen] == [str(models / "new")]


def test_without_a_model_none_answers(filled: Chosen) -> None:
    store = filled.use("none")

    assert store.meaning() is None
    assert embed_pending(store) == 0
    assert progress(store).embedded == 0
    assert not recall(store, Query("quagga")).semantic


def test_nothing_waits_to_be_embedded_when_no_model_is_to(store: Store) -> None:
    remember(store, Draft("Port", "Staging listens on 8080."))

    stats = get_stats(store)

    assert (stats.model, stats.passages, stats.pending) == ("none", 1, 0)
