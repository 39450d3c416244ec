"""What was given to sessions, and whether they used it."""

from collections.abc import Sequence
from dataclasses import asdict

from mcp_server.actions.sessions.quality import LEAST_GIVEN, Quality
from mcp_server.adapters.index.events.receipts import Receipt, Tally
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment

NOTHING = "Nothing was recalled or shown in that time; only Claude's recalls and your prompts count here."
NOTHING_GIVEN = "Claude was shown nothing yet; that begins with the next session or recall."


def quality(figures: Quality) -> Shown:
    """Return how much of what was given was used, and which memories are used most or never."""
    json = quality_json(figures)
    if not figures.given and not figures.prompts_silent:
        return Shown(NOTHING, json=json)
    span = f"the last {counted(figures.days, 'day')}" if figures.days else "all time"
    return Shown(
        f"What Claude was shown for its recalls and your prompts in {span}:",
        rows=(
            ("memories given", figures.given),
            ("used", f"{figures.used} ({figures.usage_rate:.0%})"),
            ("different memories", figures.unique),
            ("prompts that were shown a memory", figures.prompts_told),
            ("prompts that were shown none", figures.prompts_silent),
        ),
        below=(
            _tallies("Most used", figures.top_used),
            _tallies(f"Shown {LEAST_GIVEN} times or more and never used", figures.least_useful),
        ),
        json=json,
    )


def quality_json(figures: Quality) -> dict[str, object]:
    """Return *figures* for programs."""
    tallies = {"top_used": figures.top_used, "least_useful": figures.least_useful}
    lists = {name: [tally._asdict() for tally in group] for name, group in tallies.items()}
    return asdict(figures) | lists | {"usage_rate": figures.usage_rate}


def used(ids: Sequence[str]) -> Shown:
    """Return which memories were recorded as used."""
    return Shown(f"{', '.join(ids)}: recorded as used.")


def receipts(rows: Sequence[Receipt], *, session: str = "") -> Shown:
    """Return what was given, only to *session* if there is one, when, why, at what cost, and whether used."""
    nothing = f"The session {session} was shown nothing." if session else NOTHING_GIVEN
    return Shown(
        "" if rows else nothing,
        ("when", "why", "id", "score:", "tokens:", "used:", "asked:"),
        [
            (
                moment(receipt.at),
                receipt.why,
                receipt.id,
                "" if receipt.score is None else f"{receipt.score:.2f}",
                receipt.tokens or "",
                "yes" if receipt.used else "",
                receipt.said[:40],
            )
            for receipt in rows
        ],
        json=[receipt._asdict() | {"id": receipt.id} for receipt in rows],
    )


def _tallies(head: str, tallies: Sequence[Tally]) -> Shown:
    return Shown(
        f"{head}:",
        ("id", "given:", "used:"),
        [(tally.id, tally.given, tally.used) for tally in tallies],
    )
