"""Installing the plugin as a person does, and what the client then has."""

import functools
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.drive_claude import WAITS, Claude
from harness.mock_anthropic import OUR_TOOLS, call
from harness.python_environment import SlowSetUp
from harness.terminal import needs_tmux, wait_until

from mcp_server.core.settings import KEPT
from mcp_server.doors.waiting_room import NOT_YET
from tests.client.test_client_states import TROUBLE
from tests.live import tools

pytestmark = pytest.mark.client

LOADED = {f"{OUR_TOOLS}remember", f"{OUR_TOOLS}recall"}
REMEMBER = call("remember", title="Port", content="The API listens on 7443.")


def test_validation_finds_nothing_to_report(claude: Claude, plugin: Path) -> None:
    run = claude.cli("plugin", "validate", "--strict", "--profile", "directory", "--json", plugin)

    assert run.code == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["directory"]["findings"] == []


@pytest.mark.parametrize("manifest", ["plugin.json", "marketplace.json"])
def test_each_manifest_is_valid_by_itself(claude: Claude, plugin: Path, manifest: str) -> None:
    run = claude.cli("plugin", "validate", "--strict", plugin / ".claude-plugin" / manifest)

    assert run.code == 0, run.stdout + run.stderr


@pytest.mark.feature("A-47")
def test_an_installed_plugin_is_listed_as_enabled_and_without_errors(claude: Claude, plugin: Path) -> None:
    plugins = json.loads(claude.cli("plugin", "list", "--json").stdout)

    (listed,) = [plugin for plugin in plugins if not plugin["id"].endswith("@builtin")]  # the client's own
    version = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["version"]
    assert (listed["id"], listed["version"], listed["enabled"]) == ("daybook@daybook", version, True)
    assert not listed.get("errors")


@pytest.mark.feature("A-01")
def test_the_server_is_connected_and_every_part_of_the_plugin_is_offered(
    claude: Claude, plugin: Path
) -> None:
    run = claude.prompt("hello there", env=WAITS)

    init = run.event(type="system", subtype="init")
    assert [(server["name"], server["status"]) for server in init["mcp_servers"]] == [
        ("plugin:daybook:daybook", "connected")
    ]
    commands = [file.stem for file in plugin.glob("commands/*.md")]
    skills = [file.parent.name for file in plugin.glob("skills/*/SKILL.md")]
    agents = [file.stem for file in plugin.glob("agents/*.md")]
    assert commands and skills and agents
    assert {f"daybook:{name}" for name in commands} <= set(init["slash_commands"])
    assert {f"daybook:{name}" for name in skills} <= set(init["skills"])
    assert {f"daybook:{name}" for name in agents} <= set(init["agents"])


def test_remember_and_recall_are_loaded_at_once_and_the_other_tools_on_demand(claude: Claude) -> None:
    looked_for = "review"
    turns = [call("ToolSearch", query=f"select:{OUR_TOOLS}{looked_for}"), "ok"]
    run = claude.prompt("hello there", turns, env=WAITS)

    first, second = run.main
    assert {name for name in first.tools if name.startswith(OUR_TOOLS)} == LOADED
    assert {name for name in second.tools if name.startswith(OUR_TOOLS)} == LOADED | {OUR_TOOLS + looked_for}
    # A client that is quicker than the server lists its tools only once they have been searched.
    lines = second.said("system").splitlines()
    named = {line for line in lines if line.startswith(OUR_TOOLS)} | {OUR_TOOLS + looked_for}
    assert named == {OUR_TOOLS + name for name in tools() if name not in KEPT} - LOADED


def test_a_first_start_tells_in_one_line_that_it_is_set_up_and_the_next_one_works(
    claude: Claude, plugin: Path, tmp_path: Path
) -> None:
    with SlowSetUp(claude, plugin, tmp_path) as set_up:
        first = claude.prompt("hello there", ["hi"])
        set_up.finish()
    second = claude.prompt("hello there", [REMEMBER, "kept"])

    assert (first.code, first.answer) == (0, "hi")
    message = json.loads(first.hook("SessionStart")["output"])["systemMessage"]
    assert "setting itself up" in message
    assert "\n" not in message
    assert second.hook("SessionStart")["output"] == ""
    assert ": remembered as note" in second.tool_results[0]


@needs_tmux
def test_a_first_session_that_goes_on_has_its_memory_as_soon_as_it_is_set_up(
    claude: Claude, plugin: Path, tmp_path: Path
) -> None:
    remember = "/remember Deploys | They run on Tuesdays."
    claude.env["DAYBOOK_PLAN_CALLS"] = "no"  # after many turns the person would be asked
    with SlowSetUp(claude, plugin, tmp_path) as set_up, claude.interactive() as terminal:
        (first,) = terminal.send("hello there", ["answer 0"])
        prompted = terminal.screen()
        typed = terminal.command(remember, "daybook: Daybook")
        terminal.command("/daybook", r"│Daybook is still")
        pane = " ".join(line.partition("│")[2] for line in terminal.screen().splitlines())
        terminal.press("Escape", r"\A[^│]*\Z")
        set_up.finish()
        numbers = itertools.count(1)
        wait_until(lambda: terminal.send("and now?", [f"answer {next(numbers)}"])[0].tools >= LOADED)
        (last,) = terminal.send("hello again", ["welcome back"])
        terminal.command(remember, r"deploys-\w+: remembered as note \(project level\)")

    assert len(re.findall("setting itself up", prompted)) == 1, prompted
    assert not re.search(TROUBLE, prompted), prompted
    assert typed.count(NOT_YET) == 1, typed
    assert " ".join(pane.replace("✕", "").split()) == NOT_YET
    assert not first.tools & LOADED
    # Once the server can say it, the model is offered what Claude needs alone.
    assert f"{OUR_TOOLS}revise" in last.body_text()
    assert f"{OUR_TOOLS}undo" not in last.body_text()


@needs_tmux
def test_a_session_that_takes_over_an_update_goes_on_with_all_of_it(
    claude: Claude, plugin: Path, tmp_path: Path
) -> None:
    source, address = tmp_path / "source" / "daybook", "https://git.example/daybook.git"
    shutil.copytree(plugin, source, symlinks=True)
    claude.home = tmp_path / "home"
    claude.home.mkdir()
    claude.env["DAYBOOK_PLAN_CALLS"] = "no"  # the person would be asked
    settings = f'[url "{source}"]\ninsteadOf = {address}\n[user]\nname = ada\nemail = ada@example.org\n'
    (claude.home / ".gitconfig").write_text(settings, encoding="utf-8")
    git = functools.partial(
        subprocess.run, cwd=source, env={**os.environ, "HOME": str(claude.home)}, check=True
    )
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        git(["git", *command])
    for command in (["marketplace", "add", address], ["install", "daybook@daybook"]):
        assert claude.cli("plugin", *command).code == 0
    manifest = source / ".claude-plugin" / "plugin.json"
    version = json.loads(manifest.read_text(encoding="utf-8"))["version"]
    with claude.interactive() as terminal:
        terminal.send("hello there", [REMEMBER, "answer 1"])
        manifest.write_text(manifest.read_text(encoding="utf-8").replace(version, "9.9.9"), encoding="utf-8")
        git(["git", "commit", "-qam", "two"])
        for command in (["marketplace", "update", "daybook"], ["update", "daybook@daybook"]):
            assert claude.cli("plugin", *command).code == 0
        before = terminal.send("which port?", [call("recall", query="API port"), "answer 2"])[-1]
        terminal.command("/reload-plugins", "Reloaded: 1 plugin")
        after = terminal.send("which port again?", [call("recall", query="API port"), "answer 3"])[-1]
        terminal.command("/recall port", r"daybook: \w+ confidence")
        terminal.command("/daybook", r"2: Waits \d")

    assert "listens on 7443" in before.tool_results()[-1] and "listens on 7443" in after.tool_results()[-1]


def test_a_folder_in_git_gets_no_second_environment_and_uninstalling_leaves_what_readme_says(
    claude: Claude, plugin: Path, store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "daybook"
    shutil.copytree(plugin, folder, symlinks=True)
    (folder / ".git").mkdir()
    claude.home = tmp_path / "home"
    claude.home.mkdir()
    claude.install(folder)
    data = claude.home / ".claude" / "plugins" / "data" / "daybook-daybook"
    is_kept = lambda: "transcript_kept" in "".join(path.read_text() for path in store.glob("ledger/*.jsonl"))  # noqa: E731
    with SlowSetUp(claude, plugin, tmp_path) as set_up:
        set_up.venv = data / "venv"
        # What is written beside the environment after it was removed would be left.
        claude.env |= {"DAYBOOK_VENV": "", "PYTHONDONTWRITEBYTECODE": "1", "MCP_TIMEOUT": "240000"}
        claude.prompt("hello there", ["hi"])
        set_up.finish()
    turns = [call("Bash", command="daybook where"), REMEMBER, "kept"]
    run = claude.prompt("hello there", turns, args=["--allowedTools", "Bash"], env=WAITS, until=is_kept)

    assert "setting up" not in run.tool_results[0]
    assert not (folder / ".venv").exists()
    assert {path.name for path in data.parent.iterdir()} == {data.name}
    for command in ("uninstall", "daybook@daybook"), ("marketplace", "remove", "daybook"):
        assert claude.cli("plugin", *command).code == 0
    assert not data.exists()
    assert list(store.glob("**/knowledge/*.md"))
    assert (claude.home / ".claude" / "plugins" / "cache" / "daybook").exists()
    assert not (claude.home / ".local").exists()


def test_whoever_starts_claude_by_its_name_is_noticed(claude: Claude, claude_starts: Path) -> None:
    run = claude.prompt(
        "hello there", [call("Bash", command="claude --version"), "done"], args=["--allowedTools", "Bash"]
    )

    assert "--version" in claude_starts.read_text(encoding="utf-8"), run.tool_results
    claude_starts.unlink()
