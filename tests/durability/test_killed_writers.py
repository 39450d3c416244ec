"""C1: a process that is killed at any moment loses nothing it acknowledged and leaves nothing torn."""

from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.adapters import leftovers, vault
from mcp_server.adapters.guarded_replace import TEMPORARY_PREFIX
from mcp_server.adapters.index.memories import memories
from tests.conftest import Run
from tests.opened import opened_at

KILLS = 150  # `make attack` has thousands


@pytest.mark.feature("A-52")
def test_no_kill_loses_tears_or_resurrects_a_memory(run_program: Run, quick_folder: Path) -> None:
    report = run_program("killed_writers", quick_folder, KILLS, 20261120, "daybook")

    assert report["kills"] >= KILLS
    assert report["acknowledged"] > KILLS / 4, "the writers were too slow for the test to tell anything"
    assert {name: report[name] for name in ("lost", "torn", "resurrected", "errors")} == {
        "lost": [], "torn": [], "resurrected": [], "errors": [],
    }  # fmt: skip

    # The next process makes the index equal to the files, and sweeps what was left unfinished.
    opened = opened_at(quick_folder)
    store = opened.store()
    sync(store)
    with opened.database.read() as db:
        indexed = {row.path for row in memories.rows(db, "1", ())}
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert indexed == {stamp.path for stamp in vault.stamps(store.user_vault)}
    opened.database.close()
    leftovers.sweep(trees=[quick_folder], age=0)
    assert not list(quick_folder.rglob(f"{TEMPORARY_PREFIX}*"))


def test_the_checker_catches_a_writer_that_writes_in_place_and_acknowledges_early(
    run_program: Run, quick_folder: Path
) -> None:
    report = run_program("killed_writers", quick_folder, KILLS, 1, "naive")

    assert report["lost"]
    assert report["torn"]
    assert report["resurrected"]
