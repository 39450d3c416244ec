"""What doctor sees of the store's folder."""

from pathlib import Path

import pytest

from mcp_server.actions.status.checks import CheckedPart, StoreFolder
from mcp_server.actions.status.doctor import doctor
from tests.adapters.project.repositories import git
from tests.live import ROOT
from tests.opened import opened_at


def repository_seen(home: Path, folder: Path) -> Path | None:
    opened = opened_at(home, folder)
    try:
        seen = next(
            check.seen for check in doctor(opened.store(), plugin=ROOT) if check.part is CheckedPart.STORE
        )
    finally:
        opened.database.close()
    assert isinstance(seen, StoreFolder)
    return seen.repository


def test_a_repository_that_would_take_the_store_in_is_named_until_it_ignores_it(tmp_path: Path) -> None:
    top = tmp_path / "notes"
    top.mkdir()
    git(top, "init", "-q")

    assert repository_seen(top / "memory", tmp_path) == top
    (top / ".gitignore").write_text("memory/\n")
    assert repository_seen(top / "memory", tmp_path) is None


@pytest.mark.parametrize("is_repository", [False, True])
def test_a_store_outside_of_repositories_and_one_that_is_its_own_are_nothing_to_name(
    tmp_path: Path, is_repository: bool
) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    if is_repository:
        git(home, "init", "-q")

    assert repository_seen(home, tmp_path) is None
