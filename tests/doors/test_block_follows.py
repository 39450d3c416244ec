"""The block in CLAUDE.md says what is known after every verb in a terminal, not only after a session."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change
from tests.conftest import Open
from tests.doors.module import Typed, tell
from tests.doors.shell import Run, output_of
from tests.doors.test_store_commands import printing_to


@pytest.fixture
def block(typed: Run, project: Path) -> Callable[[], str]:
    output_of(typed("init", "--file", "CLAUDE.md", "--no-repository"))
    return lambda: (project / "CLAUDE.md").read_text(encoding="utf-8")


def remembered(run: Run) -> str:
    return output_of(run("remember", "Invoices are kept in Postgres", "--type", "decision")).partition(":")[0]


def test_what_is_remembered_revised_and_forgotten_in_a_terminal_is_in_the_block_at_once(
    run: Run, block: Callable[[], str]
) -> None:
    memory = remembered(run)
    assert "kept in Postgres" in block()

    output_of(run("revise", memory, "--title", "Invoices are kept in MySQL", "--text", "In MySQL."))
    assert "MySQL" in block() and "Postgres" not in block()

    output_of(run("forget", memory))
    assert "MySQL" not in block()

    output_of(run("restore", memory))
    assert "MySQL" in block()


def test_the_block_follows_although_nobody_reads_the_answer(
    memory_dir: Path, project: Path, block: Callable[[], str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    with open(writing, "wb") as pipe:
        printing_to(pipe, memory_dir, project)

    assert "Deploys" in block()


def test_what_is_seeded_and_accepted_comes_into_the_block(
    run: Run, typed: Run, block: Callable[[], str], project: Path
) -> None:
    (project / "README.md").write_text(
        "# Shop\n\n## Payments\n\nStripe webhooks need the raw body, always.\n"
    )
    output_of(run("bootstrap"))
    assert "raw body" not in block()

    output_of(typed("trust", "--documents"))

    assert "raw body" in block()


def test_what_was_edited_by_hand_comes_into_the_block_with_sync(
    run: Run, block: Callable[[], str], memory_dir: Path
) -> None:
    memory = remembered(run)
    (path,) = memory_dir.rglob(f"{memory}.md")
    path.write_text(path.read_text(encoding="utf-8").replace("Postgres", "SQLite"), encoding="utf-8")

    output_of(run("sync"))

    assert "SQLite" in block()


def test_a_file_with_damaged_markers_stays_as_it_is_and_the_verb_is_done(
    run: Run, block: Callable[[], str], project: Path
) -> None:
    torn = block().replace("<!-- MEMORY:END -->", "")
    (project / "CLAUDE.md").write_text(torn, encoding="utf-8")

    memory = remembered(run)

    assert block() == torn
    assert memory in output_of(run("list"))


def test_without_a_chosen_file_none_is_written(run: Run, project: Path) -> None:
    remembered(run)

    assert not (project / "CLAUDE.md").exists()


def test_what_is_typed_and_pressed_in_the_client_is_in_the_block_at_once(
    open_here: Open, block: Callable[[], str]
) -> None:
    opened = open_here()
    in_client = Typed(opened)

    stored = in_client("/remember Invoices | They are kept in Postgres.")["text"].partition(":")[0]
    assert "kept in Postgres" in block()

    in_client(f"/forget {stored}", "Forget it")
    assert "Postgres" not in block()

    change = last_change(opened.store(), stored)
    tell(opened, "act", act="undo", id=stored, change=change.name)
    assert "Postgres" in block()
