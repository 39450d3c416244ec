"""A server, asked as Daybook's module in the client asks it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client

from mcp_server.bootstrap import Opened
from mcp_server.doors.server import build

META = {"claudecode/toolUseId": "toolu_plugin_1"}

Tell = Callable[..., dict[str, Any]]


@contextmanager
def module(opened: Opened, meta: dict[str, str] = META) -> Iterator[Tell]:
    """Yield what asks a server as the module does: an event and what is given."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        client = stack.enter_context(portal.wrap_async_context_manager(Client(build(opened))))

        def tell(event: str, **given: Any) -> dict[str, Any]:
            arguments = {"event": event, "session_id": "s1", "given": given}

            async def call() -> str:
                result = await client.call_tool("hook", arguments, meta=meta)
                return "".join(block.text for block in result.content)

            return json.loads(portal.call(call))

        yield tell


def ledger(opened: Opened, event: str) -> list[dict[str, Any]]:
    lines = [line for path in opened.home.glob("ledger/*") for line in path.read_text().splitlines()]
    return [said for said in map(json.loads, lines) if said["event"] == event]
