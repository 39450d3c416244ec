"""
The documents say what the product does: the reference is generated, the rest is executed or compared.

`UPDATE=1 python -m pytest tests/test_docs.py` writes docs/cli.md and docs/tools.md anew.
"""

import doctest
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from mcp_types import Tool

from mcp_server.adapters import memory_file
from mcp_server.adapters.memory_fields import KEYS
from mcp_server.core import dials, gate, prediction, provenance, ranking, use
from mcp_server.core.errors import SettingsError
from mcp_server.core.memory import TYPES, Kind, Link, Status
from mcp_server.core.settings import DEFAULTS, TOOLSETS, Settings, parse_settings
from mcp_server.doors.cli import daybook
from tests.live import PREFIX, ROOT, commands, parameters, reads_only, tools

GENERATED = "<!-- Generated: UPDATE=1 python -m pytest tests/test_docs.py -->"
PLACES = ("*.md", "docs/*.md", "commands/*.md", "skills/*/SKILL.md", "agents/*.md")
DOCUMENTS = sorted(path for place in PLACES for path in ROOT.glob(place))
OF_THE_LAUNCHER = {"serve", "hook", "setup-environment"}

each = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def fenced(document: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)


def rows(document: str) -> list[list[str]]:
    """Return the cells of all table rows, without the code marks around them."""
    lines = re.findall(r"^\| (.*) \|$", document, re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]


# The generated reference


def check_generated(name: str, expected: str) -> None:
    path = ROOT / name
    if os.environ.get("UPDATE"):
        path.write_text(expected, encoding="utf-8")
    assert expected == path.read_text(encoding="utf-8"), f"{name} lags behind; run with UPDATE=1"


def cli_reference() -> str:
    parts = ["# The command line", GENERATED]
    listed = commands()
    inner = [f"{name} {one}" for name in listed for one in getattr(listed[name], "commands", ())]
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
    return {"string": "text", "boolean": "true or false", "integer": "number", "null": "none"}.get(
        schema.get("type", ""), "any"
    )


def tokens(tool: Tool) -> int:
    """Return about how many tokens a tool's definition costs: its characters divided by four."""
    said = {"name": PREFIX + tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return round(len(json.dumps(said, ensure_ascii=False)) / 4 / 10) * 10


def always_loaded(tool: Tool) -> bool:
    return bool((tool.meta or {}).get("anthropic/alwaysLoad"))


def tools_reference() -> str:
    listed = sorted(tools().values(), key=lambda tool: (not always_loaded(tool), tool.name))
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
        "`DAYBOOK_TOOLSETS` chooses which sets are offered, as in `core graph`; all are by default, and"
        " `core` always is.\nA client that does not look tools up as they are needed pays for every set in"
        " each request; the commands of the plugin need all of them.",
        "\n".join(
            ["| set | tools | tokens |", "|---|---|---|"]
            + [
                f"| [`{name}`](#{name}) | {len(named)} | {sum(tokens(tools()[one]) for one in named)} |"
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
        for name, schema in parameters(tool).items():
            default = schema.get("default")
            shown = "needed" if name in required else "" if default in ("", None, [], {}) else f"`{default}`"
            table.append(f"| `{name}` | {type_of(schema)} | {shown} | {schema.get('description', '')} |")
        if table:
            parts.append("\n".join(["| parameter | type | default | meaning |", "|---|---|---|---|", *table]))
    return "\n\n".join(parts) + "\n"


def permission(tool: Tool) -> str:
    return "unasked" if reads_only(tool) or tool.name == "remember" else "after asking"


def test_the_command_line_reference_is_what_help_says() -> None:
    check_generated("docs/cli.md", cli_reference())


def test_the_tools_reference_is_what_the_server_lists() -> None:
    check_generated("docs/tools.md", tools_reference())


def test_every_command_has_one_imperative_sentence_and_an_example_to_paste() -> None:
    for name, command in commands().items():
        said = command.help or ""
        assert re.match(r"[A-Z][a-z]+ ", said), name
        assert f"Example: daybook {name}" in said, name


# What the prose says


@each
def test_commands_and_options_that_are_named_exist(document: Path) -> None:
    said = document.read_text(encoding="utf-8")
    spans = re.findall(r"`([^`\n]+)`", said) + re.findall(r"^\$ (.+)$", said, re.MULTILINE)
    for span in spans:
        if span in GLOBS:
            continue
        for name, rest in re.findall(r"(?:^|[ /'])daybook ([a-z][a-z-]*)([^;|]*)", span):
            if name not in OF_THE_LAUNCHER:
                assert name in commands(), span
                options = {option for param in commands()[name].params for option in param.opts}
                options |= {option for param in commands()[name].params for option in param.secondary_opts}
                assert set(re.findall(r"--[a-z][a-z-]+", rest)) <= options | {"--help"}, span


GLOBS = {"/plugin install daybook --marketplace <owner>/<repo>"}


@each
def test_links_lead_to_files_that_exist(document: Path) -> None:
    said = re.sub(r"`[^`\n]*`", "", document.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)", said):
        assert target.startswith("https://") or (document.parent / target).exists(), target


def test_the_readme_names_every_setting_with_its_default() -> None:
    table = {row[0].strip("`"): row[1].strip("`") for row in rows(text("README.md")) if row[0].isupper()}
    changed = set()
    for name, default in table.items():
        if name == "MEMORY_DIR":
            assert default == "~/.claude-memory"
        elif name.startswith("DAYBOOK_") and not changed_by(name):
            assert name in text("bin/daybook") + text("mcp_server/core/settings.py")
        else:
            assert parse_settings({name: default}, {}) == DEFAULTS
            assert parse_settings({}, {in_config(name): default}) == DEFAULTS
            changed |= changed_by(name)

    assert changed == {field.name for field in fields(Settings)}


def in_config(name: str) -> str:
    """Return what the variable *name* is called in config.toml."""
    return name.removeprefix("DAYBOOK_").lower()


def changed_by(name: str) -> set[str]:
    """Return the settings that the variable *name* can change, in the environment and in config.toml."""
    for value in ("none", "7", "false", "true", "manual", "core"):
        try:
            settings = parse_settings({name: value}, {})
        except SettingsError:
            continue
        assert settings == parse_settings({}, {in_config(name): value})
        names = [field.name for field in fields(Settings)]
        if changed := {name for name in names if getattr(settings, name) != getattr(DEFAULTS, name)}:
            return changed
    return set()


def test_the_messages_that_the_readme_explains_are_those_that_are_printed() -> None:
    table = text("README.md").partition("## When something is wrong")[2].partition("\n## ")[0]
    quoted = [said for row in rows(table) for said in re.findall(r'"([^"]+)"', row[0])]
    code = text("bin/daybook") + "".join(
        path.read_text("utf-8") for path in ROOT.glob("mcp_server/doors/**/*.py")
    )

    assert quoted
    assert [said for said in quoted if said.casefold() not in code.casefold()] == []


@pytest.mark.parametrize("name", ["README.md", "docs/file-format.md"])
def test_the_file_that_is_shown_is_a_memory(name: str) -> None:
    (shown,) = fenced(text(name), "markdown")
    when = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)

    memory = memory_file.parse(
        shown.encode(), path="knowledge/shown.md", kind=Kind.KNOWLEDGE, archived=False, modified=when
    )

    assert memory.id == "stripe-webhook-raw-body-k3f9"
    assert (memory.type, memory.tags, memory.created) == ("gotcha", ("billing", "stripe"), when)
    assert memory.touches == ("src/lib/stripe.ts:42",)
    if name == "docs/file-format.md":
        assert memory.links == (Link("depends-on", "billing-architecture-p2qa"),)
    assert memory_file.rewrite(shown.encode(), memory, path="knowledge/shown.md") == shown.encode()


def test_the_file_format_names_every_key_and_every_word() -> None:
    said = text("docs/file-format.md")
    named = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(said.partition("## Keys")[2])))
    words = {row[0]: row[1] for row in rows(said)}

    assert sorted(named) == sorted(KEYS)
    assert set(TYPES) <= set(re.findall(r"\w+", words["`type`"]))
    assert set(Status) <= set(re.findall(r"\w+", words["`status`"]))
    assert {f"`{kind.folder}/`" for kind in Kind} <= words.keys()
    assert set(re.findall(r"\w+", words["`source`"])) >= provenance.PUSHED_ALWAYS | provenance.PUSHED_AS_FACTS


def test_the_weights_that_are_documented_are_those_in_the_code() -> None:
    modules: dict[str, ModuleType] = {"ranking": ranking, "gate": gate, "dials": dials}
    documented = [row for row in rows(text("docs/ranking.md")) if "." in row[0]]
    for name, value, _ in documented:
        module, _, constant = name.strip("`").partition(".")
        assert getattr(modules[module], constant) == float(value), name

    told = {row[0].strip("`").partition(".")[2] for row in documented}
    assert {name for name in vars(ranking) if name.endswith(("_WEIGHT", "_BOOST"))} <= told
    assert {name for name in vars(gate) if re.match(r"(HIGH|MEDIUM|COVERAGE)_", name)} <= told


def test_the_example_of_ranking_comes_out_as_shown() -> None:
    (example,) = fenced(text("docs/ranking.md"), "python")
    run = doctest.DocTestRunner()
    run.run(doctest.DocTestParser().get_doctest(example, {}, "ranking.md", None, 0))

    assert run.tries
    assert not run.failures


def test_the_numbers_of_the_dials_that_are_documented_are_those_in_the_code() -> None:
    modules: dict[str, ModuleType] = {"dials": dials, "prediction": prediction, "use": use}
    documented = rows(text("docs/dials.md"))
    moves = {row[0].strip("`"): float(row[1]) for row in documented if re.fullmatch(r"`[a-z_]+`", row[0])}
    assert moves == dials.TRUST_EVENTS

    told: dict[str, dict[str, float]] = {"TRUST_HALF_LIFE": {}, "BASE_TRUST": {}}
    for cell, value, _ in (row for row in documented if "." in row[0]):
        name, _, keys = cell.partition("` ")
        module, _, constant = name.strip("`").partition(".")
        if keys:
            told[constant] |= dict.fromkeys(keys.split(", "), float(value))
        else:
            assert getattr(modules[module], constant) == float(value), name
    assert told == {"TRUST_HALF_LIFE": dials.TRUST_HALF_LIFE, "BASE_TRUST": dials.BASE_TRUST}


@pytest.mark.parametrize("name", ["docs/dials.md"])
def test_the_example_of_the_dials_comes_out_as_shown(name: str) -> None:
    (example,) = fenced(text(name), "python")
    run = doctest.DocTestRunner()
    run.run(doctest.DocTestParser().get_doctest(example, {}, name, None, 0))

    assert run.tries
    assert not run.failures


def test_the_architecture_is_short_and_names_every_module() -> None:
    said = text("ARCHITECTURE.md")
    code_map = said.partition("## Code map")[2].partition("## Invariants")[0]
    named = {name.rstrip("/") for name in re.findall(r"`([a-z_]+/?)`", code_map)} - {"mcp_server"}
    package = ROOT / "mcp_server"
    modules = {path.stem for path in package.rglob("*.py")} - {"__init__", "__main__", "bootstrap", "store"}
    folders = {path.name for path in package.rglob("*") if path.is_dir()}

    assert len(said.split()) <= 1300
    assert modules - named == set()
    assert named - modules - folders == set()


# The console


def steps(document: str) -> list[tuple[str, list[str]]]:
    """Return the commands of all console blocks with the lines that they are said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in fenced(document, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:].partition("  #")[0].strip(), []))
            else:
                found[-1][1].append(line)
    return found


NOT_RUN = ("claude ", "bin/daybook demo", "make ", "UPDATE=1 ")  # need Claude Code, a network or the tests
RUN = ("daybook ", "perl ")
SUFFIX = "k3f9"  # of every id in the documents


@pytest.mark.parametrize("name", ["README.md", "docs/privacy.md", "CONTRIBUTING.md"])
def test_the_console_prints_what_the_document_shows(name: str, tmp_path: Path, scratch_home: Path) -> None:
    shop = scratch_home / "shop"
    shop.mkdir()
    shim = tmp_path / "daybook"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m mcp_server.doors.cli "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    slugs = set(re.findall(rf"([a-z-]+-){SUFFIX}\b", text(name)))
    real = {}  # the ids that the documents' ids became
    for command, expected in steps(text(name)):
        if command.startswith(NOT_RUN):
            continue
        assert command.startswith(RUN), command
        line = command
        for shown, became in real.items():
            line = line.replace(shown, became)
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=shop, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout.replace(str(scratch_home), "/home/ada")
        for slug in slugs:
            for became in re.findall(rf"\b{slug}[a-z0-9]{{4}}\b", printed):
                real[slug + SUFFIX] = became
                printed = printed.replace(became, slug + SUFFIX)
        if expected:
            assert [normal(line) for line in expected] == [normal(line) for line in printed.splitlines()]


def normal(line: str) -> str:
    """Return *line* without what differs between machines: a folder's digest, the figures of a cosine."""
    return re.sub(r"meaning -?\d\.\d\d", "meaning #", re.sub(r"\bshop-[0-9a-f]{8}\b", "shop-#", line))
