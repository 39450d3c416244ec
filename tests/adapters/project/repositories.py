"""Repositories that the real git makes, and the project that a folder belongs to."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mcp_server.adapters.project import Project, resolve_project

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

GITHUB = "git@github.com:Acme/Shop.git"
OPTIONS = (
    "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
    "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *OPTIONS, *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


def repository(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def resolved(path: Path, home: Path) -> Project:
    project = resolve_project(path, home=home)
    assert project is not None, path
    return project


def write_config(root: Path, text: str) -> None:
    (root / ".git" / "config").write_text(text, encoding="utf-8")
