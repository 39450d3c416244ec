"""Choosing another embedding model: it is computed beside the one that answers, then one switch."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_server.actions import doctor, embed
from mcp_server.actions.choose_embedder import choose, list_models, progress, setting_of
from mcp_server.actions.embed import embed_pending, pending
from mcp_server.actions.forget import forget
from mcp_server.actions.list import get_stats
from mcp_server.actions.recall import recall
from mcp_server.actions.remember import remember
from mcp_server.actions.revise import Revision, revise
from mcp_server.actions.sync import rebuild
from mcp_server.adapters.index import vectors
from mcp_server.bootstrap import Opened
from mcp_server.core.embedding_models import NAMES
from mcp_server.core.errors import EmbedderUnavailable, Rejected, SettingsError
from mcp_server.core.memory import Draft
from mcp_server.core.query import Answer, Mode, Query
from mcp_server.core.settings import parse_settings
from mcp_server.meanings import load_embedder
from mcp_server.store import Store
from tests.live import ROOT
from tests.tiny_model import make_model

MEMORIES = 40  # more than two batches
TITLES = [
    f"{word} number {n}" for n, word in enumerate(["quagga", "zebra", "okapi", "tapir"] * (MEMORIES // 4))
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that differ in their dimensions, and a copy of the second with other vectors."""
    folder = tmp_path_factory.mktemp("models")
    make_model(folder / "old", dimensions=8)
    make_model(folder / "new", dimensions=12, seed=1)
    return folder


class Chosen:
    """A store of its own process whose model is named in config.toml, as `daybook model use` does."""

    def __init__(self, open_here: Callable[..., Opened]) -> None:
        self._open = open_here
        self.opened = open_here(EMBEDDING_MODEL="")

    @property
    def store(self) -> Store:
        return self.opened.store()

    def use(self, setting: Path | str) -> Store:
        choose(self.store, str(setting), load=lambda one: load_embedder(self.opened.home, one))
        return self.store

    def another_process(self) -> Store:
        return self._open(EMBEDDING_MODEL="").store()


@pytest.fixture
def chosen(open_here: Callable[..., Opened]) -> Chosen:
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


def ask(store: Store, question: str = "quagga") -> Answer:
    return recall(store, Query(question, mode=Mode.SEMANTIC))


def found_by_meaning(store: Store) -> set[str]:
    hits = recall(store, Query("seen", mode=Mode.SEMANTIC, limit=50)).hits
    return {hit.id for hit in hits if hit.parts.cosine is not None}


def who_answers(store: Store) -> str:
    """Return the folder of the model whose query and vectors a search really uses."""
    meaning = store.meaning()
    assert meaning
    best = ask(store, TITLES[0]).hits[0]
    assert best.parts.cosine is not None
    with store.database.read() as db:
        (vector,) = db.execute(
            "SELECT v.embedding FROM vectors v JOIN passages p ON p.row = v.passage JOIN memories m"
            " ON m.row = p.memory WHERE m.id = ? AND v.model = ?",
            (best.id, meaning.embedder.model),
        ).fetchone()
    assert len(vector) == 4 * meaning.embedder.dimensions
    return meaning.embedder.model.rpartition("-")[0]


def stored_models(store: Store) -> set[str]:
    with store.database.read() as db:
        return {row[0].rpartition("-")[0] for row in db.execute("SELECT DISTINCT model FROM vectors")}


class Stop(Exception):
    pass


@contextmanager
def stopped_after(batches: int) -> Iterator[Callable[[int], None]]:
    """Give a progress that ends the work after that many batches."""
    left = [batches]

    def advance(_: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise Stop

    with pytest.raises(Stop):
        yield advance


# The switch


def test_the_old_model_answers_until_the_new_one_has_every_vector(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    before = [(hit.id, hit.score) for hit in ask(store).hits]
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)

    halfway = progress(store)
    assert (halfway.computed, halfway.embedded) == (32, MEMORIES)
    assert halfway.answers == str(models / "old")
    assert who_answers(store) == "old"
    assert [(hit.id, hit.score) for hit in ask(store).hits] == before

    assert embed_pending(store) == MEMORIES - 32
    assert progress(store).answers == str(models / "new")
    assert who_answers(store) == "new"
    assert stored_models(store) == {"new"}


def test_the_switch_reaches_processes_that_were_there_before(filled: Chosen, models: Path) -> None:
    there = filled.another_process()
    assert who_answers(there) == "old"

    embed_pending(filled.use(models / "new"))

    assert who_answers(there) == "new"


def test_a_process_that_was_there_before_does_not_switch_back(
    filled: Chosen, models: Path, open_here: Callable[..., Opened]
) -> None:
    there = open_here(EMBEDDING_MODEL="")
    embed_pending(there.store())

    embed_pending(filled.use(models / "new"))

    assert embed_pending(there.store()) == 0
    assert who_answers(there.store()) == "new"


def test_what_is_written_meanwhile_is_found_by_meaning_at_once(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(1) as advance:
        embed_pending(store, progress=advance)
    written = remember(store, Draft("Thylacine", "A thylacine was seen."))
    assert pending(store) == 1

    assert embed_pending(store, coming=False) == 1

    assert written.memory.id in found_by_meaning(store)
    assert progress(store).answers == str(models / "old")
    embed_pending(store)
    assert written.memory.id in found_by_meaning(store)
    assert who_answers(store) == "new"


def test_what_is_edited_keeps_the_vectors_of_both(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)
    known = progress(store)
    newest = recall(store, Query(TITLES[-1], mode=Mode.KEYWORD)).hits[0].id

    revise(store, newest, Revision(tags=("seen",)))

    assert progress(store) == known


def test_what_is_forgotten_loses_the_vectors_of_both(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)
    newest = recall(store, Query(TITLES[-1], mode=Mode.KEYWORD)).hits[0].id

    forget(store, newest, forever=True)

    after = progress(store)
    assert (after.passages, after.embedded, after.computed) == (MEMORIES - 1, MEMORIES - 1, 31)


def test_there_is_no_switch_while_one_passage_lacks_its_vector(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(3) as advance:  # all are done, and the switch is next
        embed_pending(store, progress=advance)
    remember(store, Draft("Thylacine", "A thylacine was seen."))
    coming = store.embedder()
    assert coming

    assert not embed.change_over(store, coming)
    assert progress(store).answers == str(models / "old")


def test_choosing_back_before_the_switch_changes_nothing(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(1) as advance:
        embed_pending(store, progress=advance)

    store = filled.use(models / "old")

    assert embed_pending(store) == 0
    assert who_answers(store) == "old"


def test_a_new_choice_while_one_is_computed_drops_what_was_computed(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(1) as advance:
        embed_pending(store, progress=advance)
    store = filled.use("minilm-l6")
    embed_pending(store)

    assert who_answers(store) == "minilm-l6"
    assert stored_models(store) == {"minilm-l6"}


KILLED = """
import os, signal, sys
from mcp_server.actions.embed import embed_pending
from mcp_server.bootstrap import Opened

left = int(sys.argv[1])

def advance(_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

embed_pending(Opened().store(), progress=advance)
"""


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_killed_while_computing_it_goes_on_where_it_was(filled: Chosen, models: Path, batches: int) -> None:
    filled.use(models / "new")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MEMORY_DIR": str(filled.opened.home)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(batches)], env=environment, timeout=60)
    assert done.returncode == -signal.SIGKILL

    store = filled.another_process()

    computed = min(16 * batches, MEMORIES)
    assert progress(store).computed == computed
    assert who_answers(store) == "old"
    assert embed_pending(store) == MEMORIES - computed
    assert (who_answers(store), stored_models(store)) == ("new", {"new"})


def test_killed_after_the_switch_the_old_vectors_go_all_the_same(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)
    computing = store.embedder()
    assert computing
    with store.database.write() as db:  # all that is done before the old vectors are deleted
        vectors.answer_with(db, vectors.Answering(computing.model, str(models / "new")))
    assert stored_models(store) == {"old", "new"}

    embed_pending(store)

    assert stored_models(store) == {"new"}
    assert progress(store).embedded == MEMORIES


def test_an_index_made_anew_answers_with_the_chosen_model(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    rebuild(store)
    embed_pending(store)

    assert (who_answers(store), stored_models(store)) == ("new", {"new"})


# What is missing or broken


def test_a_model_that_is_not_here_leaves_the_one_before_and_is_told(
    filled: Chosen, open_here: Callable[..., Opened]
) -> None:
    store = open_here(EMBEDDING_MODEL="mpnet-base").store()

    assert embed_pending(store) == 0
    assert who_answers(store) == "old"
    assert "'mpnet-base' is not on this machine" in progress(store).problem
    needs = doctor.status(store, has_key=False).needs
    assert any("'mpnet-base' is not on this machine" in need for need in needs)
    checks = {check.name: check for check in doctor.doctor(store, plugin=ROOT)}
    assert not checks["embedding model"].well
    assert "mpnet-base" in checks["embedding model"].seen


def test_with_no_model_that_can_be_loaded_the_words_answer(open_here: Callable[..., Opened]) -> None:
    store = open_here(EMBEDDING_MODEL="mpnet-base").store()
    written = remember(store, Draft("Quagga", "The quagga is extinct."))

    assert embed_pending(store) == 0
    answer = recall(store, Query("quagga"))

    assert not answer.semantic
    assert [hit.id for hit in answer.hits] == [written.memory.id]
    assert "not on this machine" in getattr(store.meaning, "problem", "")


def test_when_the_model_that_answers_is_gone_the_chosen_one_takes_its_place(
    filled: Chosen, models: Path, tmp_path: Path
) -> None:
    shutil.copytree(models / "new", tmp_path / "passing")
    embed_pending(filled.use(tmp_path / "passing"))
    filled.use(models / "old")
    shutil.rmtree(tmp_path / "passing")
    store = filled.another_process()

    embed_pending(store)

    assert (who_answers(store), stored_models(store)) == ("old", {"old"})


def test_when_the_files_of_the_model_that_answers_are_replaced_its_vectors_are_not_used(
    chosen: Chosen, models: Path, tmp_path: Path
) -> None:
    place = make_model(tmp_path / "mine", dimensions=8)
    remember(chosen.store, Draft("Quagga", "The quagga is extinct."))
    embed_pending(chosen.use(place))
    chosen.use(models / "new")
    shutil.rmtree(place)
    make_model(place, dimensions=8, seed=5)
    store = chosen.another_process()
    with stopped_after(1) as advance:
        embed_pending(store, progress=advance)

    assert who_answers(store) == "new"


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

    with pytest.raises(EmbedderUnavailable, match="is missing" if missing else "cannot be loaded"):
        filled.use(tmp_path / "broken")

    assert (filled.opened.home / "config.toml").read_bytes() == config
    assert who_answers(filled.store) == "old"


def test_how_a_model_makes_one_vector_is_read_beside_it(models: Path, tmp_path: Path) -> None:
    for name, told in (
        ("first", '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'),
        ("mean", '{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}'),
        ("odd", '{"pooling_mode_weightedmean_tokens": true}'),
    ):
        shutil.copytree(models / "old", tmp_path / name)
        (tmp_path / name / "1_Pooling").mkdir()
        (tmp_path / name / "1_Pooling/config.json").write_text(told, encoding="utf-8")
    plain, first, mean = (
        load_embedder(tmp_path, str(folder))
        for folder in (models / "old", tmp_path / "first", tmp_path / "mean")
    )

    assert plain.embed_query("quagga") == mean.embed_query("quagga")
    quagga, zebra = first.embed_query("quagga").vector, first.embed_query("zebra").vector
    assert quagga == zebra != mean.embed_query("quagga").vector
    with pytest.raises(EmbedderUnavailable, match="does not know"):
        load_embedder(tmp_path, str(tmp_path / "odd"))


def test_what_stands_before_questions_and_passages_is_read_beside_it(models: Path, tmp_path: Path) -> None:
    place = shutil.copytree(models / "old", tmp_path / "prefixed")
    (place / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "query: ", "passage": "passage: "}}', encoding="utf-8"
    )
    plain, prefixed = load_embedder(tmp_path, str(models / "old")), load_embedder(tmp_path, str(place))

    assert prefixed.embed_query("quagga") == plain.embed_query("query: quagga")
    assert prefixed.embed_passages(["quagga"]) == plain.embed_passages(["passage: quagga"])


# Naming one


def test_every_name_and_any_absolute_path_is_a_setting() -> None:
    for name in NAMES:
        assert parse_settings({"EMBEDDING_MODEL": name.upper()}, {}).embedding_model == name
    assert parse_settings({"EMBEDDING_MODEL": "/My/Model"}, {}).embedding_model == "/My/Model"
    for wrong in ("model", "models/mine", "./mine", "~/mine"):
        with pytest.raises(SettingsError, match="EMBEDDING_MODEL"):
            parse_settings({"EMBEDDING_MODEL": wrong}, {})


def test_a_folder_may_be_named_from_where_one_stands(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)

    assert setting_of("old") == setting_of("./old") == str(models / "old")
    assert setting_of("MiniLM-L12") == "minilm-l12"
    with pytest.raises(Rejected, match="no embedding model 'quagga'"):
        setting_of("quagga")


def test_the_list_tells_what_is_here_and_what_is_in_use(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    listed = {each.name: each for each in list_models(store)}

    assert [name for name, each in listed.items() if each.here] == [
        "minilm-l6", str(models / "new"), str(models / "old"),
    ]  # fmt: skip
    assert [name for name, each in listed.items() if each.chosen] == [str(models / "new")]
    assert [name for name, each in listed.items() if each.answers] == [str(models / "old")]


def test_without_a_model_none_answers(filled: Chosen) -> None:
    store = filled.use("none")

    assert store.meaning() is None
    assert embed_pending(store) == 0
    assert progress(store).answers == ""
    assert not recall(store, Query("quagga")).semantic


def test_nothing_waits_to_be_embedded_when_no_model_is_to(store: Store) -> None:
    remember(store, Draft("Port", "Staging listens on 8080."))

    stats = get_stats(store)

    assert (stats.model, stats.passages, stats.pending) == ("none", 1, 0)
