"""A running server sees folders of memories go and come back, and tells of those that were emptied."""

from pathlib import Path

import pytest

from tests.durability.served import Served, eventually
from tests.durability.test_watching import finds, watches
from tests.opened import run_daybook

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="who watches is seen in /proc, which is not there"
)


def write_bird(path: Path, word: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# A {word}\n\nIt is a {word}.\n", encoding="utf-8")


def test_a_repositorys_folder_that_comes_back_is_found_though_another_process_saw_it_go(
    tmp_path: Path,
) -> None:
    folder, away = tmp_path / "shop" / ".claude-memory", tmp_path / "away"
    write_bird(folder / "knowledge" / "bird.md", "heron")
    with Served(tmp_path / "memory", tmp_path / "shop", HOME=str(tmp_path)) as server:
        eventually(finds(server.greet(), "heron"), "the memory is found")
        eventually(lambda: watches(server), "the server watches")
        folder.rename(away)
        gone = run_daybook(tmp_path / "memory", "status", cwd=tmp_path / "shop", HOME=str(tmp_path))
        assert gone.stdout.startswith("0 memories")

        away.rename(folder)

        eventually(finds(server, "heron"), "the memory is found again")


def test_what_comes_into_another_sessions_clone_is_found(tmp_path: Path) -> None:
    knowledge = tmp_path / "clone" / ".claude-memory" / "knowledge"
    write_bird(knowledge / "bird.md", "bittern")
    (tmp_path / "shop").mkdir()
    with Served(tmp_path / "memory", tmp_path / "shop", HOME=str(tmp_path)) as first:
        first.greet()
        eventually(lambda: watches(first), "the first server watches")
        # One server watches a store: the second is started when the first does.
        with Served(tmp_path / "memory", tmp_path / "clone", HOME=str(tmp_path)) as second:
            eventually(finds(second.greet(), "bittern"), "what came with the clone is found")
            second.call("remember", title="Which project this is", content="The clone.", level="project")

            write_bird(knowledge / "new.md", "crane")

            eventually(finds(second, "crane"), "what a pull brought is found")


def test_a_folder_that_is_emptied_while_a_session_runs_is_told(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    paths = [tmp_path / "memory" / "knowledge" / f"bird-{number}.md" for number in range(40)]
    for path in paths:
        write_bird(path, "heron")
    with Served(tmp_path / "memory", tmp_path / "shop", HOME=str(tmp_path)) as server:
        eventually(finds(server.greet(), "heron"), "the memories are found")
        eventually(lambda: watches(server), "the server watches")
        told: list[str] = []

        for path in paths:
            path.unlink()

        def is_told() -> bool:
            told.append(server.call("list_memories"))
            return " memories are gone from " in told[-1]

        eventually(is_told, "that they are gone is told")
