"""What a person types without a prefix: answered at once, without a model, on the screen and in `-p`."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness.drive_claude import WAITS, Claude, Run
from harness.terminal import needs_tmux, wait_until

pytestmark = pytest.mark.client

TUESDAYS = "Production deploys run on Tuesdays only."
FRIDAYS = "Production deploys run on Fridays only."
ENDED = (
    "Daybook's server has ended or did not start, so this may not be done:"
    " '/mcp reconnect plugin:daybook:daybook' or a new session starts it,"
    " 'daybook doctor' in a terminal says more."
)
THEIRS = """
export const register = on => {
  on('session.start', async ($, e, next) => {
    await $.command.register({ name: 'remember', description: 'theirs' })
    return next(e)
  })
  on('command.run', { command: 'remember' }, () => ({ text: 'the other plugin answers' }))
}
"""


def answer_of(run: Run) -> str:
    """Return what a command showed in `-p`, for which no model was asked."""
    assert run.code == 0, run.stderr
    assert run.main == []
    return re.sub(r"\A[\w+]+: ", "", str(run.event(type="result")["result"]))


def test_in_print_mode_each_command_answers_and_asks_no_model(claude: Claude, store: Path) -> None:
    stored = answer_of(
        claude.prompt(f"/remember Deploys | {TUESDAYS} [tags: ops] [use when: ship it, roll out]")
    )
    assert re.match(r"deploys-\w+: remembered as note \(project level\)\.\n/", stored), stored
    own, path = stored.partition(":")[0], Path(stored.splitlines()[1])
    assert "use_when:\n  - ship it\n  - roll out\nsource: manual\n" in path.read_text(encoding="utf-8")
    assert path.is_relative_to(store)

    beside = answer_of(claude.prompt(f"/remember Deploys | {FRIDAYS}"))
    assert (
        f"Near it: {own}" in beside and f"--supersedes {own}; if both are right: --distinct {own}" in beside
    )
    refusal = answer_of(claude.prompt(f"/forget {own}"))
    assert (
        refusal
        == f"Nothing was forgotten. To forget it without a question, type in a terminal: daybook forget {own}"
    )
    assert path.is_file()

    recalled = claude.prompt("/recall when do production deploys run")
    assert f"{own} · note" in answer_of(recalled) and TUESDAYS in answer_of(recalled)
    run = claude.prompt("when do production deploys run?", ["On Tuesdays."], resume=recalled.session)
    (context,) = re.findall("The person typed /recall(.*)", run.main[0].body_text(), re.DOTALL)
    assert f"   | {TUESDAYS}" in context

    saved = answer_of(claude.prompt("/save-session", resume=run.session))
    assert re.match(r"when-do-production-deploys-run-[\w-]+: session saved\.\n", saved), saved
    back = claude.prompt("/restore-session")
    assert "- when do production deploys run?" in answer_of(back)
    assert "On Tuesdays." in answer_of(back)
    going_on = claude.prompt("go on", ["I go on."], resume=back.session)
    assert "brought back a saved session with /restore-session" in going_on.main[0].body_text()


@needs_tmux
def test_on_the_screen_the_person_is_asked_and_what_they_choose_is_done(claude: Claude, store: Path) -> None:
    with claude.interactive() as terminal:
        screen = terminal.command(
            f"/remember Deploys | {TUESDAYS}", r"deploys-\w+: remembered as note \(project level\)"
        )
        (old,) = re.findall(r"(deploys-\w+): remembered", screen)
        replaced = terminal.command(
            f"/remember Deploys | {FRIDAYS}",
            rf"It replaces {old}, which is kept as superseded\.",
            [
                (r"❯ 1\. Keep both\n\s+2\. The new one replaces it\n\s+3\. Merge the two", "Down"),
                (r"❯ 2\. The new one replaces it", "Enter"),
            ],
        )
        new = re.findall(r"(deploys-\w+): remembered", replaced)[-1]
        mondays = FRIDAYS.replace("Fri", "Mon")
        cancelled = terminal.command(
            f"/remember Deploys | {mondays}",
            r"if both are right: --distinct",
            [(rf"Near it, of .*Fridays only\.” \({new}\)\.(?s:.*)❯ 1\. Keep both", "Escape")],
        )
        third = re.findall(r"(deploys-\w+): remembered", cancelled)[-1]
        terminal.command(
            f"/forget {third}",
            rf"{third}: forgotten",
            [
                (r"Forget the note of .*Mondays only(?s:.*)❯ 1\. Keep it", "Down"),
                (r"❯ 2\. Forget it", "Enter"),
            ],
        )
        terminal.command("/recall when do production deploys run", rf"{new} · note · project .* Deploys")
        (request,) = terminal.send("thank you", ["You are welcome."])

    assert "The person typed /recall when do production deploys run" in request.body_text()
    assert f"   | {FRIDAYS}" in request.body_text()
    files_text = "".join(path.read_text(encoding="utf-8") for path in store.glob("projects/*/knowledge/*.md"))
    assert (TUESDAYS in files_text, FRIDAYS in files_text, mondays in files_text) == (True, True, False)
    assert f"superseded_by: {new}\n" in files_text


@pytest.mark.parametrize("order", [("other", "daybook"), ("daybook", "other")])
def test_a_name_that_somebody_has_already_stays_theirs(
    binary: Path, plugin: Path, environment: Path, tmp_path: Path, order: Sequence[str]
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder, name in ((home, "recall"), (project, "daybook")):
        own = folder / ".claude" / "commands" / f"{name}.md"
        own.parent.mkdir(parents=True)
        own.write_text(f"---\ndescription: mine\n---\nMy own {name}: $ARGUMENTS.\n", encoding="utf-8")
    env = {"DAYBOOK_VENV": str(environment), "MEMORY_DIR": str(tmp_path / "store"), **WAITS}
    claude = Claude(binary, home=home, project=project, env=env)
    folders = {"daybook": plugin, "other": other_plugin(tmp_path / "other")}
    for name in order:
        for command in (["marketplace", "add", str(folders[name])], ["install", f"{name}@{name}"]):
            assert claude.cli("plugin", *command).code == 0

    theirs = claude.prompt("/remember Deploys | They run on Tuesdays.")
    mine = [claude.prompt(typed, ["yes"]).main[0].said() for typed in ("/recall deploys", "/daybook today")]

    assert "the other plugin answers" in answer_of(theirs)
    assert not list(tmp_path.glob("store/**/deploys-*.md"))
    assert "My own recall: deploys." in mine[0]
    assert "My own daybook: today." in mine[1]
    assert "No memory is called 'zebras'" in answer_of(claude.prompt("/forget zebras"))


def other_plugin(folder: Path) -> Path:
    """Make a plugin that registers /remember; its folder is its marketplace, too."""
    about = {"name": "other", "version": "1.0.0", "description": "Another plugin."}
    listed = {"name": "other", "owner": {"name": "Others"}, "plugins": [{"name": "other", "source": "./"}]}
    for name, text in (
        (".claude-plugin/plugin.json", json.dumps(about)),
        (".claude-plugin/marketplace.json", json.dumps(listed)),
        ("hooks/hooks.json", json.dumps({"modules": ["./module.ts"]})),
        ("hooks/module.ts", THEIRS),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def with_server(claude: Claude, environment: Path, folder: Path, server: str) -> None:
    """Let the shell line *server* run before the server does; hooks and commands are as ever."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(environment / ".daybook-ready", folder)
    python = folder / "bin" / "python"
    of_server = f'case "$*" in *"-m mcp_server") {server} ;; esac'
    python.write_text(f'#!/bin/sh\n{of_server}\nexec {environment}/bin/python "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    claude.env |= {"DAYBOOK_VENV": str(folder), "MCP_CONNECTION_NONBLOCKING": "true"}


def test_a_server_that_starts_is_waited_for(claude: Claude, environment: Path, tmp_path: Path) -> None:
    with_server(claude, environment, tmp_path / "environment", "sleep 3")

    assert answer_of(claude.prompt("/restore-session")).startswith("No session is saved here yet.")


def test_without_a_server_what_is_typed_gets_one_clear_sentence_and_what_is_marked_is_stored(
    claude: Claude, environment: Path, tmp_path: Path
) -> None:
    with_server(claude, environment, tmp_path / "environment", "exit 1")

    for typed in ("/remember Deploys | They run on Tuesdays.", "/restore-session", "/daybook"):
        assert answer_of(claude.prompt(typed)) == ENDED
    run = claude.prompt("when do production deploys run?", ["on Tuesdays"])
    assert (run.code, run.answer, run.stderr) == (0, "on Tuesdays", "")
    assert run.main[0].hook_context("UserPromptSubmit") == []
    run = claude.prompt(f"#remember {TUESDAYS}", ["noted"])
    (told,) = run.main[0].hook_context("UserPromptSubmit")
    assert "Daybook has stored it" in told


@needs_tmux
def test_what_is_pasted_is_known_by_the_mark_of_the_client(claude: Claude, store: Path) -> None:
    with claude.interactive() as terminal:
        terminal.command("/recall deploys", "Nothing is remembered")  # now the server is up
        terminal.type("#remember ")
        terminal.paste(f"{TUESDAYS}\nTag the commit.\nRun the release.\nTell the team.\n")
        terminal.wait_for(r"Pasted text")
        terminal.api.add(["noted"])
        terminal.press("Enter", r"● noted")
        wait_until(lambda: [*store.glob("projects/*/knowledge/*.md")], terminal.screen)

    (path,) = store.glob("projects/*/knowledge/*.md")
    text = path.read_text(encoding="utf-8")
    assert f"title: {TUESDAYS.rstrip('.')}\n" in text
    assert text.endswith(f"---\n{TUESDAYS}\nTag the commit.\nRun the release.\nTell the team.\n")
