"""A server, asked as Daybook's module in the client asks it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mcp_server.bootstrap import Opened
from tests.doors.called import connected
from tests.durability.served import Served

META = {"claudecode/toolUseId": "toolu_plugin_1"}

Tell = Callable[..., dict[str, Any]]


@contextmanager
def module(opened: Opened, meta: dict[str, str] = META) -> Iterator[Tell]:
    """Yield what asks a server as the module does: an event and what is given."""
    with connected(opened) as call:

        def tell(event: str, **given_values: Any) -> dict[str, Any]:
            answer: dict[str, Any] = json.loads(
                call("hook", meta=meta, event=event, session_id="s1", given=given_values)
            )
            return answer

        yield tell


def ask_server(server: Served, event: str, **given_values: Any) -> dict[str, Any]:
    """Ask the process *server* as the module does; return its answer."""
    arguments = {"event": event, "session_id": "s1", "given": given_values}
    reply = server.ask("tools/call", {"name": "hook", "arguments": arguments, "_meta": META})
    answer: dict[str, Any] = json.loads(reply["result"]["content"][0]["text"])
    return answer


def ledger(opened: Opened, event: str) -> list[dict[str, Any]]:
    lines = [line for path in opened.home.glob("ledger/*") for line in path.read_text().splitlines()]
    return [event_line for event_line in map(json.loads, lines) if event_line["event"] == event]
