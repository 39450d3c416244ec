"""A git that cannot be kept from running a repository's programs is asked for nothing but its version."""

import os
import shutil
from pathlib import Path

import pytest

from mcp_server.adapters import git
from mcp_server.adapters.git import Git, GitTrouble
from tests.opened import run_daybook
from tests.safety.ways import run_git, write_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_repository(tmp_path / "shop")
    return tmp_path / "shop"


def write_git(place: Path, version: str) -> Path:
    """Put a git of that *version* into *place*; it writes down what else it is asked. Return where."""
    place.mkdir(parents=True, exist_ok=True)
    call_log = place.parent / f"asked-{place.name}"
    call_log.touch()
    program = place / "git"
    program.write_text(
        f'#!/bin/sh\n[ "$*" = --version ] && echo "git version {version}" && exit\n'
        f'echo "$*" >>"{call_log}"\nexec "{shutil.which("git")}" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return call_log


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ("1.9.1", False), ("2.17.1", False), ("2.34.1", False), ("2.37.9", False), ("2.38.5", False),
        ("2.39.3", False), ("2.39.4", True), ("2.39.5 (Apple Git-154)", True), ("2.40.1", False),
        ("2.40.2", True), ("2.41.0", False), ("2.41.1", True), ("2.42.2", True), ("2.43.0", False),
        ("2.43.4", True), ("2.44.0", False), ("2.44.1", True), ("2.44", False), ("2.45.0", True),
        ("2.45.GIT", True), ("2.51.0.windows.1", True), ("3.0.0", True), ("", False), ("nonsense", False),
    ],
)  # fmt: skip
def test_git_is_asked_only_when_its_release_knows_how_to_run_nothing(
    version: str, safe: bool, tmp_path: Path, folder: Path
) -> None:
    call_log = write_git(tmp_path / "bin", version)
    old = Git(path=f"{tmp_path / 'bin'}:{os.environ['PATH']}", home=os.environ["HOME"])
    then, now = run_git(folder, "rev-parse", "HEAD~1"), run_git(folder, "rev-parse", "HEAD")

    state = git.git_state(folder)

    assert state == git.GitState("main", now)
    assert (git.files_changed(old, folder, then, now) == ["a.txt"]) is safe
    assert bool(git.commits_since(old, folder, then, now)) is safe
    assert (git.ignores(old, folder, "a.txt") is None) is not safe
    assert (git.trouble(old, folder) is None) is safe
    assert bool(call_log.read_text(encoding="utf-8")) is safe


def test_where_and_restore_session_say_why_git_is_not_asked(
    folder: Path, tmp_path: Path, memory_dir: Path
) -> None:
    call_log = write_git(tmp_path / "bin", "2.34.1")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"

    def run(*words: str, typed: bool = False) -> str:
        process = run_daybook(memory_dir, *words, cwd=folder, typed=typed, PATH=path)
        assert process.returncode == 0, process.stderr + process.stdout
        return process.stdout

    run("save-session", "Work", "--context", "going on", "--files", "a.txt")
    run_git(folder, "commit", "--allow-empty", "-qm", "more")
    run_git(folder, "switch", "-qc", "feature")
    os.utime(folder / "a.txt", (2**32, 2**32))
    output = run("restore-session")

    sentence = f"Git 2.34.1 ({tmp_path / 'bin' / 'git'}) could be made to run programs of a repository"
    assert sentence in run("where")
    assert sentence in output
    assert "\nthe branch is now feature\n" in output
    assert "\nchanged files: a.txt\n" in output
    assert "\ncommit " not in output
    run("init", "--file", "CLAUDE.local.md", typed=True)
    assert call_log.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    "entry", ["", ".", "bin", "{folder}/bin", "{folder}/./bin/../bin", "/proc/self/cwd/bin"]
)
def test_a_git_that_a_repository_put_first_on_the_path_is_passed_over(
    entry: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_log = write_git(folder / "bin", "2.51.0")
    write_git(folder, "2.51.0")
    monkeypatch.chdir(folder)
    mine = Git(path=f"{entry.format(folder=folder)}:{os.environ['PATH']}", home=os.environ["HOME"])
    inner = folder / "docs"
    inner.mkdir()
    (inner / ".git").symlink_to("../.git")

    for place in (folder, inner):
        assert git.commits_since(
            mine, place, run_git(folder, "rev-parse", "HEAD~1"), run_git(folder, "rev-parse", "HEAD")
        )
    assert call_log.read_text(encoding="utf-8") == ""


def test_without_a_git_of_the_persons_own_it_says_so(folder: Path) -> None:
    write_git(folder / "bin", "2.51.0")

    assert git.trouble(Git(path=f"{folder / 'bin'}:bin:"), folder) == GitTrouble()
    assert git.files_changed(Git(path=f"{folder / 'bin'}:bin:"), folder, "0" * 40, "1" * 40) == []
