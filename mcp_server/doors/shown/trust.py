"""The trust in a memory, and what changed it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.memory import Status
from mcp_server.core.render import state_of
from mcp_server.doors.shown import Shown, moment

if TYPE_CHECKING:
    from mcp_server.actions.memory.trust import Standing, TrustHistory

UNMOVED = "Nothing has moved it yet: 'daybook validate' and 'daybook invalidate' do."


def standing(now: Standing) -> str:
    """Return the trust in a memory, on one line."""
    state = state_of(Status.ACTIVE, here=now.shadowed_by)
    return " · ".join(filter(None, (f"trust: {now.label} ({now.trust:.2f})", now.stale.label, state)))


def history(found: TrustHistory) -> Shown:
    """Return the trust in a memory and each event that changed it, latest first."""
    return Shown(
        f"{found.id} · {standing(found.standing)} · base {found.base:.2f}",
        ("when", "moved by:", "reason", "note"),
        [(moment(event.at), f"{event.amount:+.2f}", event.reason, event.note) for event in found.events],
        notes=() if found.events else (UNMOVED,),
        json=asdict(found) | {"label": found.standing.label},
    )
