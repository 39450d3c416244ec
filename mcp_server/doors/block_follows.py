"""The block in CLAUDE.md follows at once what a person types or presses, not only when a turn is over."""

import contextlib

from mcp_server.adapters.ledger import Ledger, size
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError


def noted(opened: Opened) -> int:
    """Return how many bytes the ledger has: a verb that changes memories adds to them."""
    return sum(map(size, Ledger(opened.home / "ledger").paths()))


def follow(opened: Opened, *, since: int) -> None:
    """
    Make the block say what the memories say now, where the person chose one; never raises.

    Nothing is done while the ledger has *since* bytes, as before the verb. What stands in the way is told by
    `daybook status`.
    """
    if noted(opened) == since:
        return
    from mcp_server.actions.context.in_context_already import chosen  # most commands change nothing

    with contextlib.suppress(DaybookError, OSError):
        if chosen(store := opened.store()):
            from mcp_server.actions.context.claude_md import refresh  # slow to load, and rarely needed

            refresh(store)
