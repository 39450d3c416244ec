"""What a search in all projects finds: whose it is, and that it can be read but not changed from here."""

from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.core.memory import Draft
from tests.adapters.project.repositories import needs_git, repository
from tests.conftest import Open
from tests.doors.called import connected
from tests.doors.shell import daybook, output_of

TEXT = "The backup of the orders runs at 04:45."


@pytest.fixture
def there(open_here: Open, tmp_path: Path) -> tuple[str, str]:
    """A memory of another project with the same name: its id, and the key of that project."""
    folder = tmp_path / "elsewhere" / "shop"
    folder.mkdir(parents=True)
    store = open_here(folder=folder).store()
    return remember(store, Draft("Backup", TEXT)).memory.id, store.of_project[0]


def test_claude_is_told_whose_it_is_and_reads_it(open_here: Open, there: tuple[str, str]) -> None:
    memory_id, key = there
    own = remember(
        open_here().store(), Draft("Backup of the shop", "The shop's orders are not kept.")
    ).memory.id
    with connected(open_here()) as call:
        found = call("recall", query="backup of the orders", all_projects=True)
        listed = call("list_memories", all_projects=True)
        read = call("read_memory", id=memory_id)
        call("revise", id=memory_id, content="It runs at noon.")

        (line,) = (line for line in found.splitlines() if line.startswith(memory_id))
        assert f"of another project: {key}" in line
        assert f"of another project: {key}" in listed
        assert found.count("another project") == listed.count("another project") == 1 and own in listed
        assert f"of another project: {key}" in read and TEXT in read
        assert call.failed


@needs_git
def test_what_another_clone_has_is_not_said_to_be_of_another_project(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    for folder in (project, clone):
        repository(folder, "https://github.com/acme/shop.git")
    init(open_here(clone).store())
    remember(open_here(clone).store(), Draft("Backup", TEXT))
    store = open_here().store()

    with connected(open_here()) as call:
        listed = call("list_memories", all_projects=True)

    assert store.project
    assert f"in another folder, of the project {store.project.key}" in listed
    assert "another project" not in listed and "-repository-" not in listed


def test_a_terminal_says_where_it_can_be_changed(
    memory_dir: Path, project: Path, there: tuple[str, str]
) -> None:
    memory_id, key = there

    shown = output_of(daybook(memory_dir, "read", memory_id, folder=project))
    refused = daybook(memory_dir, "forget", memory_id, folder=project)

    assert TEXT in shown and f"of another project: {key}" in shown
    assert f"It is of another project, {key}: change it there." in refused.stderr
