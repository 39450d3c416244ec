"""The hot set, and the memories that are likely to be needed next."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import Status
from mcp_server.core.render import counted, state_of
from mcp_server.doors.shown import Shown, day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.context.hot import Warm
    from mcp_server.actions.memory.promote import HotStatus, Pinned, Promoted
    from mcp_server.actions.sessions.predict import Pattern

OFF = "The hot set is switched off: HOT_CACHE_MAX_ITEMS is 0."
EMPTY = "Recalling a memory {} puts it there; so does 'daybook pin ID'."
ONLY_PINS = "'daybook pin ID' puts a memory there."
NO_PATTERN = "No pattern yet: two recalls must follow each other in two sessions."
UNLIKELY = "No memory is likely enough to be predicted; 'daybook patterns' shows the known patterns."


def status(hot_set: HotStatus) -> Shown:
    """Return the hot set: the memories with a place, those that fill free ones, the hot ones without one."""
    groups = {"held": hot_set.placed, "predicted": hot_set.predicted, "evicted": hot_set.evicted}
    states = {"held": "", "predicted": "likely next", "evicted": "no place for it"}
    next_out = hot_set.next_out.row.id if hot_set.next_out else None
    json = {"capacity": hot_set.capacity, "next_out": next_out} | {
        name: [_warm_json(warm, hot_set) for warm in group] for name, group in groups.items()
    }
    if not hot_set.capacity:
        return Shown(OFF, json=json)
    return Shown(
        f"{len(hot_set.placed)} of {hot_set.capacity} places are taken.",
        ("id", "why", "heat:", "accesses:", "last:", "salience:", "", "title"),
        [_row(warm, hot_set, states[name]) for name, group in groups.items() for warm in group],
        notes=[
            f"The first to leave is {next_out}." if next_out else "",
            "" if hot_set.placed or hot_set.predicted else _how_to_fill(hot_set.accesses),
        ],
        json=json,
    )


def _how_to_fill(accesses: int) -> str:
    """Return what puts a memory into the hot set, where so many *accesses* do, 0 for none."""
    return EMPTY.format(counted(accesses, "time")) if accesses else ONLY_PINS


def patterns(all_patterns: Sequence[Pattern], *, nothing: str) -> Shown:
    """Return which memory is recalled after which; *nothing* is the sentence for none."""
    return Shown(
        "" if all_patterns else nothing,
        ("comes", "after:", "probability:", "seen:", "title"),
        [
            (pattern.second, pattern.first, f"{pattern.probability:.2f}", pattern.count, pattern.second_title)
            for pattern in all_patterns
        ],
        json=[asdict(pattern) for pattern in all_patterns],
    )


def pinned(outcome: Pinned, note: str = "") -> Shown:
    """Return that a memory is pinned, or no longer is, or was so before; *note* says the outcome besides."""
    file = outcome.file
    if outcome.before:
        became = "was pinned already" if file.memory.pinned else "was not pinned"
    else:
        became = "pinned" if file.memory.pinned else "no longer pinned"
    if file.memory.pinned and outcome.shadowed_by:
        became = f"{became}, but {state_of(Status.ACTIVE, shadowed_by=outcome.shadowed_by)}"
    return Shown(f"{file.memory.id}: {became}.", rows=((file.path,),), notes=[note])


def promoted(memory_id: str, promotion: Promoted, note: str = "", *, days: int) -> Shown:
    """
    Return the outcome of promoting a memory to the hot set; *note* says the outcome besides.

    It leaves the set after so many *days* without use, 0 for never.
    """
    crowded = "hotter memories take all places; pin it, or demote one of them"
    why_not = state_of(Status.ACTIVE, shadowed_by=promotion.shadowed_by) or crowded
    until = f"until it is unused for {counted(days, 'day')}" if days else "until you demote it"
    kept = "was kept at hand already, and stays so" if promotion.before else "kept at hand"
    outcome = f"{kept} {until}" if promotion.has_place else f"recorded, but {why_not}"
    return Shown(f"{memory_id}: {outcome}.", notes=[note])


def demoted(memory_id: str, *, was_hot: bool) -> Shown:
    """Return the outcome of demoting a memory from the hot set."""
    back = "no longer kept at hand; new accesses bring it back"
    return Shown(f"{memory_id}: {back if was_hot else 'was not in the hot set'}.")


def _row(warm: Warm, status: HotStatus, state: str) -> tuple[object, ...]:
    why = f"predicted {warm.probability:.2f}" if warm.probability else warm.why
    salience = f"{status.salience.get(warm.row.ref, 0.0):.2f}"
    return (
        warm.row.id, why, f"{warm.heat:.2f}", warm.accesses, day(warm.last), salience, state, warm.row.title,
    )  # fmt: skip


def _warm_json(warm: Warm, status: HotStatus) -> dict[str, object]:
    return {
        "id": warm.row.id, "title": warm.row.title, "why": warm.why, "heat": round(warm.heat, 4),
        "accesses": warm.accesses, "last": warm.last, "probability": round(warm.probability, 4),
        "salience": round(status.salience.get(warm.row.ref, 0.0), 4),
    }  # fmt: skip
