"""A person's word: what accepts, consents, settles or deletes for good takes it in their terminal alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.adapters.parent_processes import MARKS, Ancestor, ancestors, is_claudes_client
from mcp_server.doors.cli.person import objection
from tests.doors.shell import Run, output_of
from tests.live import ROOT
from tests.memories import files_of_store
from tests.terminal import type_in_terminal

NEEDS_A_PERSON = [  # verbs, with what they are given
    ("trust",),
    ("trust", "one-a1b2"),
    ("review", "accept", "one-a1b2"),
    ("review", "reject", "one-a1b2"),
    ("candidates", "--approve", "all"),
    ("candidates", "--reject", "all"),
    ("contradictions", "--resolve", "one-a1b2", "two-a1b2", "--how", "supersede"),
    ("forget", "one-a1b2", "--forever"),
    ("maintain", "clean", "--apply"),
    ("setup", "--model"),
    ("setup", "--key"),
    ("setup", "--daily-usd", "99"),
    ("setup", "--daily-calls", "9999"),
    ("init", "--repository"),
    ("init", "--file", "CLAUDE.md"),
    ("share",),
    ("model", "use", "multilingual"),
]
each_command = pytest.mark.parametrize("words", NEEDS_A_PERSON, ids=" ".join)


@pytest.fixture
def memory(memory_dir: Path) -> Path:
    """A memory that could be accepted, deleted or forgotten for good."""
    path = memory_dir / "knowledge" / "one-a1b2.md"
    path.parent.mkdir(parents=True)
    text = "---\nid: one-a1b2\ntitle: Tabs\nsource: assistant\n---\nAlways run make check.\n"
    path.write_text(text, encoding="utf-8")
    return path


@each_command
def test_without_a_terminal_nothing_is_done_but_to_say_what_to_type(
    run: Run, memory: Path, memory_dir: Path, project: Path, words: tuple[str, ...]
) -> None:
    run("list")  # notes that the file arrived
    before = files_of_store(memory_dir, project)

    process = run(*words)

    assert process.returncode == 12, process.stdout + process.stderr
    assert "needs the person's consent, and this is not a terminal. Nothing was changed." in process.stderr
    assert (
        f"The person types it in their own terminal, not one that Claude started: daybook {words[0]}"
        in process.stderr
    )
    assert process.stdout == ""
    assert files_of_store(memory_dir, project) == before


@pytest.mark.parametrize("mark", MARKS)
def test_a_terminal_that_claude_started_is_nobodys_word(
    memory: Path, memory_dir: Path, project: Path, mark: str
) -> None:
    """The command itself, and a shell in between, have nothing of Claude's in their environment any more."""
    command = f'env -u {mark} "{sys.executable}" -P -m mcp_server.doors.cli trust'
    wrapped = ["env", f"{mark}=1", "sh", "-c", f"env -u {mark} sh -c '{command}; exit $?'; exit $?"]

    process = type_in_terminal(wrapped, cwd=project, env=surroundings(memory_dir))

    assert process.returncode == 12, process.stdout
    assert "Claude Code started this terminal" in process.stdout


def test_a_shell_that_becomes_the_command_does_not_hide_claude(
    memory: Path, memory_dir: Path, project: Path, tmp_path: Path
) -> None:
    """The client's own process bears no mark: its name tells."""
    claude = tmp_path / "claude"
    claude.symlink_to(sys.executable)
    program = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    daybook = [sys.executable, "-P", "-m", "mcp_server.doors.cli", "trust"]

    process = type_in_terminal([claude, "-c", program, *daybook], cwd=project, env=surroundings(memory_dir))

    assert process.returncode == 12, process.stdout
    assert "Claude Code started this terminal" in process.stdout


def test_a_terminal_of_the_persons_is_their_word(run: Run, typed: Run, memory: Path) -> None:
    assert "1 waits." in output_of(run("trust", "--list"))

    assert "1 accepted." in output_of(typed("trust"))

    assert "Nothing waits" in output_of(run("trust", "--list"))
    assert "for good" in output_of(typed("forget", "one-a1b2", "--forever"))
    assert not memory.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("setup", "--no-model"),
        ("setup", "--daily-usd", "0"),
        ("setup", "--capture", "manual"),
        ("init", "--file", "none"),
        ("init", "--no-repository"),
        ("maintain", "clean"),
        ("forget", "one-a1b2"),
        ("candidates",),
        ("review",),
        ("trust", "--list"),
    ],
    ids=" ".join,
)
def test_what_allows_less_or_can_be_taken_back_needs_no_terminal(
    run: Run, memory: Path, words: tuple[str, ...]
) -> None:
    assert run(*words).returncode == 0


def test_to_allow_again_what_was_forbidden_needs_the_person(run: Run) -> None:
    output_of(run("setup", "--capture", "manual"))

    assert run("setup", "--capture", "auto").returncode == 12
    assert run("setup", "--capture", "suggest").returncode == 12


def test_each_end_must_be_a_terminal(memory: Path, memory_dir: Path, project: Path) -> None:
    daybook = f'"{sys.executable}" -P -m mcp_server.doors.cli trust'
    for line in (f"{daybook} | cat >&2; exit 12", f"echo y | {daybook}"):
        process = type_in_terminal(["sh", "-c", line], cwd=project, env=surroundings(memory_dir))

        assert process.returncode == 12
        assert "this is not a terminal" in process.stdout


def test_the_processes_above_are_known_by_name_and_environment(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = (
        "from mcp_server.adapters.parent_processes import ancestors\n"
        "above = list(ancestors())\n"
        "print(sorted(above[0].names), above[0].environment.get('CLAUDECODE'), len(above))"
    )
    shell = tmp_path / "my (odd) shell"
    shell.symlink_to("/bin/sh")
    subprocess.run(
        [shell, "-c", f'"{sys.executable}" -c "$1"; :', "sh", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), "CLAUDECODE": "1"},
        check=True,
    )

    printed = capfd.readouterr().out
    assert "my (odd) shell" in printed
    assert "1" in printed


def test_without_proc_the_names_come_from_ps(tmp_path: Path) -> None:
    above = [process.names for process in ancestors(tmp_path)]

    assert len(above) >= 1
    assert above[0] & next(ancestors()).names


def test_nobody_is_asked_where_nothing_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tty:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Tty())
    monkeypatch.setattr(sys, "stdout", Tty())
    shell = Ancestor(frozenset({"bash"}), {"CLAUDE_CODE_USE_BEDROCK": "1"})  # a setting of the person's

    assert objection({"CLAUDE_CODE_USE_BEDROCK": "1"}, [shell]) == ""
    assert objection({}, [shell, Ancestor(frozenset({"claude"}), {})]) == "Claude Code started this terminal"


def surroundings(memory_dir: Path) -> dict[str, str]:
    settings = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **settings}


# What Claude types


def test_what_claude_types_is_not_taken_for_the_persons_words(run: Run, typed: Run) -> None:
    theirs = json.loads(output_of(typed("remember", "Port | It is 5433.", "--json")))["id"]
    claudes = json.loads(output_of(run("remember", "Host | It is db.", "--json", CLAUDECODE="1")))["id"]
    assert json.loads(output_of(run("read", theirs, "--json")))["source"] == "manual"
    assert json.loads(output_of(run("read", claudes, "--json")))["source"] == "assistant"

    output_of(run("revise", claudes, "--text", "Always run deploy.sh.", CLAUDECODE="1"))

    assert [entry["id"] for entry in json.loads(output_of(run("review", "--json")))["entries"]] == [claudes]


def test_a_command_that_claude_starts_seeds_from_the_project_only(run: Run, project: Path) -> None:
    text = "# Herons\n\nHerons stand in the shallow water and wait.\n"
    for path in (project / "notes.md", project.parent / "outside.md"):
        path.write_text(text, encoding="utf-8")

    refused = run("seed", "../outside.md", CLAUDECODE="1")
    assert refused.returncode == 12
    assert "daybook seed ../outside.md" in refused.stderr

    assert "1 taken" in run("seed", "notes.md", CLAUDECODE="1").stdout
    assert "1 taken" in run("seed", "../outside.md").stdout  # a script of the person's


@pytest.mark.parametrize("mine", [(), ("--mine",)])
def test_claude_imports_nothing_but_may_show_what_would_be_imported(
    run: Run, tmp_path: Path, mine: tuple[str, ...]
) -> None:
    output_of(run("remember", "Host | Run deploy.sh first.", "--level", "user"))
    output_of(run("export", "--format", "json", str(tmp_path / "e.json")))
    fresh = {"MEMORY_DIR": str(tmp_path / "fresh"), "CLAUDECODE": "1"}
    command = ("import", "daybook", str(tmp_path / "e.json"), *mine)

    assert "1 would be taken" in output_of(run(*command, "--dry-run", **fresh))
    refused = run(*command, **fresh)

    assert refused.returncode == 12
    assert "Importing memories needs the person's consent" in refused.stderr
    assert "No memories yet" in output_of(run("list", **fresh))
    assert "1 taken" in output_of(run(*command, **{**fresh, "CLAUDECODE": ""}))  # a script of the person's


CLIENT, SHELL = ("claude", ""), ("bash", "")
MARKED = ("claude", "CLAUDECODE")


@pytest.mark.parametrize(
    ("above", "claudes"),
    [
        ([CLIENT, SHELL, ("tmux", "")], False),
        ([("sh", "CLAUDECODE"), CLIENT, SHELL], False),  # what our client itself started has marks
        ([CLIENT, CLIENT, SHELL], False),  # it started itself anew
        ([("claude", "CLAUDE_CODE_ENTRYPOINT"), ("code", "")], False),  # an editor started it
        ([SHELL, ("sshd", "")], False),  # no client is there at all
        ([CLIENT, SHELL, CLIENT], True),
        ([CLIENT, CLIENT, SHELL, CLIENT], True),
        ([MARKED], True),  # whose parent is gone
        ([CLIENT, ("script", "CLAUDE_CODE_CHILD_SESSION")], True),  # the mark was taken off it
    ],
)
def test_a_client_that_claude_started_is_told_from_the_persons(
    above: list[tuple[str, str]], claudes: bool
) -> None:
    processes = [Ancestor(frozenset({name}), {mark: "1"} if mark else {}) for name, mark in above]

    assert is_claudes_client(processes) is claudes


@pytest.mark.parametrize(("mark", "answer"), [("CLAUDECODE", "Unanswered.NOBODY"), ("NOTHING", "yes")])
def test_nobody_is_asked_in_a_session_that_claude_started(tmp_path: Path, mark: str, answer: str) -> None:
    claude = tmp_path / "claude"
    claude.symlink_to(sys.executable)
    runs = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    asks = (
        "from mcp_server.doors.server.inside.ask_person import Inside\n"
        "print(Inside({'Sure?': 'Yes'}).ask('Sure?', {'yes': 'Yes'}))"
    )
    command = ["env", f"{mark}=1", claude, "-c", runs, sys.executable, "-c", asks]

    process = type_in_terminal(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})

    assert process.stdout.strip() == answer
