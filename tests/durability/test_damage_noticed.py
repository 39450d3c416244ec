"""Damage that only Python's errors tell of, or none: whoever asks is right at once or when asked again."""

import os
import random
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.database import checkups
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Open, Run
from tests.durability.programs.damaged_index import fill, search_page_of_zeros
from tests.durability.served import Served, eventually

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("harm", "count"), [("no text", 2), ("search page", 4), ("flip schema", 2), ("other page", 2)]
)
def test_a_process_that_meets_damage_answers_rightly_at_once_or_the_next_one_does(
    run_program: Run, quick_folder: Path, harm: str, count: int
) -> None:
    report = run_program("damaged_index", 17, count, "--harm", harm, "--folder", quick_folder)

    assert report["failed"] == []
    assert report["at once"] + report["next"] == count


def test_an_odd_value_that_is_used_outside_of_the_index_is_healed_and_no_traceback(store: Store) -> None:
    remember(store, Draft("Known", "herons are grey", level=Level.USER))
    with store.database.write() as db:
        db.execute("UPDATE memories SET path = x'61'")

    sync(store)

    assert [hit.title for hit in recall(store, Query("herons")).hits] == ["Known"]
    assert Path(f"{store.database.path}.old").exists()


def test_a_server_notices_a_damaged_search_page_after_its_answer(tmp_path: Path) -> None:
    fill(tmp_path, meaning=False)
    index = tmp_path / "memory" / "memory.db"
    question = "vector passage lock"
    with Served(tmp_path / "memory", tmp_path / "shop") as server:
        right = server.greet().call("recall", query=question, limit=10)
    for seed in range(4):
        search_page_of_zeros(index, random.Random(seed))

    with Served(tmp_path / "memory", tmp_path / "shop") as server:
        server.greet()
        server.call("recall", query=question, limit=10)
        eventually(Path(f"{index}.old").exists, "the damaged index is set aside")
        assert server.call("recall", query=question, limit=10) == right


@pytest.fixture
def index(open_here: Open) -> Path:
    """A sound index that was just looked at, by a look that took no time."""
    opened = open_here()
    store = opened.store()
    remember(store, Draft("Known", "herons are grey", level=Level.USER))
    assert recall(store, Query("herons")).hits
    assert checkups.is_due(store.database.path, NOW)
    assert not checkups.finds_damage(store.database, NOW)
    return store.database.path


def change(index: Path) -> None:
    os.utime(index, ns=(5, 5))


def test_an_index_that_did_not_change_is_looked_at_again_after_an_hour(index: Path) -> None:
    assert not checkups.is_due(index, NOW + 3000)
    assert checkups.is_due(index, NOW + 4000)
    assert checkups.is_due(index, NOW - 10)  # the clock was put back


def test_an_index_that_changed_is_looked_at_at_once_unless_that_takes_long(index: Path) -> None:
    change(index)
    assert checkups.is_due(index, NOW + 1)

    note = index.with_name(checkups.NOTE)
    note.write_text(note.read_text("ascii").replace('"took": 0.0', '"took": 1.0'), "ascii")
    assert not checkups.is_due(index, NOW + 900)
    assert checkups.is_due(index, NOW + 1100)


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"at": "x"}', b"\xff"])
def test_a_note_that_says_nothing_costs_one_look(index: Path, note: bytes) -> None:
    index.with_name(checkups.NOTE).write_bytes(note)

    assert checkups.is_due(index, NOW + 1)
