"""What is never a project, and what only looks like a repository."""

import os
from pathlib import Path

import pytest

from mcp_server.adapters.project import has_remote, resolve_project
from tests.adapters.project.repositories import GITHUB, folder, needs_git, repository, resolved, write_config
from tests.growth import grows_evenly

pytestmark = needs_git

# What is never a project


def test_the_home_directory_and_everything_above_it_are_no_project(home: Path) -> None:
    for place in (home, home.parent, Path("/")):
        assert resolve_project(place, home=home) is None


def test_a_repository_rooted_at_home_or_above_it_is_no_project(home: Path) -> None:
    repository(home.parent)
    assert resolve_project(folder(home / "notes"), home=home) is None
    repository(home, GITHUB)
    assert resolve_project(home / "notes", home=home) is None
    assert resolved(repository(home / "code"), home).root == home / "code"


def test_home_behind_a_symbolic_link_is_still_no_project(home: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(home, target_is_directory=True)

    assert resolve_project(home, home=tmp_path / "door") is None
    assert resolve_project(tmp_path / "door", home=home) is None


# Odd input


def test_a_git_folder_without_head_is_not_a_repository(home: Path) -> None:
    folder(home / "shop" / ".git" / "objects")
    folder(home / "shop" / ".git" / "refs")

    assert resolved(home / "shop", home).reason.endswith("which is in no git repository")


@pytest.mark.parametrize(
    "pointer", ["", "gitdir:", "gitdir: .git", "gitdir: .", "gitdir: /nowhere", "\0\xff"]
)
def test_a_git_file_that_leads_nowhere_is_no_repository(home: Path, pointer: str) -> None:
    (folder(home / "shop") / ".git").write_bytes(pointer.encode("latin-1"))

    assert resolved(home / "shop", home).reason.endswith("which is in no git repository")


def test_links_in_circles_pipes_and_devices_are_no_repository(home: Path) -> None:
    for name, target in (("circle", ".git"), ("device", "/dev/zero")):
        (folder(home / name) / ".git").symlink_to(target)
    os.mkfifo(folder(home / "pipe") / ".git")
    (home / "loop").symlink_to(home / "loop")

    for name in ("circle", "device", "pipe", "loop"):
        assert resolved(home / name, home).root == home / name


def test_a_config_that_is_a_pipe_or_a_link_is_not_read(home: Path, tmp_path: Path) -> None:
    root = repository(home / "shop", GITHUB)
    (root / ".git" / "config").rename(tmp_path / "config")
    os.mkfifo(root / ".git" / "config")
    assert resolved(root, home).remote == ""
    (root / ".git" / "config").unlink()
    (root / ".git" / "config").symlink_to(tmp_path / "config")
    assert resolved(root, home).remote == ""


def test_circular_commondir_files_end(home: Path) -> None:
    root = repository(home / "shop")
    (root / ".git" / "commondir").write_text(".\n", encoding="utf-8")
    assert resolved(root, home).root == root
    (root / ".git" / "commondir").write_text("../nowhere\n", encoding="utf-8")
    assert resolved(root, home).root == root


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_git_folder_is_no_repository(home: Path) -> None:
    root = repository(home / "shop")
    (root / ".git").chmod(0)
    try:
        assert resolved(root, home).root == root
    finally:
        (root / ".git").chmod(0o700)


@pytest.mark.parametrize("line", ["\n", " \n", "[core]\n", "[\n"])
def test_a_config_is_searched_for_remotes_in_proportion_to_its_length(home: Path, line: str) -> None:
    def make(lines: int) -> Path:
        root = repository(home / f"shop-{lines}")
        write_config(root, line * lines)
        return root

    assert grows_evenly(make, has_remote, most=8192)


def test_of_a_huge_config_the_beginning_is_read_in_whole_lines(home: Path) -> None:
    root = repository(home / "shop")
    padding = "#" * (64 * 1024 - 60)
    write_config(root, f'{padding}\n[remote "origin"]\n url = https://github.com/acme/shop-and-more\n')
    assert resolved(root, home).remote == ""
    write_config(root, f'[remote "origin"]\n url = {GITHUB}\n{padding * 9}')
    assert resolved(root, home).remote == "github.com/acme/shop"


@pytest.mark.parametrize("name", ["nul\0byte", "a\nb", "x" * 5000])
def test_no_name_of_a_folder_raises(home: Path, name: str) -> None:
    assert resolve_project(home / name, home=home) is not None


@pytest.mark.parametrize("name", ["\ud800", "caf\udce9"])
def test_a_folder_whose_path_is_not_utf8_is_no_project(home: Path, name: str) -> None:
    assert resolve_project(home / name, home=home) is None
    assert resolve_project(home / name / "below", home=home) is None


def test_a_deleted_working_directory_raises_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(home / "short"))
    (home / "short").rmdir()

    assert resolve_project(Path("lived"), home=home) is not None


def test_git_itself_is_not_needed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(home / "shop", GITHUB)
    monkeypatch.setenv("PATH", "")

    assert resolved(root, home).remote == "github.com/acme/shop"
