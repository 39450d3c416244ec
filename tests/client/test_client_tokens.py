"""
What Daybook adds to every request of Claude Code with an empty memory: at most 640 tokens, as README says.

It is counted in the requests of the real client: all of a request without the plugin is taken from all of one
with it, four characters to a token.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from harness.drive_claude import WAITS, Claude
from harness.mock_anthropic import OUR_TOOLS, Request, call

pytestmark = pytest.mark.client

MOST = 640  # tokens
MOST_OTHERWISE = 1000  # tokens, where the module is not loaded, or the first prompt came before the server
CHARACTERS = 4  # of a token
README = Path(__file__).resolve().parents[2] / "README.md"


def lines(request: Request, home: Path) -> list[str]:
    """Return what *request* tells the model beside the conversation, a line each; a tool is one line."""
    tools = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in request.body["tools"]]
    system = [block["text"] for block in request.body["system"]]
    texts = [text for role, kind, text in request.blocks() if kind == "text"]
    return "\n".join([*tools, *system, *texts]).replace(str(home), "~").splitlines()


def added(without: list[str], with_plugin: list[str]) -> list[str]:
    """Return the lines that are in the second list alone."""
    rest = list(with_plugin)
    for line in without:
        if line in rest:
            rest.remove(line)
    return rest


def part(line: str) -> str:
    """Tell which part of Daybook a line of a request comes from."""
    if line.startswith("{"):
        return "the schemas of `remember` and `recall`"
    if line.startswith(OUR_TOOLS):
        return "the names of the other tools"
    if line.startswith("- daybook:memory-"):
        return "four agents"
    if line.startswith("- daybook:"):
        return "two skills"
    return "what Claude Code says of any server"


def parts_added(without: Request, with_plugin: Request, homes: tuple[Path, Path]) -> dict[str, float]:
    """Return how many tokens each part of Daybook adds to a request; *homes* are those of the two."""
    tokens: dict[str, float] = {}
    for line in added(lines(without, homes[0]), lines(with_plugin, homes[1])):
        tokens[part(line)] = tokens.get(part(line), 0) + (len(line) + 1) / CHARACTERS
    return tokens


def test_every_request_carries_at_most_640_tokens_more_as_readme_says(
    binary: Path, claude: Claude, tmp_path: Path
) -> None:
    bare = Claude(binary, home=tmp_path / "home", project=claude.project, env={})
    bare.home.mkdir()
    homes = (bare.home, claude.home)

    without = bare.prompt("hello", env=WAITS).main[0]
    with_plugin = claude.prompt("hello", env=WAITS).main[0]
    tokens = parts_added(without, with_plugin, homes)

    assert len(tokens) == 5, tokens
    assert sum(tokens.values()) <= MOST, tokens
    table = "\n".join(
        f"| {name} | {round(tokens[name])} |" for name in sorted(tokens, key=lambda n: -tokens[n])
    )
    figure = f"**{round(sum(tokens.values()))} tokens**"
    readme = README.read_text(encoding="utf-8")
    assert figure in readme, figure
    assert table in readme, table


def test_where_the_module_is_not_loaded_it_is_at_most_a_thousand(
    binary: Path, claude: Claude, home_without_module: Path, tmp_path: Path
) -> None:
    bare = Claude(binary, home=tmp_path / "home", project=claude.project, env={})
    bare.home.mkdir()
    claude.home = home_without_module

    without, with_hooks = bare.prompt("hello", env=WAITS).main[0], claude.prompt("hello", env=WAITS).main[0]
    tokens = parts_added(without, with_hooks, (bare.home, claude.home))

    assert OUR_TOOLS + "undo" in with_hooks.said("system")
    assert MOST < sum(tokens.values()) <= MOST_OTHERWISE, tokens


def test_no_request_carries_more_than_a_thousand_when_the_first_prompt_came_before_the_server_was_up(
    binary: Path, claude: Claude, tmp_path: Path
) -> None:
    bare = Claude(binary, home=tmp_path / "home", project=claude.project, env={})
    bare.home.mkdir()
    (claude.project / "notes.txt").write_text("nothing", encoding="utf-8")
    look = call("Read", file_path=str(claude.project / "notes.txt"))

    def until_there(request: Request) -> Any:
        return "ok" if OUR_TOOLS + "recall" in request.tools else look

    without = bare.prompt("hello", [look, "ok"]).main[-1]
    with_plugin = claude.prompt("hello", [until_there] * 500).main[-1]
    tokens = parts_added(without, with_plugin, (bare.home, claude.home))

    assert OUR_TOOLS + "recall" in with_plugin.tools
    assert sum(tokens.values()) <= MOST_OTHERWISE, tokens
