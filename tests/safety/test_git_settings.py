"""No program that a repository, or the surroundings, name for git is run by what Daybook asks of git."""

from pathlib import Path

import pytest

from mcp_server.adapters import git
from mcp_server.adapters.git import Git
from tests.safety.ways import (
    WAYS,
    Way,
    ask_git,
    plain,
    ran,
    run_git,
    write_change,
    write_repository,
    write_way,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_git_would_run_it_and_for_daybook_it_does_not(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marks = tmp_path / "shop", tmp_path / "marks"
    marks.mkdir()
    write_repository(folder)
    then = run_git(folder, "rev-parse", "HEAD~1")
    environment = write_way(folder, way, marks)
    write_change(folder)
    mine = Git(path=plain()["PATH"], home=plain()["HOME"])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    state = git.git_state(folder)
    assert state
    assert git.trouble(mine, folder) is None
    assert git.files_changed(mine, folder, then, state.head) == ["a.txt"]
    assert [line.partition(" ")[2] for line in git.commits_since(mine, folder, then, state.head)] == ["main"]
    assert git.ignores(mine, folder, "a.txt") is False
    assert ran(marks) == []

    if way.live:
        ask_git(folder, way.live, terminal=way.terminal, **environment)
        assert ran(marks), "git itself does not run it, so nothing was shown"
