"""The protocol library's own client, with nothing but an address and a token."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from mcp_server.core.team.team import Role
from mcp_server.doors.team_server.tools import TOOLS

MODES = ["auto", "legacy", "2026-07-28"]


def session(address: str, token: str, act: Callable[[Client], Awaitable[None]], mode: str = "auto") -> None:
    """Connect as any MCP client does, and *act*."""

    async def connect() -> None:
        authorized = httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, trust_env=False)
        transport = streamable_http_client(f"{address}/mcp", http_client=authorized)
        async with authorized, Client(transport, mode=mode) as client:
            await act(client)

    anyio.run(connect)


def content_of(result: CallToolResult) -> Any:
    """Return what a tool told; a model is shown the same."""
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == result.structured_content
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_listed_with_words_for_a_model(
    address: str, tokens: dict[Role, str], mode: str
) -> None:
    async def look(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == list(TOOLS)
        for tool in listed:
            assert tool.description
            assert len(tool.description) < 250
            assert tool.input_schema["type"] == "object"

    session(address, tokens[Role.READER], look, mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_model_remembers_and_everybody_recalls_it(address: str, tokens: dict[Role, str], mode: str) -> None:
    async def remember(client: Client) -> None:
        content = content_of(
            await client.call_tool(
                "remember",
                {
                    "title": "Webhook needs the raw body",
                    "text": "Skip body parsing.",
                    "tags": ["Billing"],
                    "use_when": [" verify  callbacks"],
                },
            )
        )
        assert content["author"] == "willi"
        assert content["memory"]["tags"] == ["billing"]
        assert content["memory"]["use_when"] == ["verify callbacks"]
        assert content["memory"]["source"] == "assistant"
        assert content["memory"]["id"].startswith("webhook-needs-the-raw-body-")

    async def recall(client: Client) -> None:
        content = content_of(await client.call_tool("recall", {"text": "are callbacks verified?"}))
        (result,) = content["results"]
        assert result["stored"]["memory"]["text"] == "Skip body parsing."
        assert result["stored"]["author"] == "willi"

    session(address, tokens[Role.WRITER], remember, mode)
    session(address, tokens[Role.READER], recall, mode)


def test_a_model_changes_what_it_read(address: str, tokens: dict[Role, str]) -> None:
    async def change(client: Client) -> None:
        first = content_of(await client.call_tool("remember", {"title": "Webhook", "text": "Skip parsing."}))
        read = content_of(await client.call_tool("read", {"id": first["memory"]["id"]}))
        assert read == first
        changed = {**read["memory"], "text": "Skip body parsing.", "replaces": read["digest"]}
        second = content_of(await client.call_tool("remember", changed))
        assert second["memory"]["text"] == "Skip body parsing."
        bare = {"id": first["memory"]["id"], "title": "Webhook", "text": "Skip it."}
        third = content_of(await client.call_tool("remember", {**bare, "replaces": second["digest"]}))
        assert third["memory"]["created"] == first["memory"]["created"]
        content = content_of(await client.call_tool("history", {"id": first["memory"]["id"]}))
        assert [change["kind"] for change in content["changes"]] == ["created", "revised", "revised"]
        assert content["changes"][1]["before"]["text"] == "Skip parsing."

    session(address, tokens[Role.WRITER], change)


def test_an_error_tells_a_model_what_to_do(address: str, tokens: dict[Role, str]) -> None:
    async def err(client: Client) -> None:
        for tool, arguments, kind, sentence in [
            ("read", {"id": "nobody"}, "NotFound", "No memory has the id 'nobody'."),
            ("remember", {"title": "A", "text": "B"}, "NotAllowed", "A reader may not do this."),
            ("recal", {"text": "a"}, "Rejected", "There is no tool 'recal' here."),
            ("read", {}, "Rejected", "The argument 'id' is missing."),
            ("read", {"id": "a", "colour": "red"}, "Rejected", "There is no argument 'colour'."),
            ("recall", {"text": "a", "limit": 99}, "Rejected", "A limit of 99 cannot be used."),
            ("recall", {"text": "a", "tag": "b"}, "Rejected", "'query' has no key 'tag'."),
            ("list", {"most": 100_000}, "Rejected", "The argument 'most' must be a whole number from 1"),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            content = content_of(result)
            assert content["kind"] == kind
            assert sentence in content["sentence"]

    session(address, tokens[Role.READER], err)
