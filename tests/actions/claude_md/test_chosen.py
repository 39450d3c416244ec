"""Choosing the file that holds the block, by the action and by `daybook init`."""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from mcp_server.actions.context import claude_md
from mcp_server.actions.context.claude_md import (
    choose,
    chosen,
    current_block,
    ignored,
    refresh,
    repair,
    trouble,
)
from mcp_server.actions.memory import repository
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters import files, places
from mcp_server.core.context.managed_block import END, START
from mcp_server.core.errors import Held, Rejected
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.claude_md.block import MINE, one_more
from tests.conftest import Open
from tests.doors.shell import Run, daybook

# Choosing a file


def test_nothing_is_written_before_a_file_was_chosen(store: Store, project: Path) -> None:
    assert refresh(store) == claude_md.Refreshed(None, False)
    assert (chosen(store), trouble(store)) == ("", None)
    assert list(project.iterdir()) == []


@pytest.mark.feature("A-48")
def test_the_chosen_file_gets_the_block_and_nothing_else_appears_in_the_project(
    store: Store, document: Path, project: Path
) -> None:
    document.chmod(0o640)

    (refreshed,) = choose(store, "CLAUDE.md")

    assert refreshed == claude_md.Refreshed(document, True)
    assert document.read_bytes() == f"{MINE}\n{current_block(store).text}\n".encode()
    assert document.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in project.iterdir()] == ["CLAUDE.md"]
    assert chosen(store) == "CLAUDE.md"


def test_a_missing_file_is_created_and_goes_again_when_only_the_block_was_in_it(
    store: Store, project: Path
) -> None:
    (refreshed,) = choose(store, "CLAUDE.local.md")
    path = project / "CLAUDE.local.md"
    assert refreshed == claude_md.Refreshed(path, True)
    assert path.read_text(encoding="utf-8") == f"{current_block(store).text}\n"
    assert path.stat().st_mode & 0o777 == 0o600
    one_more(store)
    assert refresh(store).changed

    assert choose(store, "none") == (claude_md.Refreshed(path, True),)

    assert list(project.iterdir()) == []
    assert chosen(store) == ""


def test_a_file_that_was_empty_before_stays(store: Store, project: Path) -> None:
    path = project / "CLAUDE.md"
    path.touch()
    choose(store, "CLAUDE.md")

    choose(store, "none")

    assert path.read_bytes() == b""


def test_another_choice_moves_the_block(store: Store, document: Path, project: Path) -> None:
    choose(store, "CLAUDE.md")

    refreshed = choose(store, "CLAUDE.local.md")

    assert [(file.path, file.changed) for file in refreshed] == [
        (document, True),
        (project / "CLAUDE.local.md", True),
    ]
    assert document.read_bytes() == MINE.encode()
    choose(store, "CLAUDE.md")
    assert not (project / "CLAUDE.local.md").exists()


def test_a_block_that_the_person_moves_to_the_other_file_is_kept_up_there(
    store: Store, document: Path, project: Path
) -> None:
    choose(store, "CLAUDE.md")
    local = project / "CLAUDE.local.md"
    local.write_bytes(b"# Local\n\n" + document.read_bytes().removeprefix(MINE.encode()))
    document.write_text(MINE, encoding="utf-8")
    one_more(store)

    assert refresh(store) == claude_md.Refreshed(local, True)

    assert document.read_text(encoding="utf-8") == MINE
    assert local.read_text(encoding="utf-8") == f"# Local\n\n\n{current_block(store).text}\n"
    assert chosen(store) == "CLAUDE.local.md"


def test_a_block_that_is_copied_or_of_somebody_else_is_not_followed(
    store: Store, document: Path, project: Path
) -> None:
    choose(store, "CLAUDE.md")
    local = project / "CLAUDE.local.md"
    copied = document.read_bytes()
    local.write_bytes(copied)
    one_more(store)

    assert refresh(store).path == document
    document.write_text(MINE, encoding="utf-8")
    assert refresh(store).path == document, "the other file has another block than the last one"

    assert local.read_bytes() == copied
    assert chosen(store) == "CLAUDE.md"


def test_a_choice_waits_for_the_process_that_writes_the_block_or_changes_nothing(
    store: Store, document: Path
) -> None:
    choose(store, "CLAUDE.md")
    before = document.read_bytes()
    assert store.project

    with files.lock(store.home / places.PROJECTS / store.project.key / claude_md.LOCK), pytest.raises(Held):
        choose(store, "none")

    assert (chosen(store), document.read_bytes()) == ("CLAUDE.md", before)


def test_a_block_that_came_with_the_repository_is_taken_out_on_request(store: Store, document: Path) -> None:
    document.write_text(f"{MINE}\n{START}\nof a colleague\n{END}\n", encoding="utf-8")
    assert refresh(store).path is None

    choose(store, "none")

    assert document.read_bytes() == MINE.encode()


def test_there_is_nothing_to_choose_outside_a_project(
    open_here: Open, scratch_home: Path, store: Store
) -> None:
    with pytest.raises(Rejected, match="belongs to no project"):
        choose(open_here(folder=scratch_home).store(), "CLAUDE.md")
    with pytest.raises(Rejected, match="is not a file for the block"):
        choose(store, "../x")
    with pytest.raises(Rejected, match="No file of this project is chosen"):
        repair(store)


def test_the_choice_survives_that_knowledge_moves_into_the_repository(store: Store, document: Path) -> None:
    choose(store, "CLAUDE.md")

    adopted = repository.init(store)

    assert chosen(store) == "CLAUDE.md"
    assert str(adopted.root) in places.adopted_roots(store.home, store.project.key if store.project else "")


def test_another_clone_of_the_project_has_its_own_choice(open_here: Open, tmp_path: Path) -> None:
    clones = []
    for name in ("one", "two"):
        folder = tmp_path / name
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", "git@github.com:a/b.git"], check=True)
        clones.append(open_here(folder=folder).store())
    remember(clones[0], Draft("Carts expire", "After a day."))

    choose(clones[0], "CLAUDE.md")

    assert refresh(clones[1]).path is None
    choose(clones[1], "CLAUDE.local.md")
    assert [chosen(clone) for clone in clones] == ["CLAUDE.md", "CLAUDE.local.md"]


def test_it_is_known_whether_git_ignores_the_file(store: Store, project: Path) -> None:
    assert ignored(store, "CLAUDE.local.md"), "there is no repository"
    subprocess.run(["git", "init", "-q", project], check=True)
    assert not ignored(store, "CLAUDE.local.md")

    (project / ".gitignore").write_text("CLAUDE.local.md\n", encoding="utf-8")

    assert ignored(store, "CLAUDE.local.md")
    assert not ignored(store, "CLAUDE.md")


# The command


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Run:
    return partial(daybook, memory_dir, folder=project)


@pytest.fixture
def typed(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` as a person in a terminal, who types *answers* when they are asked."""
    return partial(daybook, memory_dir, folder=project, typed=True)


def test_init_without_a_terminal_says_which_options_to_give(run: Run, project: Path) -> None:
    process = run("init")

    assert process.returncode == 4
    assert "--file CLAUDE.md|CLAUDE.local.md|none and --repository or --no-repository" in process.stderr
    assert list(project.iterdir()) == []


def test_init_asks_in_a_terminal(typed: Run, document: Path, store: Store, project: Path) -> None:
    terminal = typed("init", answers=[("briefing", "CLAUDE.md"), (r"\[y/N\]", "")])

    assert terminal.returncode == 0, terminal.stdout
    assert "knowledge in its repository? [y/N]" in terminal.stdout
    assert "Everybody who gets CLAUDE.md from git" in terminal.stdout
    assert "window functions" in document.read_text(encoding="utf-8")
    assert not (project / ".claude-memory").exists()


def test_init_puts_the_block_in_takes_it_out_and_mends_it(
    run: Run, typed: Run, document: Path, store: Store, project: Path
) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)

    assert "CLAUDE.md was written." in typed("init", "--file", "CLAUDE.md").stdout
    assert "CLAUDE.md says it already." in typed("init", "--file", "CLAUDE.md").stdout
    document.write_text(f"{START}\n{document.read_text(encoding='utf-8')}", encoding="utf-8")
    damaged = typed("init", "--file", "CLAUDE.md")
    assert (damaged.returncode, "are damaged" in damaged.stdout) == (4, True)
    assert "was written" in run("init", "--repair").stdout
    output = run("brief").stdout
    assert output.endswith(f"\nCLAUDE.md:\n{current_block(store).text}\n")
    assert run("brief", "--block").stdout == f"{current_block(store).text}\n"
    local = typed("init", "--file", "CLAUDE.local.md", "--no-repository").stdout
    assert "Git does not ignore CLAUDE.local.md" in local
    assert f"The block was removed from {document}." in local
    assert "CLAUDE.md was written" not in local
    assert document.read_bytes() == MINE.encode()
    out = run("init", "--file", "none").stdout
    assert "The block was removed from" in out and "No file of this project holds a block now." in out
    assert run("init", "--file", "none").stdout == "No file of this project held a block.\n"
    assert sorted(path.name for path in project.iterdir()) == [".git", "CLAUDE.md"]
