"""What the running product offers, asked of itself: tools, commands, and the prose that speaks of them."""

import functools
import re
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import click
import yaml
from mcp import Client
from mcp_types import Tool

from mcp_server.bootstrap import Opened
from mcp_server.core.settings import HOOK_TOOL, TOOLSETS
from mcp_server.doors.server.arguments import Server
from mcp_server.doors.server.hook_tool import Hooks
from mcp_server.doors.server.toolsets import registered

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "mcp__plugin_daybook_daybook__"
ALL_SETS = " ".join(TOOLSETS)


def built(opened: Opened) -> Server:
    """Return the server with the tools of the sets that were chosen."""
    return registered(opened, Hooks(opened))


@functools.cache
def tools(toolsets: str = "") -> dict[str, Tool]:
    """
    Return the tools that a server lists, by name; *toolsets* is what DAYBOOK_TOOLSETS says.

    The one that the module in the client calls is left out: it is no tool of anybody else's.
    """

    async def listed() -> list[Tool]:
        with tempfile.TemporaryDirectory() as folder:
            environment = {"MEMORY_DIR": folder, "EMBEDDING_MODEL": "none", "DAYBOOK_TOOLSETS": toolsets}
            async with Client(built(Opened(environment, folder=Path(folder)))) as client:
                return list((await client.list_tools()).tools)

    return {tool.name: tool for tool in anyio.run(listed) if tool.name != HOOK_TOOL}


@functools.cache
def _parameters_of_all() -> dict[str, dict[str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"MEMORY_DIR": folder, "EMBEDDING_MODEL": "none", "DAYBOOK_TOOLSETS": ALL_SETS}
        server = built(Opened(environment, folder=Path(folder)))
        return {tool.name: dict(tool.input_schema["properties"]) for tool in anyio.run(server.known_tools)}


def parameters(name: str) -> dict[str, dict[str, Any]]:
    """Return all that a tool takes, by name; its listed schema may hold less."""
    return _parameters_of_all()[name]


def reads_only(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def deletes(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.destructive_hint)


def commands() -> dict[str, Any]:
    """Return the commands of `daybook`, by name."""
    return {name: placed.command for name, placed in sorted(commands_of_modules().items())}


class Placed(NamedTuple):
    """A command of `daybook`, the module that has it, and what it is for, as `--help` groups them."""

    module: str
    purpose: str
    command: click.Command


def commands_of_modules() -> dict[str, Placed]:
    """Return the commands of `daybook` with their places, by name."""
    names = sorted(path.stem for path in (ROOT / "mcp_server/doors/cli").glob("[!_]*.py"))
    modules = [import_module(f"mcp_server.doors.cli.{name}") for name in names]
    return {
        command.name: Placed(name, purpose, command)
        for name, module in zip(names, modules, strict=True)
        for purpose, commands in getattr(module, "COMMANDS", {}).items()
        for command in commands
    }


@dataclass(frozen=True, slots=True)
class Prose:
    """A command, a skill or an agent: what its frontmatter says, and its body."""

    path: Path
    head: dict[str, Any]
    body: str

    @property
    def name(self) -> str:
        return self.path.parent.name if self.path.name == "SKILL.md" else self.path.stem

    @property
    def granted(self) -> list[str]:
        """What stands in `allowed-tools` or `tools`."""
        names = self.head.get("allowed-tools", self.head.get("tools", ""))
        return [part.strip() for part in names.split(",") if part.strip()]

    def named(self) -> set[str]:
        """Return the tools that the body names between backticks."""
        return set(re.findall(r"`([a-z_]+)`", self.body)) & tools().keys()


def prose(pattern: str) -> list[Prose]:
    """Return the commands, skills or agents whose path fits *pattern*."""
    documents = []
    for path in sorted(ROOT.glob(pattern)):
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        documents.append(Prose(path, yaml.safe_load(head), body))
    return documents
