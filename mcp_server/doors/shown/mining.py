"""What was logged, and what recurs in it."""

from dataclasses import asdict

from mcp_server.actions.capture.mine import Logged, Mining, MiningStatus
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment
from mcp_server.doors.shown.draft_outcome import summary

NEXT = "review_candidates or 'daybook candidates' shows what waits."


def logged(entry: Logged) -> Shown:
    """Return what was added to the log."""
    masked = f" Masked: {counted(entry.masked, 'secret')}." if entry.masked else ""
    advice = "run_mining or 'daybook mine' looks for what recurs"
    return Shown(f"{entry.size:,} bytes logged for a week; {advice}.{masked}", json=asdict(entry))


def mined(run: Mining) -> Shown:
    """Return what a run of mining read and stored."""
    read = f"{counted(run.outputs, 'output')} and {counted(run.conversations, 'conversation')} read"
    stored = f"stored: {summary(run.stored)}"
    return Shown(f"{read}, {counted(run.sighted, 'new sighting')}; {stored}. {NEXT}", json=asdict(run))


def status(mining: MiningStatus) -> Shown:
    """Return how mining stands, and its last runs."""
    runs = [
        (
            f"run of {moment(run.at)}",
            ", ".join(f"{n} {key}" for key, n in run.detail.items() if key != "vault"),
        )
        for run in mining.runs
    ]
    return Shown(
        rows=(
            ("output log", f"{mining.size:,} bytes of {counted(mining.days, 'day')}"),
            ("waiting", counted(mining.waiting, "candidate")),
            ("stored", mining.verdicts.get("approved", 0)),
            ("rejected", mining.verdicts.get("rejected", 0)),
            *(runs or [("runs", "none yet")]),
        ),
        json=asdict(mining),
    )
