"""A model that is not here, cannot be loaded or has been replaced, and what is read beside one."""

import shutil
from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.checks import CheckedPart
from mcp_server.actions.status.doctor import doctor
from mcp_server.actions.status.status import status
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.embedding import load_embedder
from tests.actions.choose_embedder.chosen import (
    TITLES,
    Chosen,
    ask,
    stored_models,
    who_answers,
)
from tests.conftest import Open
from tests.live import ROOT
from tests.tiny_model import make_model


@pytest.mark.feature("B-44")
def test_a_model_that_is_not_here_is_told_and_words_answer(filled: Chosen, open_here: Open) -> None:
    store = open_here(EMBEDDING_MODEL="mpnet-base").store()

    assert embed_pending(store) == 0
    assert [hit.title for hit in recall(store, Query(TITLES[0], limit=1)).hits] == [TITLES[0]]
    assert stored_models(store) == {"old"}  # for who chooses it again
    assert "'mpnet-base' is not on this machine" in progress(store).problem
    needs = needs_of(status(store, has_key=False))
    assert any("'mpnet-base' is not on this machine" in need for need in needs)
    checks = {check.part: check for check in doctor(store, plugin=ROOT)}
    assert not checks[CheckedPart.EMBEDDING_MODEL].well
    assert "mpnet-base" in str(checks[CheckedPart.EMBEDDING_MODEL].seen)


def test_with_no_model_that_can_be_loaded_the_words_answer(open_here: Open) -> None:
    store = open_here(EMBEDDING_MODEL="mpnet-base").store()
    remembered = remember(store, Draft("Quagga", "The quagga is extinct."))

    assert embed_pending(store) == 0
    answer = recall(store, Query("quagga"))

    assert not answer.semantic
    assert [hit.id for hit in answer.hits] == [remembered.memory.id]
    assert "not on this machine" in store.meaning.problem


def test_a_folder_whose_files_are_replaced_is_another_model(chosen: Chosen, tmp_path: Path) -> None:
    place = make_model(tmp_path / "mine", dimensions=8)
    store = chosen.use(place)
    remember(store, Draft("Quagga", "The quagga is extinct."))
    embed_pending(store)
    shutil.rmtree(place)
    make_model(place, dimensions=16, seed=5)

    store = chosen.another_process()

    assert embed_pending(store) == 1
    assert ask(store).hits[0].parts.cosine is not None
    assert progress(store).embedded == 1


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("missing", [True, False])
def test_a_folder_that_cannot_be_loaded_is_refused_and_nothing_changes(
    filled: Chosen, models: Path, tmp_path: Path, broken: str, missing: bool
) -> None:
    shutil.copytree(models / "new", tmp_path / "broken")
    (tmp_path / "broken" / broken).unlink()
    if not missing:
        (tmp_path / "broken" / broken).write_bytes(b"{")
    config = (filled.opened.home / "config.toml").read_bytes()

    with pytest.raises(EmbedderUnavailable, match="it lacks" if missing else "cannot be loaded"):
        filled.use(tmp_path / "broken")

    assert (filled.opened.home / "config.toml").read_bytes() == config
    assert who_answers(filled.store) == "old"


def test_how_a_model_makes_one_vector_is_read_beside_it(models: Path, tmp_path: Path) -> None:
    for name, config in (
        ("first", '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'),
        ("mean", '{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}'),
        ("odd", '{"pooling_mode_weightedmean_tokens": true}'),
    ):
        shutil.copytree(models / "old", tmp_path / name)
        (tmp_path / name / "1_Pooling").mkdir()
        (tmp_path / name / "1_Pooling/config.json").write_text(config, encoding="utf-8")
    plain, first, mean = (
        load_embedder(tmp_path, str(folder))
        for folder in (models / "old", tmp_path / "first", tmp_path / "mean")
    )

    assert plain.embed_queries(["quagga"])[0] == mean.embed_queries(["quagga"])[0]
    quagga, zebra = first.embed_queries(["quagga"])[0].vector, first.embed_queries(["zebra"])[0].vector
    assert quagga == zebra != mean.embed_queries(["quagga"])[0].vector
    with pytest.raises(EmbedderUnavailable, match="does not support"):
        load_embedder(tmp_path, str(tmp_path / "odd"))


def test_what_stands_before_questions_and_passages_is_read_beside_it(models: Path, tmp_path: Path) -> None:
    place = shutil.copytree(models / "old", tmp_path / "prefixed")
    (place / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "query: ", "passage": "passage: "}}', encoding="utf-8"
    )
    plain, prefixed = load_embedder(tmp_path, str(models / "old")), load_embedder(tmp_path, str(place))

    assert prefixed.embed_queries(["quagga"])[0] == plain.embed_queries(["query: quagga"])[0]
    assert prefixed.embed_passages(["quagga"]) == plain.embed_passages(["passage: quagga"])
