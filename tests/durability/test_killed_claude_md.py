"""S2: whoever is killed or interrupted while a CLAUDE.md is refreshed, the file is the old or the new one."""

import threading
from pathlib import Path

from mcp_server.actions.context.claude_md import Refreshed, choose, current_block, refresh
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters import files
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Run, Wait

KILLS = 80  # `make attack` has more
NAIVE_KILLS = 20


def test_no_kill_tears_the_file_or_leaves_anything_beside_it(run_program: Run, quick_folder: Path) -> None:
    report = run_program("killed_refreshers", quick_folder, KILLS, 20261120, "daybook")

    assert report["kills"] >= KILLS
    assert report["torn"] == 0
    assert min(report["seen"]) > KILLS / 20, "they were killed before they wrote anything"
    assert report["littered"], "none was killed in the middle of writing"
    assert report["left"] == ["CLAUDE.md"]
    assert report["whole"]


def test_the_checker_catches_a_writer_that_writes_in_place(run_program: Run, quick_folder: Path) -> None:
    assert run_program("killed_refreshers", quick_folder, NAIVE_KILLS, 1, "naive")["torn"]


def test_what_an_editor_saves_at_the_same_moment_wins_and_the_block_comes_next_time(
    store: Store, project: Path, wait_until_in: Wait
) -> None:
    document = project / "CLAUDE.md"
    document.write_text("# Mine\n", encoding="utf-8")
    choose(store, "CLAUDE.md")
    remember(store, Draft("Prices are in cents", "In every table.", type="gotcha"))
    refreshed: list[Refreshed] = []
    writer = threading.Thread(target=lambda: refreshed.append(refresh(store)))

    with files.lock(project / files.LOCK_NAME):
        writer.start()
        wait_until_in(writer, "_locked_within")  # it has read the file, and waits to replace it
        document.write_text("# Mine, saved now\n", encoding="utf-8")
    writer.join()

    assert [file.changed for file in refreshed] == [False]
    assert "was changed meanwhile" in str(refreshed[0].problem)
    assert document.read_text(encoding="utf-8") == "# Mine, saved now\n"
    assert refresh(store).changed
    text = document.read_text(encoding="utf-8")
    assert text == f"# Mine, saved now\n\n{current_block(store).text}\n"
