"""The MCP server itself, which says in our words that a call names no tool or its arguments do not fit."""

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, InputRequiredResult, TextContent, Tool
from pydantic import ValidationError

from mcp_server.core.render import one_line
from mcp_server.doors.server.lines import Lines

HOOK_TOOL = "hook"
MOST = 5  # wrong arguments of one call that are told
VALUE = 60  # characters of a wrong value
NAMES = {
    "string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number",
    "object": "an object", "array": "a list",
}  # fmt: skip


class Server(MCPServer[Any]):
    """An MCP server that says which argument of a call is wrong, and what it takes."""

    async def run_stdio_async(self) -> None:
        """Do as the library does, but with lines that it can read."""
        lines = anyio.wrap_file(Lines(sys.stdin.buffer, encoding="utf-8", errors="replace"))
        async with stdio_server(lines) as (heard, said):
            greeting = self._lowlevel_server.create_initialization_options()
            await self._lowlevel_server.run(heard, said, greeting)

    async def list_tools(self) -> list[Tool]:
        """Leave out the hooks' own tool: they call it by name, a model has no use for it."""
        return [tool for tool in await super().list_tools() if tool.name != HOOK_TOOL]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if name == HOOK_TOOL:  # what a hook is given grows with Claude Code, and a prompt waits for it
            return await super().call_tool(name, arguments, context)
        tools = {tool.name: tool for tool in await super().list_tools()}
        if name not in tools:
            return refused(_no_tool(name, [known for known in tools if known != HOOK_TOOL]))
        schemas = tools[name].input_schema["properties"]
        if unknown := [each for each in arguments if each not in schemas]:
            missing = [each for each in tools[name].input_schema.get("required", ()) if each not in arguments]
            told = [_unknown(each, list(schemas)) for each in unknown[:MOST]]
            return refused(" ".join([*told, *(_wrong(each, schemas[each], arguments) for each in missing)]))
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = dict.fromkeys(str(each["loc"][0]) for each in error.__cause__.errors())
                told = [_wrong(each, schemas[each], arguments) for each in list(wrong)[:MOST]]
                return refused(" ".join(told))
            raise


def refused(sentence: str) -> CallToolResult:
    """Return an error that the model can act on; raising would put the SDK's own words before it."""
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def _no_tool(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name[:VALUE], known, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "DAYBOOK_TOOLSETS says which tools there are."
    return f"There is no tool '{one_line(name, VALUE)}' here. {hint}"


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name[:VALUE], known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"it takes {', '.join(known) or 'none'}."
    return f"This tool has no argument '{one_line(name, VALUE)}': {hint}"


def _wrong(name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    if name not in arguments:
        return f"The argument '{name}' is missing: it takes {_taken(schema)}."
    value = json.dumps(arguments[name], ensure_ascii=False, default=str)
    if len(value) > VALUE:
        value = f"{value[: VALUE - 1]}…"
    return one_line(f"The argument '{name}' cannot be {value}: it takes {_taken(schema)}.", 1000)


def _taken(schema: Mapping[str, Any]) -> str:
    """Return what a JSON schema lets through, in words."""
    if "enum" in schema:
        return f"one of {', '.join(filter(None, schema['enum']))}"
    if "anyOf" in schema:
        return " or ".join(_taken(each) for each in schema["anyOf"] if each.get("type") != "null")
    of = schema.get("items", {}).get("type")
    return NAMES.get(schema.get("type", ""), "another value") + (f" of {of}s" if of else "")
