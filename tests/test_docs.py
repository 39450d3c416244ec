"""
The documents name what is there: the reference is generated, every command, option, link and module exists.

`UPDATE=1 python -m pytest tests/test_docs.py` writes docs/cli.md, docs/tools.md, the list of
`daybook --help` and the statements that make an index anew.
"""

import functools
import json
import os
import re
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from mcp_types import Tool

from mcp_server.adapters.index.database.schema import written_by_library
from mcp_server.core.settings import DEFAULTS, ROWS, TOOLSETS
from mcp_server.doors.cli import daybook
from mcp_server.doors.cli.help_page import Listed
from tests.documents import text
from tests.live import ALL_SETS, PREFIX, ROOT, commands, commands_of_modules, parameters, reads_only, tools

GENERATED = "<!-- Generated: UPDATE=1 python -m pytest tests/test_docs.py -->"
PLACES = ("*.md", "docs/*.md", "commands/*.md", "skills/*/SKILL.md", "agents/*.md")
DOCUMENTS = sorted(path for place in PLACES for path in ROOT.glob(place))
OF_THE_LAUNCHER = {"serve", "hook", "setup-environment"}

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


# The generated reference


def check_generated(name: str, expected: str) -> None:
    path = ROOT / name
    if os.environ.get("UPDATE"):
        path.write_text(expected, encoding="utf-8")
    assert expected == path.read_text(encoding="utf-8"), f"{name} lags behind; run with UPDATE=1"


def cli_reference() -> str:
    parts = ["# The command line", GENERATED]
    listed = commands()
    inner = [
        f"{name} {subcommand}" for name in listed for subcommand in getattr(listed[name], "commands", ())
    ]
    for name in sorted(["", *listed, *inner]):
        words = name.split()
        help_text = CliRunner().invoke(
            daybook, [*words, "--help"], prog_name="daybook", terminal_width=98, color=False
        )
        assert help_text.exit_code == 0
        parts += [f"## daybook {name}".rstrip(), f"```text\n{help_text.output.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def type_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(choice for choice in schema["enum"] if choice)
    if "anyOf" in schema:
        return " or ".join(type_of(choice) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        inner = type_of(schema["items"])
        return "list" if inner == "any" else f"list of {inner}s"
    if schema.get("type") == "object":
        return "map"
    return {
        "string": "text",
        "boolean": "true or false",
        "integer": "number",
        "number": "number",
        "null": "none",
    }.get(schema.get("type", ""), "any")


def tokens(tool: Tool) -> int:
    """Return about how many tokens a tool's definition costs: its characters divided by four."""
    tool_json = {
        "name": PREFIX + tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    return round(len(json.dumps(tool_json, ensure_ascii=False)) / 4 / 10) * 10


def always_loaded(tool: Tool) -> bool:
    return bool((tool.meta or {}).get("anthropic/alwaysLoad"))


def tools_reference() -> str:
    listed = sorted(tools(ALL_SETS).values(), key=lambda tool: (not always_loaded(tool), tool.name))
    loaded = [tool for tool in listed if always_loaded(tool)]
    core = tools("core")
    sets = {"core": core, **{name: tools(name).keys() - core.keys() for name in TOOLSETS if name != "core"}}
    parts = [
        "# What Claude can call",
        GENERATED,
        f"Claude Code names each of these `{PREFIX}NAME`.\n"
        f"{' and '.join(f'`{tool.name}`' for tool in loaded)} are in every request, about"
        f" {sum(map(tokens, loaded))} tokens together; the others cost only their names until Claude"
        " looks them up.\nTokens are estimates: the characters of a definition divided by four.",
        "`DAYBOOK_TOOLSETS` chooses which sets are offered:"
        f" {' and '.join(f'`{name}`' for name in DEFAULTS.toolsets)} by default, and `core` always.\n"
        "To switch others on, name all that you want in `env` of `~/.claude/settings.json`, as in"
        ' `"DAYBOOK_TOOLSETS": "core sessions graph"`, and start a new session.\n'
        "The commands and agents of the plugin need the default sets only; what the others do, `daybook` does"
        " in a terminal too.\n"
        "A client that does not look tools up as they are needed pays for every set in each request.",
        "\n".join(
            ["| set | tools | tokens |", "|---|---|---|"]
            + [
                f"| [`{name}`](#{name}) | {len(named)} |"
                f" {sum(tokens(tools(ALL_SETS)[name]) for name in named)} |"
                for name, named in sets.items()
            ]
        ),
    ]
    for name, named in sets.items():
        parts += [
            f"## {name}",
            "\n".join(
                ["| tool | runs | tokens |", "|---|---|---|"]
                + [
                    f"| [`{tool.name}`](#{tool.name}) | {permission(tool)} | {tokens(tool)} |"
                    for tool in listed
                    if tool.name in named
                ]
            ),
        ]
    for tool in listed:
        parts += [f"### {tool.name}", str(tool.description)]
        required = tool.input_schema.get("required", [])
        table = []
        for name, schema in parameters(tool.name).items():
            default = schema.get("default")
            default_shown = (
                "needed" if name in required else "" if default in ("", None, [], {}) else f"`{default}`"
            )
            mark = "" if name in tool.input_schema["properties"] else "*"
            table.append(
                f"| `{name}`{mark} | {type_of(schema)} | {default_shown} | {schema.get('description', '')} |"
            )
        if table:
            parts.append("\n".join(["| parameter | type | default | meaning |", "|---|---|---|---|", *table]))
            if any("*" in row.split("|")[1] for row in table):
                parts.append("\\* taken, though its schema in a request leaves it out.")
    return "\n\n".join(parts) + "\n"


def permission(tool: Tool) -> str:
    return "unasked" if reads_only(tool) or tool.name == "remember" else "after asking"


@pytest.mark.feature("A-46", "B-35")
def test_the_command_line_reference_is_what_help_says() -> None:
    listed = {
        name: Listed(placed.module, placed.purpose, cleandoc(placed.command.help or "").split("\n\n")[0])
        for name, placed in sorted(commands_of_modules().items())
    }
    lines = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(listed_value)}" for name, listed_value in listed.items()
    )
    check_generated("mcp_server/doors/cli/listed.json", f"{{\n{lines}\n}}\n")
    check_generated("docs/cli.md", cli_reference())


def test_the_statements_that_make_an_index_are_what_its_tables_come_to() -> None:
    check_generated("mcp_server/adapters/index/database/schema.sql", written_by_library())


def test_the_tools_reference_is_what_the_server_lists() -> None:
    check_generated("docs/tools.md", tools_reference())


def test_the_documented_settings_are_the_rows_in_the_code() -> None:
    document = text("docs/settings.md")
    above, first, _ = document.partition("| `EMBEDDING_MODEL` |")
    below = document[document.index("| `ANTHROPIC_API_KEY` |") :]
    table = "".join(
        f"| `{row.variable}` |{as_written(row.default)}| {row.about} |\n" for row in ROWS.values()
    )

    assert first
    check_generated("docs/settings.md", above + table + below)


def as_written(default: object) -> str:
    """Return a default as a person would write it, between the blanks of its cell."""
    match default:
        case None:
            return " "
        case bool():
            return f" `{str(default).lower()}` "
        case float():
            return f" `{default:.2f}` "
        case tuple():
            return f" `{' '.join(default)}` "
        case _:
            return f" `{default}` "


def test_every_command_has_one_imperative_sentence_and_an_example_to_paste() -> None:
    for name, command in commands().items():
        help_text = command.help or ""
        assert re.match(r"[A-Z][a-z]+ ", help_text), name
        assert f"Example: daybook {name}" in help_text, name


# What the prose says


def inner(command: click.Command, words: list[str]) -> click.Command:
    """Return the command of a group, and of a group in it, that *words* begin with; or *command* itself."""
    for word in words:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        command = command.commands[word]
    return command


@pytest.mark.feature("D-41", "D-42")
def test_what_often_goes_wrong_has_a_row_with_a_command_that_helps() -> None:
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    helps = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", text, re.MULTILINE))

    for trouble, command in {
        "a session has no Daybook tools": "`daybook doctor`",
        "a search finds nothing": "`--all-projects`",
        "answers are slow": "`daybook recall --mode keyword`",
        "the store grows": "`daybook stats`",
    }.items():
        assert command in helps[trouble]


@pytest.mark.feature("D-41")
@each_document
def test_commands_and_options_that_are_named_exist(document: Path) -> None:
    document_text = document.read_text(encoding="utf-8")
    spans = re.findall(r"`([^`\n]+)`", document_text) + re.findall(r"^\$ (.+)$", document_text, re.MULTILINE)
    for span in spans:
        if span in GLOBS:
            continue
        for name, rest in re.findall(r"(?:^|[ /'])daybook ([a-z][a-z-]*)([^;|]*)", span):
            if name not in OF_THE_LAUNCHER:
                assert name in commands(), span
                command = inner(commands()[name], rest.split())
                options = {option for param in command.params for option in param.opts}
                options |= {option for param in command.params for option in param.secondary_opts}
                assert set(re.findall(r"--[a-z][a-z-]+", rest)) <= options | {"--help"}, span


GLOBS = {"/plugin install daybook --marketplace <owner>/<repo>"}


@each_document
def test_links_lead_to_files_and_headings_that_exist(document: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", document.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)]+)\)", prose):
        if link.startswith("https://"):
            continue
        name, _, heading = link.partition("#")
        target = document.parent / name if name else document
        assert target.exists() and (not heading or heading in anchors(target)), link


def anchors(document: Path) -> set[str]:
    """Return the names by which GitHub's links find the headings of *document*."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@functools.cache
def code() -> dict[Path, str]:
    """Return the text of each Python file, and that of the launcher."""
    paths = [path for name in ("mcp_server", "tests", "benchmarks") for path in (ROOT / name).rglob("*.py")]
    return {path: path.read_text(encoding="utf-8") for path in (*paths, ROOT / "bin" / "daybook")}


@each_document
def test_modules_and_variables_that_are_named_exist(document: Path) -> None:
    if document.name == "CHANGELOG.md":
        return  # tells of what there was
    for span in re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8")):
        for module in re.findall(r"(?:\w+/)+[a-z_]+\.py\b", span):
            assert any(path.match(module) for path in code()), module
        for variable in re.findall(r"\b[A-Z][A-Z\d]*_[A-Z\d_]+\b", span):
            assert any(variable in source for source in code().values()), variable


def test_the_architecture_is_short_and_names_every_folder() -> None:
    architecture = text("ARCHITECTURE.md")
    code_map = architecture.partition("## Code map")[2].partition("## Invariants")[0]
    named = set(re.findall(r"`([a-z_]+/?)`", code_map)) - {"mcp_server/"}
    package = ROOT / "mcp_server"
    modules = {path.stem for path in package.rglob("*.py")}
    floors = {"doors", "actions", "adapters", "core", "models", "prompts"}
    folders = {path.parent.name for path in package.rglob("__init__.py")} - {*floors, "mcp_server"}

    assert len(architecture.split()) <= 1500
    assert {f"{folder}/" for folder in folders} - named == set()
    assert {name for name in named if not name.endswith("/")} - modules == set()
    assert all(f"**{floor}**" in code_map for floor in floors)
