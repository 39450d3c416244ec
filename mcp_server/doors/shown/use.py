"""What was given to sessions, and whether they used it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.sessions.quality import LEAST_GIVEN, Quality
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.adapters.index.events.receipts import Receipt, Tally

NOTHING = "Nothing was recalled or shown in that time: Claude's recalls and your prompts count here."
NOTHING_GIVEN = "Claude was given nothing yet: that begins with the next session or recall."


def quality(found: Quality) -> Shown:
    """Return how much of what was given was used, and which memories are used most or never."""
    json = quality_json(found)
    if not found.given and not found.prompts_silent:
        return Shown(NOTHING, json=json)
    span = f"the last {counted(found.days, 'day')}" if found.days else "all time"
    return Shown(
        f"What was given in {span}:",
        rows=(
            ("memories given", found.given),
            ("used", f"{found.used} ({found.usage_rate:.0%})"),
            ("different memories", found.unique),
            ("prompts told something", found.prompts_told),
            ("prompts told nothing", found.prompts_silent),
        ),
        below=(
            _tallies("Most used", found.top_used),
            _tallies(f"Given {LEAST_GIVEN} times or more and never used", found.least_useful),
        ),
        json=json,
    )


def quality_json(found: Quality) -> dict[str, object]:
    """Return *found* for programs."""
    tallies = {"top_used": found.top_used, "least_useful": found.least_useful}
    told = {name: [tally._asdict() for tally in each] for name, each in tallies.items()}
    return asdict(found) | told | {"usage_rate": found.usage_rate}


def used(ids: Sequence[str]) -> Shown:
    """Return which memories were noted as used."""
    return Shown(f"{', '.join(ids)}: noted as used." if ids else "No id was given.")


def receipts(found: Sequence[Receipt]) -> Shown:
    """Return what was given, when, why, at what cost, and whether it was used."""
    return Shown(
        "" if found else NOTHING_GIVEN,
        ("when", "why", "id", "score:", "tokens:", "used:", "asked:"),
        [
            (
                moment(each.at),
                each.why,
                each.id,
                "" if each.score is None else f"{each.score:.2f}",
                each.tokens or "",
                "yes" if each.used else "",
                each.said[:40],
            )
            for each in found
        ],
        json=[each._asdict() | {"id": each.id} for each in found],
    )


def _tallies(head: str, tallies: Sequence[Tally]) -> Shown:
    return Shown(
        f"{head}: {'' if tallies else 'none'}".rstrip(),
        ("id", "given:", "used:"),
        [(tally.id, tally.given, tally.used) for tally in tallies],
    )
