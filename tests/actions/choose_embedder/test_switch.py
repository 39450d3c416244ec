"""Another model is computed beside the one that answers, then one switch."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model import embed
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.search import vectors
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Mode, Query
from tests.actions.choose_embedder.chosen import (
    MEMORIES,
    TITLES,
    Chosen,
    ask,
    found_by_meaning,
    stopped_after,
    stored_models,
    who_answers,
)
from tests.conftest import Open
from tests.live import ROOT
from tests.patience import PATIENCE


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
    filled: Chosen, models: Path, open_here: Open
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


@pytest.mark.feature("D-16")
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
from mcp_server.actions.model.embed import embed_pending
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
    done = subprocess.run([sys.executable, "-c", KILLED, str(batches)], env=environment, timeout=PATIENCE)
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


@pytest.mark.feature("B-09")
def test_an_index_made_anew_answers_with_the_chosen_model(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    rebuild(store)
    embed_pending(store)

    assert (who_answers(store), stored_models(store)) == ("new", {"new"})
