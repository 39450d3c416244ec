"""A process that stopped while it had a lock: every verb answers, says for whom, and tells the truth."""

import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import files, lock_holders
from mcp_server.core.errors import Held, NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.remarks import IndexBehind
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Run
from tests.durability.programs.held_locks import VERBS, holding
from tests.durability.served import Served
from tests.opened import run_daybook

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")


@LINUX
def test_every_verb_answers_while_a_stopped_process_holds_every_lock(
    run_program: Run, quick_folder: Path
) -> None:
    (quick_folder / "shop").mkdir()
    results: Any = run_program("held_locks", quick_folder / "memory", quick_folder / "shop", "--together")
    answers = {result["verb"]: result for result in results}

    assert answers.keys() == VERBS.keys()
    assert [verb for verb, answer in answers.items() if answer["code"] is None] == []
    assert [verb for verb, answer in answers.items() if "Traceback" in answer["err"]] == []
    holder = f"process {results[0]['holder']} ("
    for verb, answer in answers.items():
        if answer["code"] not in (0, 3):  # nothing has that id: the files were asked
            assert holder in answer["err"], verb
            assert "rebuild" not in answer["err"], verb
    refused = {verb for verb, answer in answers.items() if answer["code"] not in (0, 3)}
    assert refused == {
        "revise", "forget", "forget for good", "restore", "pin", "link", "validate",
        "import", "tidy", "sync", "maintain rebuild", "maintain clean",
    }  # fmt: skip
    texts = [path.read_text("utf-8") for path in (quick_folder / "memory" / "knowledge").glob("*.md")]
    assert sum("it is saved" in text for text in texts) == 1
    assert sum("now it says" in text for text in texts) == 0


@pytest.fixture
def locked(store: Store) -> sqlite3.Connection:
    """A connection of somebody else that can take the lock for writing."""
    recall(store, Query("nothing"))  # makes the index
    return sqlite3.connect(store.database.path, isolation_level=None)


def test_what_is_written_while_the_index_is_locked_is_said_to_be_and_found_by_search_later(
    store: Store, locked: sqlite3.Connection
) -> None:
    memory_id = remember(store, Draft("Known", "herons are grey", level=Level.USER)).memory.id
    gone = remember(store, Draft("Gone", "wrens are small", level=Level.USER)).memory.id
    store.database.trouble.remarks()
    locked.execute("BEGIN IMMEDIATE")

    saved = remember(store, Draft("New", "quokkas live on Rottnest", level=Level.USER))

    assert saved.path.exists()
    (remark,) = store.database.trouble.remarks()
    assert isinstance(remark, IndexBehind) and remark.reason.startswith("The index is held by ")
    assert read(store, saved.memory.id).memory.text == "quokkas live on Rottnest"
    revise(store, memory_id, Revision(text="herons are blue"))
    assert read(store, memory_id).memory.text == "herons are blue"
    forget(store, gone)
    with pytest.raises(NotFound):
        read(store, gone)
    assert [hit.text for hit in recall(store, Query("herons")).hits] == ["herons are grey"]  # as it was
    locked.execute("ROLLBACK")

    assert [hit.id for hit in recall(store, Query("quokkas")).hits] == [saved.memory.id]
    assert [hit.text for hit in recall(store, Query("herons")).hits] == ["herons are blue"]
    assert recall(store, Query("wrens")).hits == ()
    store.database.trouble.remarks()


def test_a_question_in_a_terminal_is_answered_while_no_vector_can_be_written(
    store: Store, memory_dir: Path, locked: sqlite3.Connection
) -> None:
    remember(store, Draft("Known", "herons are grey", level=Level.USER))  # by a store without a model
    locked.execute("BEGIN IMMEDIATE")

    done = run_daybook(memory_dir, "recall", "grey herons", EMBEDDING_MODEL="minilm-l6")

    assert (done.returncode, "herons are grey" in done.stdout) == (0, True)
    assert "The index is held by " in done.stderr


def test_a_server_saves_while_a_stopped_process_writes_the_index_and_says_who(
    memory_dir: Path, project: Path
) -> None:
    with Served(memory_dir, project) as server:
        server.greet().call("remember", title="Known", content="herons are grey")
        with holding([memory_dir / "memory.db"]) as holder:
            saved = server.call("remember", title="New", content="quokkas live on Rottnest")
            answer = server.call("recall", query="herons")
            prompt = server.call("hook", event="UserPromptSubmit", prompt="what are herons like?")

        assert "remembered" in saved
        assert f"process {holder}" in saved or sys.platform != "linux"
        assert "herons are grey" in answer
        assert prompt.startswith("{")
        assert "quokkas" in server.call("recall", query="quokkas")


def test_a_lock_is_not_waited_for_for_ever_and_who_has_it_is_named(tmp_path: Path) -> None:
    with (
        holding([tmp_path / "a.lock"]) as holder,
        pytest.raises(Held) as refusal,
        files.lock(tmp_path / "a.lock", patience=0.05),
    ):
        pass
    if sys.platform == "linux":
        assert f"process {holder} (python" in str(refusal.value)
        assert "stopped)" in str(refusal.value)
    with files.lock(tmp_path / "a.lock"):
        pass


def test_where_the_system_tells_of_no_locks_the_lock_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_holders, "NOTED", True)
    holders = []

    def wait() -> None:
        try:
            with files.lock(tmp_path / "a.lock", patience=0.05):
                pass
        except Held as refusal:
            holders.append(refusal.holder)

    with files.lock(tmp_path / "a.lock"):
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join()

    assert holders[0].startswith("process ")
