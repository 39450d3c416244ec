"""Sessions, what each left, and what recurs in several."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from mcp_server.actions.sessions.forget_session import ForgottenSession
from mcp_server.actions.sessions.session_history import Given, Patterns, SessionReport
from mcp_server.adapters.index.events.episodes import Again, Episode
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.budget import Cost
from mcp_server.core.memory_parts import id_in
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.figures import cost_of
from mcp_server.doors.shown.rows import ROW, row_cells, row_json
from mcp_server.doors.shown.runs import because, entry_json, not_made

NONE = (
    "No session is known here. Claude Code's sessions are listed once they start; all projects may have more."
)
IN_SEVERAL = "What several sessions recalled, used or learned about:"
NO_PATTERN = "No two sessions have anything in common yet."
FORGOTTEN = "Everything learned in it was forgotten; 'daybook forget-session' with --undo brings it back."


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
                cost_of(costs.get(episode.id, Cost())),
                (episode.topic or episode.summary)[:120],
            )
            for episode in episodes
        ],
        json=[{**asdict(episode), "cost": asdict(costs.get(episode.id, Cost()))} for episode in episodes],
    )


def session(report: SessionReport, stored: Sequence[Row] = (), uses: Sequence[Given] = ()) -> Shown:
    """Return one session, and with them the memories that it *stored* and its *uses* of given ones."""
    episode = report.episode
    kinds = ", ".join(f"{kind} {number}" for kind, number in report.stored.items()) or "nothing"
    read = [
        (
            "transcript",
            f"{transcript.kept:,} of {transcript.size:,} bytes kept, {transcript.learned:,} learned from",
        )
        for transcript in report.transcripts[:5]
    ]
    return Shown(
        " · ".join(filter(None, (_name(episode), episode.topic))),
        rows=(
            ("id", episode.id),
            ("began", f"{moment(episode.started)} UTC, last {moment(episode.last)}"),
            ("ended", moment(episode.ended)),
            ("folder", episode.folder or "not known"),
            ("stored", f"{kinds}; recalled {counted(report.recalled, 'memory')}, used {report.used}"),
            *read,
            ("learning from it", cost_of(report.cost) or "no call of a model"),
            ("summary:" if episode.summary else "",),
        ),
        body=episode.summary,
        below=_memories(stored, uses),
        notes=[FORGOTTEN if episode.forgotten else ""],
        json={
            **asdict(report),
            "memories": [row_json(row) for row in stored],
            "given": [asdict(use) for use in uses],
        },
    )


def memories(episode: Episode, stored: Sequence[Row], uses: Sequence[Given]) -> Shown:
    """Return what a session stored, and what it was given that it asked for."""
    head = f"session {_name(episode)} stored {len(stored)}, and asked for {len(uses)}"
    return Shown(head, below=_memories(stored, uses))


def patterns(recurring: Patterns) -> Shown:
    """Return what several sessions recalled, used or learned about."""
    return Shown(
        IN_SEVERAL if recurring.memories or recurring.tags else NO_PATTERN,
        below=(
            Shown(
                "",
                ("memory", "sessions:", "times:", "title"),
                [_again(entry) for entry in recurring.memories],
            ),
            Shown("", ("tag:", "sessions:", "memories:", ""), [_again(entry) for entry in recurring.tags]),
        ),
        json=asdict(recurring),
    )


def forgotten(outcome: ForgottenSession) -> Shown:
    """Return the forgotten memories of a session, or those that would be, a row for each."""
    entries = [f"{because(entry)}: {entry.title}" for entry in outcome.entries]
    left = [_left(memory_id, verbs) for memory_id, verbs in outcome.left.items()]
    failed = [not_made(failure) for failure in outcome.failed]
    nothing = "Nothing is left of what was learned in that session"
    rows = [
        *(entries or ([f"{nothing}."] if outcome.dry_run else [])),
        *(f"left as it is: {sentence}" for sentence in left),
        *(f"not done: {sentence}" for sentence in failed),
    ]
    back = f"'daybook forget-session {outcome.session[:120]} --undo' brings it back"
    head = f"Done; {back}:" if entries else f"{nothing}; {back}."
    return Shown(
        "Nothing was changed. The plan:" if outcome.dry_run else head,
        rows=[(row,) for row in rows],
        json={
            **asdict(outcome),
            "entries": [entry_json(entry) for entry in outcome.entries],
            "left": left,
            "failed": failed,
            "lines": rows,
        },
    )


def _left(memory_id: str, verbs: Sequence[str]) -> str:
    """Return what the session did to a memory that was there before."""
    before = f"; 'daybook history {memory_id}' has what it said before" if "revised" in verbs else ""
    return f"[{memory_id}] was {' and '.join(verbs)} in it{before}"


def _memories(stored: Sequence[Row], uses: Sequence[Given]) -> tuple[Shown, ...]:
    return (
        Shown("Stored:", ROW, [row_cells(row) for row in stored]),
        Shown(
            "Given:",
            ("id", "recalled:", "used:", "title"),
            [(use.id, use.recalled, use.used, use.title) for use in uses],
        ),
    )


def _again(entry: Again) -> tuple[object, ...]:
    return (id_in(entry.name), entry.sessions, entry.times, entry.title)


def _name(episode: Episode) -> str:
    return episode.short or episode.id[:16]
