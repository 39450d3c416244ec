"""What needs the person, in sentences: what a session's start and `status` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.actions.context.notice import (
    KeyOffered,
    MayBeFormer,
    NeedKind,
    NothingKept,
    Numbered,
    Vanished,
)
from mcp_server.adapters.index.events.unread_reports import PutAway
from mcp_server.core.render import MEGABYTE, counted
from mcp_server.doors.shown import day
from mcp_server.doors.shown.trouble import remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.context.notice import About
    from mcp_server.actions.files.size_limit import Size
    from mcp_server.adapters.missing_projects import Former
    from mcp_server.core.worth.steady_clock import Doubt

SENTENCES = {
    NeedKind.LATE: (
        "session",
        "not captured an hour after the session ended: {};"
        " run 'daybook work', then 'daybook doctor' if this message comes again.",
    ),
    NeedKind.KEY_REFUSED: (
        "key",
        "the model's service refuses the key, the account or the model; 'daybook status' says more.",
    ),
    NeedKind.NO_KEY: ("key", "you allowed model calls, but there is no API key; run 'daybook setup --key'."),
    NeedKind.TEAM_REFUSED: (
        "memory",
        "the team refused what you sent: {}; 'daybook team status' says why.",
    ),
    NeedKind.TEAM_KEPT: (
        "memory",
        "the team kept what you sent a replacement for: {}; 'daybook team status' says why.",
    ),
    NeedKind.UNREAD: ("file", "not taken in: {}; 'daybook sync' says which, and why."),
    NeedKind.SETTLED: (
        "sentence",
        "you said something that may be worth keeping: {}; 'daybook review' in a terminal, or"
        " /daybook:review here, asks you.",
    ),
}
"""Kind of need → the noun for one, and the sentence about their number."""
MOST_NAMED = 3  # memories, or runs, in one sentence


def notice(about: About | None) -> str:
    """Return the sentence for the person when a session starts, '' for nothing."""
    return f"Daybook: {_sentence(about)}" if about else ""


def of_which(changed: int) -> str:
    """Return how many of the memories that wait were accepted before they *changed*, '' for none."""
    return f", of which {changed} changed since you accepted them" if changed else ""


def _sentence(about: About) -> str:
    match about:
        case Numbered(NeedKind.WAITING, number, changed):
            asks = "shows what differs and asks you" if changed else "asks you"
            return (
                f"not shown unasked until you accept it: {counted(number, 'memory')}{of_which(changed)};"
                f" 'daybook review' in a terminal, or /daybook:review here, {asks}."
            )
        case Numbered(kind, number):
            noun, sentence = SENTENCES[kind]
            return sentence.format(counted(number, noun))
        case NothingKept():
            return disk(about)
        case Vanished(losses):
            return " ".join(map(remark, losses))
        case PutAway():
            return put_away(about)
        case MayBeFormer(projects):
            return former(projects)
        case KeyOffered(daily_usd):
            return (
                "there is an API key in your environment. Daybook does not use it. 'daybook setup' lets"
                f" Daybook learn from sessions with a model, for at most ${daily_usd:.2f} a day."
            )
        case _:
            return size(about)


def disk(refused: NothingKept | None) -> str:
    """Return why nothing can be stored now; '' for None."""
    return f"{refused.home} {refused.refusal}, so nothing is remembered or captured." if refused else ""


def put_away(record: PutAway) -> str:
    """Return what upkeep put away and the command that reverses it."""
    first, *others = record.runs
    away = f"upkeep put {counted(record.memories, 'memory')} away {'since' if others else 'on'}"
    named = f"'daybook undo {first}'"
    if others:
        named = f"'daybook undo' with each of {', '.join(record.runs[:MOST_NAMED])}"
    if left := len(record.runs[MOST_NAMED:]):
        named += f" and of {left} more in 'daybook history'"
    return f"{away} {day(record.since)}, as aged or unused; {named} reverses it."


def former(projects: Sequence[Former]) -> str:
    """Return the memories that may be this project's and the command to adopt them; '' for none."""
    if not projects:
        return ""
    first = projects[0]
    others_note = f" ({len(projects) - 1} more: 'daybook where')" if len(projects) > 1 else ""
    if first.elsewhere:
        return (
            f"Memories of {first.root} from another of your machines may belong to this project: "
            f"'daybook adopt {first.key}' joins both{others_note}."
        )
    if first.here:
        return (
            f"{first.root} was another project, {first.key}, before: if its memories belong to this one, "
            f"'daybook adopt {first.key}' takes them over{others_note}."
        )
    return (
        f"Memories of {first.root}, a folder that is gone, may belong to this project: 'daybook "
        f"adopt {first.key}' takes them over{others_note}."
    )


def back_again(memories: Sequence[tuple[str, str]]) -> str:
    """Return which memories came back after they were forgotten, each (id, title); '' for none."""
    if not memories:
        return ""
    names = ", ".join(f"[{memory_id}] {title}" for memory_id, title in memories[:MOST_NAMED])
    more = f" and {len(memories) - MOST_NAMED} more" if len(memories) > MOST_NAMED else ""
    first = memories[0][0]
    return (
        f"Forgotten on one of your machines, but kept, reworded or pinned on another, so still there: {names}"
        f"{more}. 'daybook forget {first}' puts it away everywhere, 'daybook validate {first}' keeps it."
    )


def size(measured: Size) -> str:
    """Return what the person should know of the memory's size and can do; '' while there is room."""
    if not measured.is_near:
        return ""
    limit, total = measured.limit // MEGABYTE, measured.total / MEGABYTE
    helps = "'daybook maintain clean' and 'daybook forget ID --forever' make room"
    helps += ", MAX_MEMORY_SIZE_MB allows more"
    if not measured.is_over:
        return f"The memory takes {total:,.1f} of {limit:,} MB: {helps}."
    return (
        f"The memory takes {total:,.1f} MB, more than its limit of {limit:,}. Nothing is lost or"
        f" refused, but unused conversations are archived early: {helps}."
    )


def clock(doubt: Doubt | None) -> str:
    """Return why nothing ages now; '' where the clock is believed or Daybook is new."""
    if doubt is None or doubt.before is None:
        return ""
    days_needed = "one more day" if doubt.missing == 1 else f"{doubt.missing} more days"
    return (
        f"The clock says {day(doubt.now)}, but Daybook was last used on {day(doubt.before)}: nothing is"
        f" put away or deleted for its age until it is used on {days_needed} by this clock."
    )
