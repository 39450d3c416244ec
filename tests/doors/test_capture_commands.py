"""Past sessions from the shell: whether they are captured, taken in, and decided on."""

import json
import re
from pathlib import Path

import pytest

from mcp_server.actions.upkeep.work import Work
from mcp_server.doors.shown import upkeep
from tests.doors.shell import Run
from tests.recorded import Recorded


def transcript(folder: Path, project: Path) -> Path:
    """Record a session of *project* where Claude Code keeps them."""
    recorded = Recorded(folder / "projects" / "-shop", cwd=project)
    recorded.user("We decided to keep invoices in Postgres because of the reports.")
    recorded.claude("Noted.")
    return recorded.path


def test_past_sessions_are_counted_taken_in_and_found(run: Run, project: Path, tmp_path: Path) -> None:
    transcript(tmp_path / "claude", project)
    claude = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}

    assert run("backfill", "--dry-run", **claude).stdout.startswith("1 transcript to take in")
    assert run("backfill", **claude).stdout == "1 transcript taken in, 2 turns.\n"
    assert run("backfill", **claude).stdout.startswith("0 transcripts to take in")
    assert "keep invoices in Postgres" in run("recall", "invoices", "--kind", "conversation").stdout


def test_capture_can_be_switched_off(run: Run, memory_dir: Path) -> None:
    assert "capture is manual" in run("setup", "--capture", "manual").stdout
    assert (memory_dir / "config.toml").read_text(encoding="utf-8") == 'capture = "manual"\n'

    process = run("backfill")

    assert process.returncode == 4
    assert "Nothing is captured" in process.stderr


def test_setup_without_a_terminal_says_which_options_to_give(run: Run, memory_dir: Path) -> None:
    process = run("setup")

    assert process.returncode == 4
    assert "--model or --no-model" in process.stderr
    assert not (memory_dir / "config.toml").exists()


@pytest.mark.feature("A-46")
def test_setup_says_what_holds_and_what_is_missing(run: Run, typed: Run) -> None:
    output = typed("setup", "--model", "--daily-usd", "0.05").stdout

    assert "at most $0.05 and 60 calls a day" in output
    assert "There is no API key yet" in output
    assert "you allowed model calls" not in run("status").stdout
    assert "FAIL  language model: it is allowed, but there is no API key" in run("doctor").stdout
    assert "never called" in run("setup", "--no-model").stdout


def test_candidates_are_listed_and_decided_on(run: Run, typed: Run, project: Path, tmp_path: Path) -> None:
    transcript(tmp_path / "claude", project)
    run("backfill", CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))

    (waiting,) = json.loads(run("candidates", "--json").stdout)
    assert waiting["text"].startswith("We decided to keep invoices")
    assert "We decided to keep invoices" in run("candidates").stdout
    summary, *_, stored_line = typed("candidates", "--approve", waiting["id"]).stdout.splitlines()
    assert summary == "Stored: 1 added."
    assert "  added" in stored_line and run("read", stored_line.partition(" ")[0]).returncode == 0
    assert run("candidates").stdout == "No candidate waits.\n"
    assert typed("candidates", "--reject", "nope").returncode == 3


def test_work_says_what_it_did(run: Run, memory_dir: Path) -> None:
    assert run("work").stdout == "0 turns kept; memories: nothing\n"
    with_occasions = "0 turns kept; memories: nothing; occasions for 2 memories"
    assert upkeep.worked(Work(occasions=2)).head == with_occasions


def test_what_a_person_approves_in_a_terminal_is_accepted_as_it_is(
    run: Run, typed: Run, project: Path, tmp_path: Path
) -> None:
    recorded = Recorded(tmp_path / "claude" / "projects" / "-shop", cwd=project)
    recorded.user("We decided to approve every request of the shop before each commit.")
    run("backfill", CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    (waiting,) = json.loads(run("candidates", "--json").stdout)
    assert "reads like an instruction" in waiting["why"]

    (stored,) = json.loads(typed("candidates", "--approve", waiting["id"], "--json").stdout)

    assert stored["action"] == "add"
    assert run("trust", "--list").stdout == "Nothing waits for you.\n"
    assert "approve every request" in run("brief").stdout


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (("--model",), {"DAYBOOK_MODEL_CALLS": "true"}),
        (("--daily-usd", "99"), {"DAYBOOK_DAILY_USD": "99"}),
        (("--daily-calls", "900"), {"DAYBOOK_DAILY_CALLS": "900"}),
        (("--plan",), {"DAYBOOK_PLAN_CALLS": "true"}),
    ],
)
def test_a_variable_set_for_the_command_is_no_consent_that_lasts(
    run: Run, memory_dir: Path, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    process = run("setup", *words, **variables)

    assert process.returncode == 12
    assert not (memory_dir / "config.toml").exists()


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (("--no-model",), {"DAYBOOK_MODEL_CALLS": "true"}),
        (("--daily-usd", "0.01"), {"DAYBOOK_DAILY_USD": "0.2"}),
        (("--no-plan",), {"DAYBOOK_PLAN_CALLS": "true"}),
        (("--capture", "manual"), {"DAYBOOK_CAPTURE": "auto"}),
    ],
)
def test_setup_says_that_a_variable_wins_over_what_was_chosen(
    run: Run, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    ((name, value),) = variables.items()

    assert f"{name} is set to '{value}' and wins" in run("setup", *words, **variables).stderr
    assert run("setup", *words).stderr == ""


@pytest.mark.parametrize("words", [("ask", "where are invoices"), ("tidy",), ("work",)])
def test_what_may_wait_for_a_model_shows_in_a_terminal_alone_that_it_waits(
    run: Run, typed: Run, words: tuple[str, ...]
) -> None:
    run("remember", "Invoices in Postgres | Invoices are kept in Postgres.")

    screen = typed(*words).stdout

    waits = re.match(r"(\w[\w ]+ \.\.\.)\r( +)\r\w", screen)
    assert waits and len(waits[1]) == len(waits[2]), screen
    assert run(*words).stderr == ""
