"""Two machines of one person, with a bare repository between them: each is told what the other learned."""

import functools
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.drive_claude import WAITS, Claude
from harness.mock_anthropic import call
from harness.terminal import needs_tmux, wait_until

from tests.adapters.project.repositories import git
from tests.client.conftest import TRAP
from tests.terminal import type_in_terminal

pytestmark = pytest.mark.client

NAMES = ("desk", "laptop")
ORIGIN = "git@github.com:me/shop.git"
ROUNDING = "Amounts on an invoice are rounded half to even."
INVOICE = call("remember", title="Invoice rounding", content=ROUNDING, type="decision")
RELATED = "how are amounts on an invoice rounded?"
TRIES = 20  # prompts: on a busy machine one goes before it was heard what it calls for, and the next is told
NAMED = '#!/bin/sh\nexec unshare --uts sh -c \'hostname {name} && exec "$0" "$@"\' {program} "$@"\n'


@functools.cache
def may_name_itself() -> bool:
    """Tell whether a program can be given a machine's name of its own; without it both have the same."""
    if not shutil.which("unshare"):
        return False
    trial = ["unshare", "--uts", "hostname", "desk"]
    return subprocess.run(trial, check=False, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def homes(binary: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A HOME for each machine, in which the plugin was installed."""
    folders = {name: tmp_path_factory.mktemp(name) for name in NAMES}
    for folder in folders.values():
        Claude(binary, home=folder, project=folder, env={}).install(plugin)
    return folders


Start = Callable[[str], Claude]


@pytest.fixture
def start(
    binary: Path,
    plugin: Path,
    homes: dict[str, Path],
    environment: Path,
    claude_starts: Path,
    tmp_path: Path,
) -> Start:
    """Returns Claude Code on the machine of a name: its own home, store and clone, and the remote added."""
    trap = tmp_path / "trap" / "claude"
    trap.parent.mkdir()
    trap.write_text(TRAP, encoding="utf-8")
    trap.chmod(0o755)

    def machine(name: str) -> Claude:
        project, program = tmp_path / name / "shop", tmp_path / name / "claude"
        project.mkdir(parents=True)
        git(project, "init", "-q")
        git(project, "remote", "add", "origin", ORIGIN)
        program.write_text(NAMED.format(name=name, program=shlex.quote(str(binary))), encoding="utf-8")
        program.chmod(0o755)
        env = {
            "PATH": f"{trap.parent}:{os.environ['PATH']}",
            "CLAUDE_STARTS": str(claude_starts),
            "DAYBOOK_VENV": str(environment),
            "MEMORY_DIR": str(tmp_path / name / "memory"),
            **WAITS,
        }
        claude = Claude(program if may_name_itself() else binary, home=homes[name], project=project, env=env)
        added = type_in_terminal(
            [plugin / "bin" / "daybook", "remote", "add", str(tmp_path / "memory.git"), "--yes"],
            cwd=project,
            env=claude.environment(""),
        )
        assert added.returncode == 0, added.stdout
        return claude

    return machine


def files_of_remote(remote: Path) -> str:
    """Return the paths that the remote has."""
    command = ["git", f"--git-dir={remote}", "ls-tree", "-r", "--name-only", "daybook"]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout


def knows(claude: Claude, text: str) -> bool:
    """Tell whether a memory in a file of this machine's says *text*."""
    files = Path(claude.env["MEMORY_DIR"]).glob("projects/*/knowledge/*.md")
    return any(text in path.read_text(encoding="utf-8") for path in files)


def daybook(claude: Claude, plugin: Path, *words: str) -> str:
    process = subprocess.run(
        [plugin / "bin" / "daybook", *words],
        cwd=claude.project,
        env=claude.environment(""),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return process.stdout + process.stderr


def test_what_a_session_on_one_machine_learned_the_next_one_on_the_other_is_told_at_its_start(
    start: Start, plugin: Path, tmp_path: Path
) -> None:
    desk, laptop, remote = start("desk"), start("laptop"), tmp_path / "memory.git"
    assert laptop.prompt("good morning").main[0].hook_context("SessionStart") == []

    learned = desk.prompt("we round half to even", [INVOICE, "stored"])
    assert ": remembered as decision" in learned.tool_results[0]
    # Nobody types a command: the worker gives it when the session ends, and takes it where one starts.
    wait_until(lambda: "invoice-rounding" in files_of_remote(remote))
    laptop.prompt("hello")
    wait_until(lambda: knows(laptop, ROUNDING), lambda: daybook(laptop, plugin, "remote", "status"))
    run = laptop.prompt("good morning")

    (brief,) = run.main[0].hook_context("SessionStart")
    assert ROUNDING in brief
    (path,) = Path(laptop.env["MEMORY_DIR"]).glob("projects/*/knowledge/*.md")
    history = daybook(laptop, plugin, "history", path.stem)
    assert not may_name_itself() or "desk" in history, history
    assert f"{remote}, last exchange 2" in daybook(laptop, plugin, "status")


@needs_tmux
def test_what_arrives_when_a_session_has_begun_is_told_with_its_next_prompt(
    start: Start, plugin: Path, tmp_path: Path
) -> None:
    desk, laptop, remote = start("desk"), start("laptop"), tmp_path / "memory.git"
    desk.prompt("we round half to even", [INVOICE, "stored"])
    wait_until(lambda: "invoice-rounding" in files_of_remote(remote))

    with laptop.interactive() as terminal:
        arrivals = Path(laptop.env["MEMORY_DIR"]) / "remote" / "came.json"
        wait_until(arrivals.exists, terminal.screen)  # its own start took it
        for number in range(TRIES):
            first = terminal.send(f"good morning {number}", [f"hi {number}"])[0]
            if first.hook_context("UserPromptSubmit"):
                break
        second = terminal.send(RELATED, ["half to even"])[0]

    assert first.hook_context("SessionStart") == []
    (context,) = first.hook_context("UserPromptSubmit")
    assert "came from another of the person's machines" in context and ROUNDING in context
    assert second.hook_context("UserPromptSubmit") == [context]  # from the turn before
    assert ROUNDING in "".join(laptop.prompt("good morning").main[0].hook_context("SessionStart"))


def test_offline_nobody_waits_and_nothing_is_lost(start: Start, plugin: Path, tmp_path: Path) -> None:
    desk, laptop, remote = start("desk"), start("laptop"), tmp_path / "memory.git"
    remote.rename(tmp_path / "away.git")

    learned = desk.prompt("we round half to even", [INVOICE, "stored"])

    assert ": remembered as decision" in learned.tool_results[0]
    wait_until(lambda: "could not be reached" in daybook(desk, plugin, "remote", "status"))
    run = desk.prompt("good morning")
    assert run.code == 0 and ROUNDING in "".join(run.main[0].hook_context("SessionStart"))
    (tmp_path / "away.git").rename(remote)
    desk.prompt("good evening")
    wait_until(lambda: "invoice-rounding" in files_of_remote(remote))
    laptop.prompt("hello")
    wait_until(lambda: knows(laptop, ROUNDING))
