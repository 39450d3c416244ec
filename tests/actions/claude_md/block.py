"""What stands in a file of the person, and what the block tells."""

from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.memory.remember import Remembered, remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store

MINE = "# My rules\n\nNever force push.\n"


def lines(store: Store) -> list[str]:
    return [line for line in current_block(store).text.split("\n") if line.startswith("- ")]


def one_more(store: Store, title: str = "Prices are in cents") -> Remembered:
    return remember(store, Draft(title, "In every table.", type="gotcha"))
