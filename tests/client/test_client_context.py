"""What reaches the model unasked: at the start of a session, with a prompt, and in a subagent."""

import json
import re
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from harness.drive_claude import Claude, Run
from harness.mock_anthropic import Request, call
from harness.terminal import PATIENCE, needs_tmux, wait_until

pytestmark = pytest.mark.client

RELATED = "how are amounts on an invoice rounded?"
TRIES = 6
UNRELATED = "please give the login page a dark background"


def remember(claude: Claude, text: str, **more: str) -> Run:
    run = claude.prompt(f"/daybook:remember {text}", [call("remember", title=text, **more), "stored"])
    assert ": remembered as" in run.tool_results[0]
    return run


def write_old_reference(store: Path, title: str, text: str) -> Path:
    """Write by hand what is too old for the brief, so that only a prompt can call for it."""
    date = f"{datetime.now(UTC) - timedelta(days=60):%Y-%m-%dT%H:%M:%SZ}"
    path = store / "knowledge" / "by-hand.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"---\ntitle: {title}\ntype: reference\ncreated: {date}\nupdated: {date}\n---\n{text}\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.feature("A-03")
def test_what_one_session_remembered_the_next_is_told_at_its_start(claude: Claude) -> None:
    remember(claude, "Invoice rounding | Amounts are rounded half to even.", type="decision")

    run = claude.prompt("good morning")

    (brief,) = run.main[0].hook_context("SessionStart")
    assert "Amounts are rounded half to even." in brief
    assert run.main[0].hook_context("UserPromptSubmit") == []


def test_a_related_prompt_brings_a_memory_once_and_an_unrelated_one_brings_nothing(claude: Claude) -> None:
    session = claude.prompt("good morning").session
    remember(claude, "Invoice rounding | Amounts on an invoice are rounded half to even.")

    unrelated = claude.prompt(UNRELATED, resume=session)
    for _ in range(TRIES):  # a server that starts on a busy machine may be too slow for its first prompt
        related = claude.prompt(RELATED, resume=session)
        if related.main[0].hook_context("UserPromptSubmit"):
            break
    again = claude.prompt(RELATED, resume=session)

    assert unrelated.main[0].hook_context("SessionStart") == []
    assert unrelated.main[0].hook_context("UserPromptSubmit") == []
    (context,) = related.main[0].hook_context("UserPromptSubmit")
    assert "Amounts on an invoice are rounded half to even." in context
    assert again.main[0].hook_context("UserPromptSubmit") == [context]  # from the turn before


def test_a_memory_of_another_project_is_not_brought(claude: Claude, tmp_path: Path) -> None:
    remember(claude, "Invoice rounding | Amounts on an invoice are rounded half to even.")
    claude.project = tmp_path / "another"
    claude.project.mkdir()

    request = claude.prompt(RELATED).main[0]

    assert request.hook_context("SessionStart") == []
    assert request.hook_context("UserPromptSubmit") == []


def test_an_edit_by_hand_between_two_sessions_is_told_to_the_next(claude: Claude, store: Path) -> None:
    path = write_old_reference(store, "Invoice rounding", "Amounts on an invoice are rounded half up.")
    before = claude.prompt("good morning", [call("recall", query="invoice rounding"), "hi"])
    edit(path, "half up", "half to even")

    after = claude.prompt(RELATED)

    assert "rounded half up" in before.tool_results[0]
    # The worker of the first session may have seen the edit: then the second is told it at its start already.
    contexts = [
        context
        for event in ("SessionStart", "UserPromptSubmit")
        for context in after.main[0].hook_context(event)
    ]
    assert "rounded half to even" in "".join(contexts)
    assert "rounded half up" not in "".join(contexts)


@needs_tmux
def test_an_edit_by_hand_between_two_prompts_of_a_running_session_is_seen(
    claude: Claude, store: Path, plugin: Path
) -> None:
    path = write_old_reference(store, "Invoice rounding", "Amounts on an invoice are rounded half up.")
    claude.prompt("good morning")  # a session that begins without an index is shown its brief with a prompt

    with claude.interactive() as terminal:
        before = terminal.send(UNRELATED, [call("recall", query="invoice rounding"), "rounded they are"])
        wait_until(lambda: indexed(claude, plugin) == 1)
        edit(path, "half up", "half to even")
        (path.parent / "new.md").write_text("# Invoice numbers\n\nThey start at 7000.\n", encoding="utf-8")
        wait_until(lambda: indexed(claude, plugin) == 2)
        after = terminal.send(RELATED, [call("recall", query="invoice numbers start"), "half to even it is"])

    assert before[0].hook_context("UserPromptSubmit") == []
    assert "rounded half up" in before[1].tool_results()[0]
    (context,) = after[0].hook_context("UserPromptSubmit")
    assert "rounded half to even" in context
    assert "They start at 7000." in after[1].tool_results()[-1]


@needs_tmux
def test_a_prompt_that_the_person_takes_back_and_sends_again_brings_its_memory_again(
    claude: Claude, store: Path
) -> None:
    write_old_reference(store, "Invoice rounding", "Amounts on an invoice are rounded half up.")
    claude.prompt("good morning")

    # A prompt waits 0.3 seconds for its memories, which a busy machine may need twice: another session tries.
    sessions = (sent_taken_back_and_sent_again(claude) for _ in range(TRIES))
    first, again = next((contexts for contexts in sessions if all(contexts)), ([], []))

    assert "rounded half up" in "".join(first)
    assert again == first


def sent_taken_back_and_sent_again(claude: Claude) -> tuple[list[str], list[str]]:
    """Return what came with a prompt in a new session, and with the same prompt after Esc took it back."""
    asked, withdrawn = threading.Event(), threading.Event()

    def late(_: Request) -> dict[str, str]:
        asked.set()
        withdrawn.wait(PATIENCE)
        return {"text": "too late"}

    with claude.interactive() as terminal:
        terminal.send(UNRELATED, [call("recall", query="background colours"), "dark it is"])
        terminal.api.add([late])
        terminal.type(RELATED)
        terminal.wait_for(rf"❯\s{re.escape(RELATED)}\s*$")
        terminal.press("Enter", "esc to interrupt")
        assert asked.wait(PATIENCE), terminal.screen()
        terminal.press("Escape", rf"─\n❯\s{re.escape(RELATED)}\s*\n─")
        withdrawn.set()
        terminal.api.add(["half up"])
        terminal.press("Enter", "● half up")
        first, again = terminal.api.main()[2:]
    return first.hook_context("UserPromptSubmit"), again.hook_context("UserPromptSubmit")


@needs_tmux
def test_a_session_that_begins_without_an_index_is_shown_its_brief_with_a_prompt_once_there_is_one(
    claude: Claude, store: Path, plugin: Path
) -> None:
    remember(claude, "Invoice rounding | Amounts are rounded half to even.", type="decision")
    for path in store.glob("memory.db*"):
        path.unlink()

    with claude.interactive() as terminal:
        wait_until(lambda: indexed(claude, plugin) == 1)
        (first,) = terminal.send(UNRELATED, ["done"])
        (second,) = terminal.send("and the sign-up page?", ["that too"])

    (brief,) = first.hook_context("SessionStart") + first.hook_context("UserPromptSubmit")
    assert "Amounts are rounded half to even." in brief
    assert second.hook_context("SessionStart") + second.hook_context("UserPromptSubmit") == [brief]


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def indexed(claude: Claude, plugin: Path) -> int:
    """Return how much knowledge the server has taken in; -1 while some still waits to be embedded."""
    process = subprocess.run(
        [plugin / "bin" / "daybook", "status", "--json"],
        cwd=claude.project,
        env=claude.environment(""),
        capture_output=True,
        check=True,
    )
    stats = json.loads(process.stdout)["stats"]
    return -1 if stats["pending"] else int(stats["counts"]["by_kind"].get("knowledge", 0))


def test_a_subagent_is_told_what_is_settled(claude: Claude) -> None:
    remember(claude, "Invoice rounding | Amounts are rounded half to even.", type="decision")
    agent = {"subagent_type": "general-purpose", "description": "look", "prompt": "look at the code"}

    run = claude.prompt(
        "good morning", [call("Agent", **agent, run_in_background=False), "done"], subagent_turns=["seen"]
    )

    (context,) = run.subagent[0].hook_context("SubagentStart")
    assert "Amounts are rounded half to even." in context
    assert len(context) <= 1200


@needs_tmux
def test_a_session_that_cd_took_into_another_project_is_told_that_its_memory_stays(
    claude: Claude, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with claude.interactive() as terminal:
        terminal.send("hello", ["good day"])
        terminal.type(f"/cd {elsewhere}")
        terminal.press("Enter", "stay put")
        terminal.press("Down", "❯ Yes")
        terminal.press("Enter", "Moved to")
        *_, request = terminal.send("and now?", ["well"])

    assert f"this session moved to {elsewhere}, but Daybook" in "\n".join(
        request.hook_context("UserPromptSubmit")
    )
