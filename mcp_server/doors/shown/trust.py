"""The trust in a memory, and what changed it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import Status
from mcp_server.core.render import elsewhere, files_of_before, state_of
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.rows import row_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.memory.trust import Standing, TrustHistory
    from mcp_server.adapters.index.memories.memories import Row

UNMOVED = "Nothing has changed it yet: 'daybook validate' and 'daybook invalidate' do."


def standing(now: Standing) -> str:
    """Return the trust in a memory, on one line."""
    parts = (
        elsewhere(now.project),
        f"trust: {now.label} ({now.trust:.2f})",
        files_of_before(now.stale),
        state_of(Status.ACTIVE, shadowed_by=now.shadowed_by),
    )
    return " · ".join(filter(None, parts))


def moved(record: TrustHistory, note: str = "") -> Shown:
    """Return the trust in a memory after it was checked; *note* says the outcome besides."""
    table = history(record)
    return Shown(table.head, notes=[note], json=table.json)


def accepted(rows: Sequence[Row], *, wait: bool) -> Shown:
    """Return the memories that were accepted, or that *wait* for it."""
    if not rows:
        return Shown("Nothing waits for you.", json=[])
    waiting = "waits" if len(rows) == 1 else "wait"
    return Shown(
        f"{len(rows)} {waiting if wait else 'accepted'}.",
        ("id", "file", "title"),
        [(row.id, row.path, row.title) for row in rows],
        json=[row_json(row) for row in rows],
    )


def history(record: TrustHistory) -> Shown:
    """Return the trust in a memory and each event that changed it, latest first."""
    return Shown(
        f"{record.id} · {standing(record.standing)} · base {record.base:.2f}",
        ("when", "moved by:", "reason", "note"),
        [(moment(event.at), f"{event.amount:+.2f}", event.reason, event.note) for event in record.events],
        notes=["" if record.events else UNMOVED],
        json={
            **asdict(record),
            "events": [event._asdict() for event in record.events],
            "label": record.standing.label,
        },
    )
