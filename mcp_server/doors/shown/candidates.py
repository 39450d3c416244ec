"""Candidates that wait, and what became of proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.settled import BECAME, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.judge.candidate import Candidate
    from mcp_server.actions.judge.settled import Settled


def waiting(found: Sequence[Candidate]) -> Shown:
    """Return the candidates that wait, with their confidence and how often they were seen."""
    return Shown(
        f"Waiting: {counted(len(found), 'candidate')}." if found else "No candidate waits.",
        ("id", "type", "sure:", "seen:", "in sessions:", "why it waits", "title"),
        [
            (w.memory.id, w.memory.type, f"{w.confidence:.2f}", w.times, w.sessions, w.why, w.memory.title)
            for w in found
        ],
        tuple(each.memory.text for each in found),
        json=[
            {
                "id": each.memory.id,
                "type": each.memory.type,
                "title": each.memory.title,
                "text": each.memory.text,
                "confidence": each.confidence,
                "times": each.times,
                "sessions": each.sessions,
                "why": each.why,
                "path": each.path,
            }
            for each in found
        ],
    )


def proposals(head: str, done: Sequence[Settled], *, refused: int = 0) -> Shown:
    """Return what became of proposals, *head* before their numbers, with the ids that hold them now."""
    more = f" {refused} refused: their evidence or shape did not fit." if refused else ""
    return Shown(
        f"{head}: {summary(done)}.{more}",
        ("id", "what became of it", "superseded:"),
        [(each.id, BECAME[each.action], ", ".join(each.superseded)) for each in done],
    )
