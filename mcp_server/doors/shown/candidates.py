"""Candidates that wait, and what became of proposals."""

from collections.abc import Mapping, Sequence

from mcp_server.actions.judge.candidate import Candidate, WaitsFor
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.core.errors import DaybookError
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.draft_outcome import BECAME, summary

WAITS_FOR = {
    WaitsFor.PERSON: "waits for you",
    WaitsFor.INSTRUCTS: "waits for you: it reads like an instruction",
    WaitsFor.UNSURE: "waits for you: not sure enough",
}


def why(candidate: Candidate) -> str:
    """Return why *candidate* waits."""
    return WAITS_FOR[candidate.why] if isinstance(candidate.why, WaitsFor) else candidate.why


def waiting(candidates: Sequence[Candidate]) -> Shown:
    """Return the candidates that wait, with their confidence and how often they were seen."""
    return Shown(
        f"Waiting: {counted(len(candidates), 'candidate')}." if candidates else "No candidate waits.",
        ("id", "type", "sure:", "seen:", "in sessions:", "why it waits", "title"),
        [
            (
                w.memory.id,
                w.memory.type,
                f"{w.confidence:.2f}",
                w.times or "",
                w.sessions or "",
                why(w),
                w.memory.title,
            )
            for w in candidates
        ],
        tuple(candidate.memory.text for candidate in candidates),
        json=[
            {
                "id": candidate.memory.id,
                "type": candidate.memory.type,
                "title": candidate.memory.title,
                "text": candidate.memory.text,
                "confidence": candidate.confidence,
                "times": candidate.times,
                "sessions": candidate.sessions,
                "why": why(candidate),
                "path": candidate.path,
            }
            for candidate in candidates
        ],
    )


def proposals(
    head: str,
    outcomes: Sequence[DraftOutcome],
    *,
    refused: int = 0,
    before: Mapping[str, str] = {},
    failed: Mapping[str, DaybookError] = {},
) -> Shown:
    """
    Return what became of proposals, *head* before their numbers, with the ids that hold them now.

    *before* is key → verdict of those that were settled before, *failed* key → why of those that were not
    settled.
    """
    more = f" {refused} refused: their evidence or shape did not fit." if refused else ""
    return Shown(
        f"{head}: {summary(outcomes)}.{more}",
        ("id", "result", "superseded:"),
        [(outcome.id, BECAME[outcome.action], ", ".join(outcome.superseded)) for outcome in outcomes],
        json=[
            {"id": outcome.id, "action": outcome.action, "superseded": outcome.superseded}
            for outcome in outcomes
        ],
        notes=_others(before, failed),
    )


def rejected(
    ids: Sequence[str], *, before: Mapping[str, str], failed: Mapping[str, DaybookError] = {}
) -> Shown:
    """Return how many candidates were rejected; *before* and *failed* are as for `proposals`."""
    return Shown(f"{len(ids)} rejected.", notes=_others(before, failed), json=ids)


def not_settled(failed: Mapping[str, DaybookError]) -> tuple[str, ...]:
    """Return why candidates were not settled, a sentence each."""
    return tuple(f"{key}: not settled: {error}" for key, error in failed.items())


def _others(before: Mapping[str, str], failed: Mapping[str, DaybookError]) -> tuple[str, ...]:
    verdicts = (f"{key}: {verdict} already; it waits no longer." for key, verdict in before.items())
    return (*verdicts, *not_settled(failed))
