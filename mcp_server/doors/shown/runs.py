"""An entry of a run of tidying in words: why memories were changed, and what could not be changed."""

from collections.abc import Iterator
from dataclasses import asdict

from mcp_server.core.memory_parts import Status
from mcp_server.core.render import counted
from mcp_server.core.runs import NotMade, RunEntry, Why

SENTENCES = {
    Why.MERGED: "merge {count}: {ids}",
    Why.DROPPED: "drop: {ids}",
    Why.AGED: "archive: {ids} showed no sign of life for {days}",
    Why.AGED_ROOM_SHORT: "archive: {ids} showed no sign of life for {days}, space is short",
    Why.COMPACTED: "archive: {ids} was worth least in a graph over {number:,} tokens",
    Why.ORPHANED: "orphan: {ids} has no link from or to an active memory",
    Why.LINKED_AGAIN: "no orphan: {ids} stays in the archive",
    Why.OVERDUE: "trash: {ids} was {word}",
    Why.OVERDUE_ROOM_SHORT: "trash: {ids} was archived {days} ago, space is short",
    Why.EXPIRED: "trash: {ids} was proposed and not seen for {days}",
    Why.SESSION_FORGOTTEN: "{word} {ids} goes to the trash",
    Why.OCCASIONS: "add occasions: {ids}, in the run {word}",
}


def because(entry: RunEntry) -> str:
    """Return why *entry* changes memories; what an earlier version wrote is a sentence already."""
    reason = entry.reason
    if reason.why not in SENTENCES:
        return reason.why
    sentence = SENTENCES[Why(reason.why)].format(
        count=len(reason.ids),
        ids=_names(reason.ids, " + "),
        number=reason.number,
        days=counted(reason.number, "day"),
        word=reason.word,
    )
    if reason.replaced:
        replaced = _names(reason.replaced, ", ")
        sentence = f"{sentence}; 'daybook restore ID' brings back what it had replaced: {replaced}"
    return "; ".join([sentence, *(_revived(entry) if reason.why == Why.SESSION_FORGOTTEN else ())])


def line(entry: RunEntry) -> str:
    """Return why *entry* changes memories, and the title of the memory that results."""
    return f"{because(entry)} -> {entry.title}" if entry.title else because(entry)


def not_made(failure: NotMade) -> str:
    """Return what was not done, and why."""
    of = f"{failure.ref} " if failure.ref else ""
    return f"{line(failure.entry)}: {of}{failure.why}"


def entry_json(entry: RunEntry) -> dict[str, object]:
    """Return *entry* for programs, which read its reason as a sentence."""
    return {**asdict(entry), "reason": because(entry)}


def _revived(entry: RunEntry) -> Iterator[str]:
    """Yield what becomes of the memories that the forgotten one had superseded."""
    for change in entry.changes:
        if heir := change.now.get("superseded_by"):
            yield f"[{change.id}] is superseded by [{heir}] then"
        elif change.now.get("status") == Status.ACTIVE:
            yield f"[{change.id}] is active again"


def _names(ids: tuple[str, ...], between: str) -> str:
    return between.join(f"[{memory_id}]" for memory_id in ids)
