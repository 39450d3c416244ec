"""A server in this process, and a client of the protocol that calls its tools as Claude's does."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import CodeType
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.server.mcpserver.tools import Tool

from mcp_server.bootstrap import Opened
from tests.live import built
from tests.person import Person

Answer = TypeVar("Answer")

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])  # the newest protocol and the one before

_from_function = Tool.from_function
_tools: dict[CodeType, Tool] = {}


def _made_once(function: Callable[..., Any], **options: Any) -> Tool:
    """Return the library's tool for *function*, which it derives anew only for code that it has not seen."""
    code = getattr(function, "__wrapped__", function).__code__
    if code not in _tools:
        _tools[code] = _from_function(function, **options)
    return _tools[code].model_copy(update={"fn": function})


# A server of every set has seventy tools, which take a tenth of a second: hundreds of tests start one.
Tool.from_function = staticmethod(_made_once)  # type: ignore[method-assign,assignment]


class Caller:
    """
    Calls a tool and returns the text of its answer; `failed` says whether that was an error.

    `client` is the protocol's own, whose methods `wait_for` runs.
    """

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client, self.failed = client, False
        self._portal = portal

    def __call__(self, tool: str, /, *, meta: Mapping[str, Any] | None = None, **arguments: object) -> str:
        result = self.wait_for(lambda: self.client.call_tool(tool, arguments, meta=meta))
        self.failed = bool(result.is_error)
        assert result.structured_content is None
        return "".join(block.text for block in result.content if block.type == "text")

    def wait_for(self, method: Callable[..., Awaitable[Answer]], *arguments: object) -> Answer:
        return self._portal.call(method, *arguments)


@contextmanager
def calling(client: Client) -> Iterator[Caller]:
    """Yield what calls tools by *client*, which is connected meanwhile."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Caller(client, portal)


def connected(
    opened: Opened, person: Person | None = None, *, mode: str = "auto"
) -> AbstractContextManager[Caller]:
    """Call the tools of a server on *opened*, whose dialogs *person* answers."""
    return calling(Client(built(opened), elicitation_callback=person, mode=mode))


def call(opened: Opened, person: Person | None, mode: str, tool: str, **arguments: Any) -> str:
    """Return what the tool answers to a client whose person is *person*."""
    with connected(opened, person, mode=mode) as call_:
        return call_(tool, **arguments)
