"""Whatever is broken on our side, the prompt reaches the model and the session goes on."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from harness.drive_claude import Claude, Run
from harness.mock_anthropic import OUR_TOOLS, call
from harness.python_environment import path_without_python

pytestmark = pytest.mark.client

NO_HOOKS = '{"disableAllHooks": true}'


def check_untouched(run: Run, prompt: str = "hello there") -> None:
    """The model answered this prompt, and hooks had nothing to say."""
    assert (run.code, run.answer) == (0, "hi"), run.stderr
    (request,) = run.main
    assert prompt in request.said()
    assert run.hooks_said == []


def test_a_store_that_cannot_be_one_is_told_at_the_start_and_by_the_tools_and_put_right_it_works(
    claude: Claude, store: Path
) -> None:
    store.write_text("not a folder", encoding="utf-8")

    started = claude.prompt("hello there", ["hi"])
    run = claude.prompt("hello there", [call("recall", query="anything"), "hi"])
    store.unlink()
    works = claude.prompt("hello there", [call("remember", title="Port", content="It is 7443."), "hi"])

    wrong = f"MEMORY_DIR is '{store}', which is not a folder."
    assert (started.code, started.answer) == (0, "hi")
    assert "hello there" in started.main[0].said()
    assert wrong in "".join(started.hooks_said)
    assert wrong in run.tool_results[0]
    assert ": remembered as note" in works.tool_results[0]


@pytest.mark.feature("A-17")
def test_a_corrupt_index_is_made_anew_from_the_files(claude: Claude, store: Path) -> None:
    (store / "knowledge").mkdir(parents=True)
    (store / "knowledge" / "port.md").write_text("# Port\n\nThe API listens on 7443.\n", encoding="utf-8")
    (store / "memory.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 20_000)

    check_untouched(claude.prompt("hello there", ["hi"]))
    run = claude.prompt("hello there", [call("recall", query="where does the API listen"), "hi"])

    assert "The API listens on 7443." in run.tool_results[0]
    with contextlib.closing(sqlite3.connect(store / "memory.db")) as index:
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_machine_without_python(claude: Claude, tmp_path: Path) -> None:
    path = path_without_python(tmp_path / "path")
    run = claude.prompt(
        "hello there", ["hi"], env={"PATH": str(path), "DAYBOOK_VENV": str(tmp_path / "no-venv")}
    )

    assert (run.code, run.answer) == (0, "hi"), run.stderr
    (answer,) = run.hooks_said
    assert json.loads(answer)["systemMessage"].startswith(
        "Daybook needs Python 3.11 or newer and found nothing,"
    )


def test_a_prompt_of_a_megabyte(claude: Claude) -> None:
    prompt = "the quick brown fox " * 50_000

    check_untouched(claude.prompt(prompt, ["hi"]), prompt.strip())


def test_hooks_that_were_switched_off(claude: Claude) -> None:
    session = claude.prompt("good morning").session
    stored = [call("remember", title="Greeting", content="Visitors are greeted with hello there."), "ok"]
    claude.prompt("good morning", stored)
    claude.env["DAYBOOK_HOOKS"] = "off"

    check_untouched(claude.prompt("what greeting do visitors get?", ["hi"]), "what greeting")
    check_untouched(claude.prompt("what greeting do visitors get?", ["hi"], resume=session), "what greeting")
    typed = claude.prompt("/recall what greeting do visitors get")
    assert "Visitors are greeted with hello there." in typed.answer
    assert typed.main == []


def test_hooks_and_modules_that_the_client_was_told_to_leave_out(claude: Claude) -> None:
    stored = [call("remember", title="Greeting", content="Visitors are greeted with hello there."), "ok"]
    claude.prompt("good morning, visitors are greeted with hello there", stored)

    off = claude.prompt("what greeting do visitors get?", ["hi"], args=["--settings", NO_HOOKS])
    safe = claude.prompt("what greeting do visitors get?", ["hi"], args=["--safe-mode"])

    for run in (off, safe):
        check_untouched(run, "what greeting")
        assert "hello there" not in run.main[0].body_text()
    begun, alone = (run.event(type="system", subtype="init") for run in (off, safe))
    assert [server["status"] for server in begun["mcp_servers"]] == ["connected"]
    assert "daybook:remember" in begun["slash_commands"]
    assert OUR_TOOLS + "undo" in off.main[0].said("system")  # the module keeps it from Claude, where it is
    assert (alone["mcp_servers"], [name for name in alone["slash_commands"] if "daybook" in name]) == ([], [])
    assert OUR_TOOLS not in safe.main[0].body_text()
