"""Another model is chosen: its vectors replace those of the model before, and words answer meanwhile."""

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
from mcp_server.actions.model.choose_embedder import progress
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Mode, Query
from tests.actions.choose_embedder.chosen import (
    MEMORIES,
    TITLES,
    Chosen,
    found_by_meaning,
    stopped_after,
    stored_models,
    who_answers,
)
from tests.live import ROOT
from tests.patience import PATIENCE


@pytest.mark.feature("B-50", "D-16")
def test_until_a_memory_has_its_new_vector_its_words_find_it(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    assert not recall(store, Query(TITLES[0])).semantic
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)

    assert (progress(store).embedded, pending(store)) == (32, MEMORIES - 32)
    oldest, newest = (recall(store, Query(title)).hits[0] for title in (TITLES[0], TITLES[-1]))
    assert (oldest.title, newest.title) == (TITLES[0], TITLES[-1])
    assert oldest.parts.cosine is None
    assert newest.parts.cosine is not None

    assert embed_pending(store) == MEMORIES - 32
    assert who_answers(store) == "new"
    assert stored_models(store) == {"new"}


def test_the_choice_reaches_processes_that_were_there_before(filled: Chosen, models: Path) -> None:
    other_store = filled.another_process()
    assert who_answers(other_store) == "old"

    embed_pending(filled.use(models / "new"))

    assert embed_pending(other_store) == 0
    assert who_answers(other_store) == "new"


def test_what_is_written_meanwhile_is_found_by_meaning_at_once(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    memory_ids = []

    def write(_: int) -> None:
        if not memory_ids:
            memory_ids.append(remember(store, Draft("Thylacine", "A thylacine was seen.")).memory.id)
        elif len(memory_ids) == 1:
            memory_ids.append("looked")
            assert memory_ids[0] in found_by_meaning(store)

    assert embed_pending(store, progress=write) == MEMORIES + 1
    assert len(memory_ids) == 2
    assert pending(store) == 0


def test_who_cannot_wait_replaces_nothing(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")

    assert embed_pending(store, replace=False) == 0
    assert stored_models(store) == {"old"}

    embed_pending(store)
    remember(store, Draft("Thylacine", "A thylacine was seen."))
    assert embed_pending(store, replace=False) == 1


@pytest.mark.feature("D-16")
def test_what_is_edited_keeps_its_vector(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(2) as advance:
        embed_pending(store, progress=advance)
    progress_before = progress(store)
    newest = recall(store, Query(TITLES[-1], mode=Mode.KEYWORD)).hits[0].id

    revise(store, newest, Revision(tags=("seen",)))

    assert progress(store) == progress_before


def test_what_is_forgotten_loses_its_vector(filled: Chosen) -> None:
    store = filled.store
    newest = recall(store, Query(TITLES[-1], mode=Mode.KEYWORD)).hits[0].id

    forget(store, newest, forever=True)

    after = progress(store)
    assert (after.passages, after.embedded) == (MEMORIES - 1, MEMORIES - 1)


def test_choosing_back_embeds_only_what_was_replaced(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    with stopped_after(1) as advance:
        embed_pending(store, progress=advance)

    store = filled.use(models / "old")

    assert embed_pending(store) == 16
    assert (who_answers(store), stored_models(store)) == ("old", {"old"})


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


@pytest.mark.parametrize("batches", [1, 2])
def test_killed_while_computing_it_goes_on_where_it_was(filled: Chosen, models: Path, batches: int) -> None:
    filled.use(models / "new")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MEMORY_DIR": str(filled.opened.home)}
    process = subprocess.run([sys.executable, "-c", KILLED, str(batches)], env=environment, timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL

    store = filled.another_process()

    assert progress(store).embedded == 16 * batches
    assert embed_pending(store) == MEMORIES - 16 * batches
    assert (who_answers(store), stored_models(store)) == ("new", {"new"})


@pytest.mark.feature("B-09")
def test_an_index_made_anew_answers_with_the_chosen_model(filled: Chosen, models: Path) -> None:
    store = filled.use(models / "new")
    rebuild(store)
    embed_pending(store)

    assert (who_answers(store), stored_models(store)) == ("new", {"new"})
