"""What was logged, and what recurs in it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.draft_outcome import summary

if TYPE_CHECKING:
    from mcp_server.actions.capture.mine import Logged, Mining, MiningStatus

NEXT = "review_candidates or 'daybook candidates' shows what waits."


def logged(done: Logged) -> Shown:
    """Return what was added to the log."""
    masked = f" Masked: {counted(done.masked, 'secret')}." if done.masked else ""
    what = "run_mining or 'daybook mine' looks for what recurs"
    return Shown(f"{done.size:,} bytes logged for a week; {what}.{masked}")


def mined(done: Mining) -> Shown:
    """Return what a run of mining read and stored."""
    read = f"{counted(done.outputs, 'output')} and {counted(done.conversations, 'conversation')} read"
    stored = f"stored: {summary(done.stored)}"
    return Shown(f"{read}, {done.sighted} new sightings; {stored}. {NEXT}", json=asdict(done))


def status(found: MiningStatus) -> Shown:
    """Return how mining stands, and its last runs."""
    runs = [
        (
            f"run of {moment(run.at)}",
            ", ".join(f"{n} {key}" for key, n in run.detail.items() if key != "vault"),
        )
        for run in found.runs
    ]
    return Shown(
        rows=(
            ("output log", f"{found.size:,} bytes of {counted(found.days, 'day')}"),
            ("waiting", counted(found.waiting, "candidate")),
            ("stored", found.verdicts.get("approved", 0)),
            ("rejected", found.verdicts.get("rejected", 0)),
            *(runs or [("runs", "none yet")]),
        ),
        json=asdict(found),
    )
