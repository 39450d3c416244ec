"""What Claude Code reads of the plugin agrees with itself and with the code."""

import json
import os
import re
import tomllib
import unicodedata

import pytest

import mcp_server
from mcp_server.doors.hooks import EVENTS
from tests.live import ALL_SETS, PREFIX, ROOT, Prose, commands, deletes, parameters, prose, reads_only, tools

COMMANDS = prose("commands/*.md")
SKILLS = prose("skills/*/SKILL.md")
AGENTS = prose("agents/*.md")
ALL = [*COMMANDS, *SKILLS, *AGENTS]
HOOKS = json.loads((ROOT / "hooks/hooks.json").read_text(encoding="utf-8"))["hooks"]
# What Claude Code fills into the input of an mcp_tool hook.
OF_THE_EVENT = {"session_id", "prompt", "transcript_path", "cwd", "last_assistant_message"}

each_text = pytest.mark.parametrize("text", ALL, ids=lambda text: str(text.path.relative_to(ROOT)))


def hooks() -> list[tuple[str, str, dict[str, object]]]:
    return [
        (event, group.get("matcher", ""), hook)
        for event, groups in HOOKS.items()
        for group in groups
        for hook in group["hooks"]
    ]


@pytest.mark.feature("D-29")
def test_there_are_commands_skills_and_agents() -> None:
    assert len(COMMANDS) >= 9
    assert {skill.name for skill in SKILLS} == {"recalling", "remembering"}
    assert len(AGENTS) >= 3


# The manifest


def test_both_manifests_are_the_same_bytes() -> None:
    assert (ROOT / "plugin.json").read_bytes() == (ROOT / ".claude-plugin/plugin.json").read_bytes()


def test_one_version_stands_in_the_package_the_manifest_and_the_changelog() -> None:
    version = mcp_server.__version__
    manifest = json.loads((ROOT / "plugin.json").read_bytes())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+)", changelog, re.MULTILINE)

    assert manifest["version"] == version
    assert released[0] == version
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "mcp_server.__version__"}


def test_the_marketplace_offers_this_plugin_in_its_own_words() -> None:
    manifest = json.loads((ROOT / "plugin.json").read_bytes())
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_bytes())

    (offered,) = market["plugins"]
    assert (offered["name"], offered["description"]) == (manifest["name"], manifest["description"])
    assert offered["source"] == "./"


def test_the_server_is_named_as_every_tool_name_expects() -> None:
    manifest = json.loads((ROOT / "plugin.json").read_bytes())
    servers = json.loads((ROOT / ".mcp.json").read_bytes())["mcpServers"]

    assert [f"mcp__plugin_{manifest['name']}_{server}__" for server in servers] == [PREFIX]


# Hooks


@pytest.mark.parametrize(("event", "matcher", "hook"), hooks(), ids=[name for name, _, _ in hooks()])
def test_a_hook_ends_within_five_seconds_and_calls_only_us(
    event: str, matcher: str, hook: dict[str, object]
) -> None:
    timeout = hook["timeout"]  # seconds
    assert isinstance(timeout, int)
    assert 0 < timeout <= 5
    places = set(re.findall(r"\$\{?(\w+)", json.dumps({**hook, "input": None})))
    assert places <= {"CLAUDE_PLUGIN_ROOT"}
    match hook["type"]:
        case "command":
            assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/bin/daybook"
            assert hook["args"] == ["hook", event]
            assert event in EVENTS
        case "mcp_tool":
            assert (hook["server"], hook["tool"]) == ("plugin:daybook:daybook", "hook")
            hook_input = hook["input"]
            assert isinstance(hook_input, dict)
            assert hook_input["event"] == event
            assert set(re.findall(r"\$\{?(\w+)", json.dumps(hook_input))) <= OF_THE_EVENT
        case other:
            pytest.fail(f"a hook of type {other}")


def test_what_runs_unasked_is_every_reading_tool_and_remember() -> None:
    """With UPDATE=1 the names are written anew."""
    (matcher, after_a_yes) = [matcher for event, matcher, _ in hooks() if event == "PreToolUse"]
    if os.environ.get("UPDATE"):
        names = ["remember", *sorted(name for name, tool in tools(ALL_SETS).items() if reads_only(tool))]
        path = ROOT / "hooks" / "hooks.json"
        updated = path.read_text(encoding="utf-8").replace(matcher, "|".join(PREFIX + name for name in names))
        path.write_text(updated, encoding="utf-8")
        matcher = "|".join(PREFIX + name for name in names)
    unasked = {name.removeprefix(PREFIX) for name in matcher.split("|")}

    assert re.fullmatch(r"[\w|]+", matcher)  # anything else would make it a pattern, found anywhere in a name
    every = tools(ALL_SETS)
    assert unasked == {name for name, tool in every.items() if reads_only(tool)} | {"remember"}
    assert not any(deletes(every[name]) for name in unasked)
    assert after_a_yes == f"{PREFIX}submit_candidates"


# Commands, skills and agents


@each_text
def test_the_frontmatter_says_in_one_line_what_it_is_for(text: Prose) -> None:
    description = text.head["description"]

    assert isinstance(description, str)
    assert 20 <= len(description) <= 250
    assert "\n" not in description
    assert all(isinstance(value, str | bool) for value in text.head.values())
    assert text.head.get("name", text.name) == text.name


@each_text
def test_every_tool_that_is_named_exists(text: Prose) -> None:
    whole = text.path.read_text(encoding="utf-8")

    assert set(re.findall(PREFIX + r"(\w+)", whole)) <= tools().keys()
    assert "mcp__" not in re.sub(rf"{PREFIX}|^tools: {PREFIX[:-2]}$", "", whole, flags=re.MULTILINE)


@each_text
def test_every_snake_case_word_in_code_is_a_tool_or_a_parameter(text: Prose) -> None:
    known_names = tools().keys() | {parameter for name in tools() for parameter in parameters(name)}

    assert set(re.findall(r"`([a-z]+_[a-z_]+)`", text.body)) <= known_names


@pytest.mark.parametrize("text", [*COMMANDS, *AGENTS], ids=lambda text: text.name)
def test_what_the_text_tells_claude_to_call_is_granted(text: Prose) -> None:
    tools_wanted = {name for name in text.named() if text in AGENTS or not deletes(tools()[name])}
    whole_server = PREFIX.removesuffix("__") in text.granted

    assert whole_server or {PREFIX + name for name in tools_wanted} <= set(text.granted)
    assert not (whole_server and text in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_what_the_command_tells_claude_to_run_is_granted(command: Prose) -> None:
    verbs = re.findall(r"\b[Rr]un `daybook ([a-z-]+)", command.body)

    assert {f"Bash(daybook {verb}:*)" for verb in verbs} <= set(command.granted)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_what_is_granted_is_what_the_command_or_its_agent_calls(command: Prose) -> None:
    called = [command, *(agent for agent in AGENTS if f"`{agent.name}`" in command.body)]
    wanted = {PREFIX + name for text in called for name in text.named()}
    wanted |= {f"Bash(daybook {verb}:*)" for verb in re.findall(r"`daybook ([a-z-]+)", command.body)}

    assert set(command.granted) <= wanted


@each_text
def test_every_option_that_is_named_is_one_of_a_command_that_is_named(text: Prose) -> None:
    verbs = {verb for verb in re.findall(r"`daybook ([a-z-]+)", text.body) if verb in commands()}
    options = {
        option
        for verb in verbs
        for parameter in commands()[verb].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }

    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text.body)) <= options


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_lets_nothing_be_deleted_or_run_without_asking(command: Prose) -> None:
    for granted in command.granted:
        if granted.startswith(PREFIX):
            assert not deletes(tools()[granted.removeprefix(PREFIX)])
        else:
            assert re.fullmatch(r"Bash\(daybook [a-z-]+:\*\)", granted)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_called_like_the_verb_it_serves(command: Prose) -> None:
    verbs = {path.stem for path in (ROOT / "mcp_server/actions").rglob("*.py")}
    assert command.name.replace("-", "_") in verbs | commands().keys() | tools(ALL_SETS).keys()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_short_and_uses_its_arguments(command: Prose) -> None:
    assert 60 <= len(command.body.split()) <= 160
    assert ("$ARGUMENTS" in command.body) == ("argument-hint" in command.head)


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.name)
def test_a_skill_says_when_to_use_it(skill: Prose) -> None:
    assert skill.head["description"].startswith("Use when ")
    assert 250 <= len(skill.body.split()) <= 700


@pytest.mark.feature("C-07", "C-31", "C-32")
def test_what_to_keep_has_an_order_and_a_level() -> None:
    (remembering,) = [skill.body for skill in SKILLS if skill.name == "remembering"]

    assert re.search(r"order: meta-patterns .*, principles .*, patterns .*, facts ", remembering)
    assert "a similar mistake in a different project? Level `user`." in remembering
    assert "how this code base works? Level `project`" in remembering


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_is_short_and_says_which_tools_and_model_it_uses(agent: Prose) -> None:
    assert len(agent.body.split()) <= 350
    assert agent.head["model"] in ("haiku", "inherit")
    assert agent.granted


@each_text
def test_nothing_in_the_text_shouts(text: Prose) -> None:
    assert not [character for character in text.body if unicodedata.category(character) == "So"]
    assert not re.findall(r"\b(?:MUST|NEVER|ALWAYS|IMPORTANT|CRITICAL)\b|!(?=\s)", text.body)
