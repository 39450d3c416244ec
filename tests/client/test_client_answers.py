"""What recall answers after sessions that only asked, and what a session with many memories begins with."""

import re
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call
from test_client_capture import reached

pytestmark = pytest.mark.client

QUESTION = "how are amounts on an invoice rounded?"
RIGHT = "Amounts on an invoice are rounded half to even."
ECHOES = (
    "I would have to look at the code.",
    "Rounded in the usual way, I guess.",
    "Let me check that later.",
)
BELOW = "From past conversations"
MOST = 1000 * 4  # characters of a brief, four to a token
PARTS = (
    *("checkout", "mailer", "search", "billing", "gateway", "importer", "reports", "login"),
    *("queue", "storage"),
)
SUBJECTS = ("port", "owner", "time limit", "log format")


def test_what_is_known_is_answered_before_sessions_that_only_asked(claude: Claude, store: Path) -> None:
    first = claude.prompt(
        f"/daybook:remember Invoice rounding | {RIGHT}",
        [call("remember", title="Invoice rounding", content=RIGHT, type="decision"), "stored"],
    )
    stored = re.search(r"remembered as (\S+)", first.tool_results[0])
    for echo in ECHOES:
        claude.prompt(QUESTION, [echo], until=reached(store, "transcript_kept"))

    run = claude.prompt("good morning", [call("recall", query=QUESTION), "half to even"])

    (answer,) = run.tool_results
    above, _, below = answer.partition(BELOW)
    assert stored and stored[1].rstrip(".:,") in above and RIGHT in above
    assert not any(echo in above for echo in ECHOES)
    assert below.count("conversation ·") <= 2


def test_a_conversation_that_answers_is_found_and_the_turn_that_asks_is_not(
    claude: Claude, store: Path
) -> None:
    claude.prompt(f"We decided today: {RIGHT}", ["Noted."], until=reached(store, "transcript_kept"))
    session = claude.prompt(QUESTION, [ECHOES[0]], until=reached(store, "transcript_kept")).session

    run = claude.prompt(QUESTION, [call("recall", query=QUESTION), "half to even"], resume=session)

    assert RIGHT in run.tool_results[-1]
    assert ECHOES[0] not in run.tool_results[-1]
    assert run.tool_results[-1].count("conversation ·") == 1


def test_a_project_with_forty_memories_is_known_to_claude_whole(claude: Claude, store: Path) -> None:
    folder = store / "knowledge"
    folder.mkdir(parents=True)
    titles = [f"The {subject} of the {part}" for part in PARTS for subject in SUBJECTS]
    for number, title in enumerate(titles):
        text = f"{title} was settled with the team: value {number}, for reasons that are told at length. " * 4
        head = f"title: {title}\ntype: decision\ncreated: 2026-01-01T00:00:00Z"
        (folder / f"m{number}.md").write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")
    claude.prompt("good morning")

    run = claude.prompt("good morning again")

    (brief,) = run.main[0].hook_context("SessionStart")
    assert [title for title in titles if title not in brief] == []
    assert len(brief) <= MOST
