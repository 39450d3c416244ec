"""What a person types: the commands expand, and lead to real calls that need no further permission."""

import re
from pathlib import Path

import pytest
from harness.drive_claude import Claude, Run
from harness.mock_anthropic import call

pytestmark = pytest.mark.client

DENIED = "haven't granted it yet"


def expansion(run: Run, command: str) -> str:
    """Return what the model was told to do for */daybook:command*."""
    expanded = run.main[0].said()
    assert f"<command-name>/daybook:{command}</command-name>" in expanded
    assert "$ARGUMENTS" not in expanded
    return re.split(r"</command-(?:name|args)>", expanded)[-1]


@pytest.mark.feature("D-05")
def test_remember_stores_a_file_and_answers_with_its_id_and_path(claude: Claude, store: Path) -> None:
    text = "Webhook needs the raw body | Body parsing must be skipped, or the signature fails."
    run = claude.prompt(
        "/daybook:remember the Stripe trap we just fell into [tags: billing]",
        [call("remember", title=text, type="gotcha", tags=["billing"]), "stored"],
    )

    assert "the Stripe trap we just fell into [tags: billing]" in expansion(run, "remember")
    (result,) = run.tool_results
    answer = re.fullmatch(r"(\S+): remembered as gotcha \(project level\)\.\n(\S+\.md)", result)
    assert answer, result
    path = Path(answer[2])
    assert path.is_relative_to(store)
    file_text = path.read_text(encoding="utf-8")
    assert f"id: {answer[1]}\n" in file_text
    assert "title: Webhook needs the raw body\n" in file_text
    assert "source: manual\n" in file_text  # the person asked for it
    assert file_text.endswith("---\nBody parsing must be skipped, or the signature fails.\n")


@pytest.mark.feature("D-10")
def test_recall_answers_with_what_was_remembered(claude: Claude) -> None:
    claude.prompt(
        "/daybook:remember",
        [call("remember", title="Staging database", content="Staging runs on port 5433."), "stored"],
    )

    run = claude.prompt(
        "/daybook:recall which port has the staging database",
        [call("recall", query="port of the staging database"), "5433"],
    )

    assert "which port has the staging database" in expansion(run, "recall")
    assert re.search(r"^staging-database-\w+ · note · project", run.tool_results[0], re.MULTILINE)
    assert "Staging runs on port 5433." in run.tool_results[0]


@pytest.mark.feature("D-10")
def test_a_saved_session_comes_back_in_a_new_one(claude: Claude, store: Path) -> None:
    saved = claude.prompt(
        "/daybook:save-session Move to the new queue",
        [
            call(
                "save_session",
                title="Move to the new queue",
                context="Half of the producers write to the new queue.",
                files=["src/queue.py"],
                tasks=["switch the consumers"],
            ),
            "saved",
        ],
    )
    restored = claude.prompt(
        "/daybook:restore-session", [call("Bash", command="daybook restore-session"), "back"]
    )

    assert "Move to the new queue" in expansion(saved, "save-session")
    answer = re.fullmatch(r"(\S+): session saved\.\n(\S+\.md)", saved.tool_results[0])
    assert answer, saved.tool_results
    assert Path(answer[2]).is_relative_to(store)
    assert "`daybook restore-session`" in expansion(restored, "restore-session")
    assert restored.session != saved.session
    for part in (answer[1], "Half of the producers", "src/queue.py", "switch the consumers"):
        assert part in restored.tool_results[0]


def test_a_command_that_runs_the_command_line_finds_it_and_needs_no_permission(
    claude: Claude, store: Path
) -> None:
    run = claude.prompt("/daybook:status", [call("Bash", command="daybook where"), "fine"])

    assert str(store) in run.tool_results[0]


def test_claude_may_remember_and_recall_on_its_own(claude: Claude) -> None:
    run = claude.prompt(
        "we use tabs in this code",
        [
            call("remember", title="Indentation", content="This code is indented with tabs."),
            call("recall", query="indentation with tabs"),
            "noted",
        ],
    )

    assert ": remembered as note" in run.tool_results[0]
    assert "This code is indented with tabs." in run.tool_results[1]


def test_claude_may_not_change_or_forget_a_memory_without_asking(claude: Claude) -> None:
    run = claude.prompt(
        "tidy up",
        [
            call("forget", id="staging-database-a1b2"),
            call("revise", id="staging-database-a1b2", title="Other"),
            "not allowed",
        ],
    )

    assert len(run.tool_results) == 2
    assert all(DENIED in result for result in run.tool_results), run.tool_results
