"""What calls of the model cost, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.core.render import counted

if TYPE_CHECKING:
    from mcp_server.actions.model.model_call import Spending
    from mcp_server.core.budget import Cost


def today(spent: Spending) -> str:
    """Return what today cost, and which calls are not in it because their price is unknown."""
    unknown = f" and calls of {spent.unpriced}, whose price is not known" if spent.unpriced else ""
    return f"${spent.today_usd:.4f}{unknown}"


def cost_of(cost: Cost) -> str:
    """Return what learning from a session cost, as `3 calls, 4,120 tokens, $0.0061`; '' for no call."""
    paid = [counted(cost.calls, "call")] if cost.calls else []
    planned = [f"{counted(cost.plan_calls, 'call')} on your plan"] if cost.plan_calls else []
    parts = [*paid, *planned, f"{cost.tokens:,} tokens", *([f"${cost.usd:.4f}"] if cost.calls else [])]
    return ", ".join(parts) if paid or planned else ""
