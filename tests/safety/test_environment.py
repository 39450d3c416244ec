"""What a repository says of variables, homes and other repositories does not count for Daybook itself."""

import json
import os
import pwd
from pathlib import Path

import pytest

from mcp_server.adapters.git import DEFAULT_PATH
from mcp_server.adapters.project import resolve_project
from mcp_server.bootstrap import memory_dir, model_key
from mcp_server.environment import persons_git, persons_own
from tests.safety.ways import run_git, write_repository

REAL_HOME = pwd.getpwuid(os.getuid()).pw_dir


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write_repository(tmp_path / "shop")
    return tmp_path / "shop"


def write_settings(folder: Path, text: str) -> None:
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude/settings.json").write_text(text, encoding="utf-8")


def test_a_repository_names_neither_the_home_nor_the_path(shop: Path) -> None:
    named = {"HOME": str(shop), "PATH": "./bin:$PATH", "XDG_CONFIG_HOME": str(shop)}
    write_settings(shop, json.dumps({"env": named}))
    (shop / ".anthropic").mkdir()
    (shop / ".anthropic/api_key").write_text("of-the-repository", encoding="utf-8")
    (shop / "docs").mkdir()
    for folder in (shop, shop / "docs"):
        own = persons_own({**named, "PATH": f"./bin:{os.environ['PATH']}"}, folder)

        assert own == {}
        assert memory_dir(own) == Path(os.path.realpath(REAL_HOME), ".claude-memory")
        assert model_key(own)[0] != "of-the-repository"
        git = persons_git(own)
        assert (git.path, git.home, git.config_home) == (DEFAULT_PATH, REAL_HOME, "")


def test_a_variable_counts_that_a_broken_file_of_settings_does_not_name(shop: Path) -> None:
    environment = {"HOME": "/h", "PATH": "/p", "MEMORY_DIR": "/m"}
    for text, expected in (
        ('{"env": {', environment),
        ('{"env": {"MEMORY_DIR": "/m",}}', {"HOME": "/h", "PATH": "/p"}),
        ('{"env": {"PA\\u0054H": "/p",}}', {}),
        (" " * 5_000_000, {}),
    ):
        write_settings(shop, text)
        assert persons_own(environment, shop) == expected


def test_what_the_main_worktree_says_counts_for_no_other(shop: Path) -> None:
    run_git(shop, "worktree", "add", "-q", "../second")
    write_settings(shop, '{"env": {"PATH": "/p"}}')

    assert persons_own({"PATH": "/p", "HOME": "/h"}, shop.parent / "second") == {"HOME": "/h"}


def test_a_bare_repository_inside_another_does_not_say_which_project_it_is(shop: Path) -> None:
    run_git(shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
    run_git(shop, "clone", "-q", "--bare", ".", "docs")
    run_git(shop / "docs", "--git-dir=.", "remote", "set-url", "origin", "git@github.com:acme/secret.git")

    project = resolve_project(shop / "docs/refs", home=Path(REAL_HOME))

    assert project == resolve_project(shop, home=Path(REAL_HOME))
    assert project
    assert project.remote == "github.com/acme/shop"
