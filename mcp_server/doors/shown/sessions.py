"""Sessions, what each left, and what recurs in several."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.budget import Cost
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.rows import ROW, row_cells, row_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_server.actions.sessions.forget_session import ForgottenSession
    from mcp_server.actions.sessions.session_history import Given, Patterns, SessionReport
    from mcp_server.adapters.index.events.episodes import Again, Episode
    from mcp_server.adapters.index.memories.memories import Row

NONE = "No session is known here. They are noted when Claude Code starts one; all projects have more."
IN_SEVERAL = "What several sessions recalled, used or learned about:"
NO_PATTERN = "Nothing comes up in two sessions yet."
FORGOTTEN = "Everything learned in it was forgotten; 'daybook forget-session' with --undo puts it back."


def listed(episodes: Sequence[Episode], costs: Mapping[str, Cost]) -> Shown:
    """Return sessions, the latest first."""
    return Shown(
        f"{counted(len(episodes), 'session')}, the latest first" if episodes else NONE,
        ("id", "began (UTC)", "last:", "ended:", "", "learning from it:", "topic"),
        [
            (
                _name(episode),
                moment(episode.started),
                moment(episode.last),
                moment(episode.ended),
                "forgotten" if episode.forgotten else "",
                str(costs.get(episode.id, "")),
                (episode.topic or episode.summary)[:120],
            )
            for episode in episodes
        ],
        json=[{**asdict(episode), "cost": asdict(costs.get(episode.id, Cost()))} for episode in episodes],
    )


def one(told: SessionReport, stored: Sequence[Row] = (), given: Sequence[Given] = ()) -> Shown:
    """Return one session, and with them what it *stored* and was *given*."""
    episode = told.episode
    kinds = ", ".join(f"{kind} {number}" for kind, number in told.stored.items()) or "nothing"
    read = [
        ("transcript", f"{each.kept:,} of {each.size:,} bytes kept, {each.learned:,} learned from")
        for each in told.transcripts[:5]
    ]
    return Shown(
        " · ".join(filter(None, (_name(episode), episode.topic))),
        rows=(
            ("id", episode.id),
            ("began", f"{moment(episode.started)} UTC, last {moment(episode.last)}"),
            *([("ended", moment(episode.ended))] if episode.ended else []),
            ("folder", episode.folder or "not known"),
            ("stored", f"{kinds}; recalled {counted(told.recalled, 'memory')}, used {told.used}"),
            *read,
            ("learning from it", str(told.cost) or "no call of a model"),
            *([("summary:",)] if episode.summary else []),
        ),
        body=episode.summary,
        below=_memories(stored, given),
        notes=(FORGOTTEN,) if episode.forgotten else (),
        json={
            **asdict(told),
            "memories": [row_json(row) for row in stored],
            "given": [asdict(each) for each in given],
        },
    )


def memories(episode: Episode, stored: Sequence[Row], given: Sequence[Given]) -> Shown:
    """Return what a session stored, and what it was given that it asked for."""
    head = f"session {_name(episode)} stored {len(stored)}, and was given {len(given)} that it asked for"
    return Shown(head, below=_memories(stored, given))


def patterns(found: Patterns) -> Shown:
    """Return what several sessions recalled, used or learned about."""
    return Shown(
        IN_SEVERAL if found.memories or found.tags else NO_PATTERN,
        below=(
            Shown("", ("memory", "sessions:", "times:", "title"), [_again(each) for each in found.memories]),
            Shown("", ("tag:", "sessions:", "memories:", ""), [_again(each) for each in found.tags]),
        ),
        json=asdict(found),
    )


def forgotten(found: ForgottenSession) -> Shown:
    """Return the forgotten memories of a session, or those that would be, a row for each."""
    entries = [f"{entry.reason}: {entry.title}" for entry in found.entries]
    rows = [
        *(entries or ["Nothing was learned in that session."]),
        *(f"left as it is: {line}" for line in found.left),
        *(f"not done: {line}" for line in found.failed),
    ]
    head = f"Done; 'daybook forget-session {found.session[:120]} --undo' puts it back:"
    return Shown(
        "Nothing was changed; the plan:" if found.dry_run else head,
        rows=[(row,) for row in rows],
        json={**asdict(found), "lines": rows},
    )


def _memories(stored: Sequence[Row], given: Sequence[Given]) -> tuple[Shown, ...]:
    return (
        Shown("Stored:", ROW, [row_cells(row) for row in stored]),
        Shown(
            "Given:",
            ("id", "recalled:", "used:", "title"),
            [(each.id, each.recalled, each.used, each.title) for each in given],
        ),
    )


def _again(each: Again) -> tuple[object, ...]:
    return (each.name.rpartition("/")[2], each.sessions, each.times, each.title)


def _name(episode: Episode) -> str:
    return episode.short or episode.id[:16]
