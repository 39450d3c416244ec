"""A secret as the label of a link is refused by each tool and command that takes one."""

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run
from tests.memories import files_of_store

TOKEN = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"
CALLS = [
    ("remember", {"title": "Deploys", "content": "They use a token.", "links": f"{TOKEN}: keys.txt"}),
    ("revise", {"id": "{id}", "links": [f"{TOKEN}: keys.txt"]}),
    ("link_memories", {"from": "{id}", "to": "keys.txt", "rel": TOKEN}),
    ("kg_put_edge", {"level": "project", "from": "{id}", "to": "./keys.txt", "rel": TOKEN}),
]


def kept(store: Store) -> bytes:
    """Return all bytes of the store in lower case, signs between letters left out."""
    data = b"".join(files_of_store(store.home).values()).lower()
    return bytes(byte for byte in data if chr(byte).isalnum())


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_no_tool_takes_it(claude: Caller, store: Store, tool: str, arguments: dict[str, str]) -> None:
    memory_id = remember(store, Draft("Uploads", "Uploads end after 60 seconds.")).memory.id
    named = {
        name: value.format(id=memory_id) if isinstance(value, str) else value
        for name, value in arguments.items()
    }

    answer = claude(tool, **named)

    assert "This seems to contain a GitHub token, so it was not stored." in answer
    assert TOKEN.replace("_", "").lower().encode() not in kept(store)


def test_no_command_takes_it(run: Run, store: Store) -> None:
    process = run("remember", "Deploys | They use a token.", "--link", f"{TOKEN}: keys.txt")

    assert "This seems to contain a GitHub token" in process.stderr
    assert TOKEN.replace("_", "").lower().encode() not in kept(store)
