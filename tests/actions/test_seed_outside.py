"""What Claude names by itself is read in the project only; a person's word opens the rest."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.exchange.seed import outside_project, seed_from_file
from mcp_server.store import Store
from tests.durability.served import Served

TEXT = "# Herons\n\nHerons stand in the shallow water and wait for the fish that come by.\n"

PLACES: dict[str, Callable[[Path], Path]] = {
    "absolute": lambda project: project.parent / "outside.md",
    "dots": lambda project: project / "../outside.md",
    "a link to a file": lambda project: project / "link.md",
    "a link to a folder": lambda project: project / "folder/outside.md",
    "a hidden file": lambda project: project / ".env",
    "a hidden folder": lambda project: project / ".git/config",
    "an ignored file": lambda project: project / "keys/private.md",
    "no path": lambda project: Path("/a\0b"),
    "a loop": lambda project: project / "../loop",
}


@pytest.fixture(autouse=True)
def _places(project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project.parent / "outside.md").write_text(TEXT, encoding="utf-8")
    (project / "link.md").symlink_to(project.parent / "outside.md")
    (project / "folder").symlink_to(project.parent)
    (project.parent / "loop").symlink_to("loop")
    (project / "keys").mkdir()
    (project / ".gitignore").write_text("keys/\n", encoding="utf-8")
    for name in (".env", "keys/private.md", "notes.md"):
        (project / name).write_text(TEXT, encoding="utf-8")
    (project / "alias.md").symlink_to("notes.md")


@pytest.mark.parametrize("place", PLACES)
def test_outside_the_project_a_person_must_say_so(store: Store, project: Path, place: str) -> None:
    assert outside_project(store, PLACES[place](project)).endswith(".")


def test_a_person_may_have_anything_read(store: Store, project: Path) -> None:
    for place in ("absolute", "an ignored file"):
        (imported,) = seed_from_file(store, PLACES[place](project))
        assert imported.items[0].outcome is Outcome.TAKEN


@pytest.mark.parametrize("name", ["notes.md", "alias.md", "keys/../notes.md"])
def test_what_lies_in_the_project_may_be_named(store: Store, project: Path, name: str) -> None:
    assert outside_project(store, project / name) == ""


def test_without_a_dialog_the_tool_refuses_and_says_what_to_type(
    tmp_path: Path, memory_dir: Path, project: Path
) -> None:
    with Served(memory_dir, project, HOME=str(tmp_path)) as server:
        server.greet()
        for path in ("/etc/passwd", "../outside.md", "~/outside.md", "link.md"):
            assert "not one that Claude started: daybook seed" in server.call("seed_from_file", path=path)
        assert "Herons" in server.call("seed_from_file", path="notes.md")
