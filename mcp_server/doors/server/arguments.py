"""The MCP server itself, which says in our words that a call names no tool or has unfit arguments."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.from_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    CallToolResult,
    ErrorData,
    InputRequiredResult,
    JSONRPCError,
    JSONRPCRequest,
    TextContent,
    Tool,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_server.core.bounds import check_amount
from mcp_server.core.errors import Rejected, similar
from mcp_server.core.render import one_line, visible
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.json_rpc import Lines, Refusal
from mcp_server.doors.server.session import note_caller

UNLISTED: dict[str, Any] = {"unlisted": True}
"""Marks a parameter in its schema that is accepted but not listed: a text names it where it matters."""
MOST = 5  # wrong arguments of one call that are named
VALUE = 60  # characters of a wrong value
NAMES = {
    "string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number",
    "object": "an object", "array": "a list",
}  # fmt: skip


class Server(MCPServer[Any]):
    """
    An MCP server that says which argument of a call is wrong, and which values it takes.

    `is_foreign` tells whether the client is another one than Claude Code, and so has no hooks.
    """

    is_foreign = False

    def serve(self, lines: Lines, *, answered: str, instructions: str, is_foreign: bool) -> None:
        """
        Answer *lines* on stdout until there are no more; refuse what the library would drop.

        The request with the id *answered* has its answer already. A greeting is answered with *instructions*;
        a client that *is_foreign* is not offered what only hooks call.
        """
        self.is_foreign = is_foreign
        self._lowlevel_server.instructions = instructions or None
        lines.is_readable = _is_request
        anyio.run(self._serve, lines, answered)

    async def _serve(self, lines: Lines, answered: str) -> None:
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage]()
        async with (
            stdio_server(anyio.wrap_file(lines)) as (incoming, replies),
            anyio.create_task_group() as refusing,
        ):

            async def pass_on() -> None:
                async with replies:
                    async for message in answers:
                        if getattr(message.message, "id", None) != answered:
                            await replies.send(message)

            async def answer(refusal: Refusal) -> None:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await outgoing.send(SessionMessage(_refusing(refusal)))

            def refuse(refusal: Refusal) -> None:
                # In parallel with reading: some clients write much before they read.
                anyio.from_thread.run_sync(refusing.start_soon, answer, refusal)

            lines.refuse = refuse
            refusing.start_soon(pass_on)
            greeting = self._lowlevel_server.create_initialization_options()
            async with outgoing:
                await self._lowlevel_server.run(incoming, outgoing, greeting)

    async def known_tools(self) -> list[Tool]:
        """Return the tools with all their parameters, without the hooks' tool, which no model needs."""
        return [tool for tool in await super().list_tools() if tool.name != HOOK_TOOL]

    async def list_tools(self) -> list[Tool]:
        """Return all tools, shortened since requests carry them; a module can call only listed tools."""
        listed = await (self.known_tools() if self.is_foreign else super().list_tools())
        return [tool.model_copy(update={"input_schema": _short(tool)}) for tool in listed]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        note_caller(context.request_context.meta if context else None)
        # A hook's input grows with Claude Code, and a prompt waits for it.
        if name == HOOK_TOOL and not self.is_foreign:
            return await super().call_tool(name, arguments, context)
        tools = {tool.name: tool for tool in await self.known_tools()}
        if name not in tools:
            return refused(_no_tool(name, list(tools)))
        try:
            check_amount(arguments)
        except Rejected as error:
            return refused(error.with_hint)
        schema = tools[name].input_schema
        schemas = schema["properties"]
        if unknown := [argument for argument in arguments if argument not in schemas]:
            missing = [argument for argument in schema.get("required", ()) if argument not in arguments]
            problems = [_unknown(argument, list(schemas)) for argument in unknown[:MOST]]
            problems += [_wrong(argument, schemas[argument], arguments) for argument in missing]
            return refused(" ".join(problems))
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = dict.fromkeys(str(detail["loc"][0]) for detail in error.__cause__.errors())
                problems = [_wrong(argument, schemas[argument], arguments) for argument in list(wrong)[:MOST]]
                return refused(" ".join(problems))
            raise


def _short(tool: Tool) -> dict[str, Any]:
    """Return the schema of *tool* without parts that a model does not need; a call that fits it is valid."""
    properties: dict[str, dict[str, Any]] = tool.input_schema["properties"]
    listed = {
        name: _short_value(schema)
        for name, schema in properties.items()
        if not UNLISTED.items() <= schema.items()
    }
    return {
        **{key: value for key, value in tool.input_schema.items() if key != "title"},
        "properties": listed,
    }


def _short_value(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return *schema* with one type, text where that is accepted, and without keys that say nothing."""
    types = schema.get("anyOf", [{}])
    flat = {**schema, **next((option for option in types if option.get("type") == "string"), types[0])}
    if "enum" in flat:
        flat["enum"] = list(filter(None, flat["enum"]))
    idle = ("title", "anyOf", "additionalProperties")
    return {key: value for key, value in flat.items() if key not in idle and (key != "default" or value)}


def _is_request(line: str) -> bool:
    """Tell whether the protocol library takes *line* for a request, which it then answers."""
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(line, by_name=False), JSONRPCRequest)
    except ValueError:
        return False


def _refusing(refusal: Refusal) -> JSONRPCError:
    error = ErrorData(code=refusal.code, message=refusal.message)
    # Unchecked, because the library would not let a fraction be an id, which a client may have sent.
    return JSONRPCError.model_construct(jsonrpc="2.0", id=refusal.id, error=error)


def refused(sentence: str) -> CallToolResult:
    """Return an error that the model can act on; raising would prefix the SDK's own words."""
    return CallToolResult(content=[TextContent(type="text", text=visible(sentence))], is_error=True)


def _no_tool(name: str, tool_names: Sequence[str]) -> str:
    meant = similar(name, tool_names)
    hint = f"Did you mean {' or '.join(meant)}?" if meant else "DAYBOOK_TOOLSETS says which tools there are."
    return f"There is no tool '{one_line(name, VALUE)}' here. {hint}"


def _unknown(name: str, arguments: Sequence[str]) -> str:
    meant = similar(name, arguments)
    hint = f"did you mean '{meant[0]}'?" if meant else f"it takes {', '.join(arguments) or 'none'}."
    return f"This tool has no argument '{one_line(name, VALUE)}': {hint}"


def _wrong(name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    if name not in arguments:
        return f"The argument '{name}' is missing: it takes {_taken(schema)}."
    value = json.dumps(arguments[name], ensure_ascii=False, default=str)
    if len(value) > VALUE:
        value = f"{value[: VALUE - 1]}…"
    return one_line(f"The argument '{name}' cannot be {value}: it takes {_taken(schema)}.", 1000)


def _taken(schema: Mapping[str, Any]) -> str:
    """Return the values that a JSON schema accepts, in words."""
    if "enum" in schema:
        return f"one of {', '.join(filter(None, schema['enum']))}"
    if "anyOf" in schema:
        return " or ".join(_taken(option) for option in schema["anyOf"] if option.get("type") != "null")
    of = schema.get("items", {}).get("type")
    return NAMES.get(schema.get("type", ""), "another value") + (f" of {of}s" if of else "")
