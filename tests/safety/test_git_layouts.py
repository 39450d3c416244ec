"""No verb of Daybook runs what a hostile repository brings, whatever the repository looks like."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.durability.served import Served
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.safety.layouts import LAYOUTS, by_settings, in_a_bare_repository
from tests.safety.ways import ENVIRONMENT, ask_git, ran, run_git, write_change, write_way
from tests.terminal import type_in_terminal

Layout = Callable[[Path, Path], Path]


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def lay_out(layout: Layout, place: Path, marks: Path) -> Path:
    """Make the hostile repository; what the making itself ran does not count."""
    folder = layout(place, marks)
    write_change(top(folder))
    for mark in marks.iterdir():
        mark.unlink()
    return folder


def top(folder: Path) -> Path:
    """Return where the work tree begins."""
    return folder if (folder / "a.txt").exists() else folder.parent


def older(memory_dir: Path) -> None:
    """Let the session that was saved be of an older commit, so that there is something to ask git."""
    (saved,) = memory_dir.rglob("sessions/*.md")
    text = saved.read_text(encoding="utf-8")
    head = text.partition("git main ")[2][:40] or text.partition("git HEAD ")[2][:40]
    assert len(head) == 40
    commit = run_git(saved.parent, "-C", os.environ["REPOSITORY"], "rev-parse", f"{head}~1")
    saved.write_text(text.replace(head, commit), encoding="utf-8")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_the_server_runs_nothing_of_the_repository(
    layout: Layout, tmp_path: Path, memory_dir: Path, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lay_out(layout, tmp_path, marks)
    monkeypatch.setenv("REPOSITORY", str(top(folder)))
    with Served(memory_dir, folder) as server:
        server.greet()
        server.call("save_session", title="Work", context="going on", files=["a.txt"])
        older(memory_dir)
        server.call("remember", title="A", content="a fact", touches=["a.txt"])
        told_since = server.call("restore_session")
        for tool in ("recall", "list_memories", "find_contradictions", "get_stats", "kg_read"):
            server.call(tool, **({"query": "a fact"} if tool == "recall" else {}))
        server.call("hook", event="UserPromptSubmit", session_id="s", prompt="a fact")
    assert ran(marks) == []
    assert "a.txt" in told_since
    ask_git(folder, LAYOUTS[layout], terminal=False)
    assert ran(marks), "git itself runs nothing here, so nothing was shown"


@pytest.mark.parametrize("layout", [by_settings, in_a_bare_repository], ids=lambda layout: layout.__name__)
def test_no_command_runs_anything_of_the_repository_whatever_it_puts_into_the_environment(
    layout: Layout, tmp_path: Path, memory_dir: Path, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lay_out(layout, tmp_path, marks)
    monkeypatch.setenv("REPOSITORY", str(top(folder)))
    named: dict[str, str] = {}
    for way in ENVIRONMENT:
        named |= write_way(top(folder), way, marks)
    (folder / ".claude").mkdir()
    (folder / ".claude/settings.json").write_text(json.dumps({"env": named}), encoding="utf-8")
    settings = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT), **named}

    def run(*words: str, module: str = "cli", event: object = None) -> str:
        process = subprocess.run(
            [sys.executable, "-P", "-m", f"mcp_server.doors.{module}", *words],
            cwd=folder,
            env={**os.environ, **settings},
            input=json.dumps(event or {}).encode(),
            capture_output=True,
            timeout=PATIENCE,
        )
        assert process.returncode == 0, process.stderr
        return process.stdout.decode()

    run("save-session", "Work", "--context", "going on", "--files", "a.txt")
    older(memory_dir)
    run("remember", "A | a fact", "--touches", "a.txt")
    output = run("restore-session")
    assert "a.txt" in output
    assert "\nSince then:\ncommit " in output
    run("where")
    for words in (["init", "--file", "CLAUDE.local.md", "--repository"], ["share"]):
        command = [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words]
        typed = type_in_terminal(command, cwd=folder, env={**os.environ, **settings})
        assert typed.returncode == 0, typed.stdout
    run("brief")
    run("status")
    run("SessionStart", module="hooks", event={"session_id": "s", "source": "startup", "cwd": str(folder)})
    assert ran(marks) == []
