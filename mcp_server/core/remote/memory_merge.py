"""
Two states of one memory, each made on a machine of the person's, as one.

Lists are united, and what one machine took out of them stays out; a single value is that of the later
change; texts are joined. Where both machines changed the same words, the memory has those of the later one,
and a second memory has the others: an open question, which the person settles.
The result is the same whichever of the two is given first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeVar

from mcp_server.core.digests import text_digest
from mcp_server.core.links import CONTRADICTS
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.remote.text_merge import join_texts

_AWAY = (Status.ARCHIVED, Status.ORPHANED)
_STANDING = ("status", "archived_reason", "superseded_by", "valid_to")
_LATEST = ("updated", "verified")
_APART = frozenset({"id", "title", "text", "links", *_STANDING, *_LATEST})
_LISTS = tuple(f.name for f in fields(Memory) if str(f.type).startswith("tuple[str"))
_SINGLE = tuple(f.name for f in fields(Memory) if f.name not in _APART and f.name not in _LISTS)
LONGEST_ID = 80

T = TypeVar("T")


class Placed(NamedTuple):
    """A memory, and the path at which the repository has it."""

    memory: Memory
    path: str


@dataclass(frozen=True, slots=True)
class MergedMemory:
    """
    The memory that two states became, and its path; `beside` says what it does not, None when it says all.

    `older` and `newer` tell which of the two given states is which.
    """

    memory: Memory
    path: str
    beside: Memory | None
    older: Placed
    newer: Placed


def merge_memories(base: Placed | None, first: Placed, second: Placed) -> MergedMemory:
    """Return *first* and *second*, which were both made of *base* (None: apart from each other), as one."""
    older, newer = sorted(
        (first, second), key=lambda placed: (placed.memory.updated, repr(placed.memory), placed.path)
    )
    was = base.memory if base else None
    values: dict[str, Any] = {}
    for name in _SINGLE:
        before = getattr(was, name) if was else None
        values[name] = _later(before, getattr(older.memory, name), getattr(newer.memory, name), was)
    for name in _LISTS:
        values[name] = _united(
            getattr(was, name) if was else (), getattr(older.memory, name), getattr(newer.memory, name)
        )
    for name in _LATEST:
        moments = [getattr(placed.memory, name) for placed in (older, newer)]
        values[name] = max((moment for moment in moments if moment), default=None)
    values["links"] = _linked(was.links if was else (), older.memory.links, newer.memory.links)
    standing = _standing(base, older, newer)
    values |= dict(zip(_STANDING, standing, strict=False))
    title, text, beside = _words(was, older.memory, newer.memory)
    memory = replace(newer.memory, title=title, text=text, **values)
    second_memory = _beside(memory, *beside) if beside else None
    return MergedMemory(memory, str(standing[-1]), second_memory, older, newer)


def says_other_words(was: Memory, now: Memory) -> bool:
    """Tell whether *now* says something that *was* did not, or was pinned since: then it is not deleted."""
    return (was.title, was.text, was.notes, was.evidence) != (
        now.title, now.text, now.notes, now.evidence
    ) or now.pinned > was.pinned  # fmt: skip


def _later(before: T, older: T, newer: T, base: object) -> T:
    """Return the value that one of the two changed, or the later one when both did."""
    return older if base is not None and newer == before else newer


def _united(before: Sequence[T], older: Sequence[T], newer: Sequence[T]) -> tuple[T, ...]:
    """Return what both have or one added, in the order of *newer*; what one took out is left out."""
    remaining = [item for item in newer if item in older or item not in before]
    return tuple(dict.fromkeys([*remaining, *(item for item in older if item not in before)]))


def _linked(before: Iterable[Link], older: Iterable[Link], newer: Iterable[Link]) -> tuple[Link, ...]:
    was, first, second = ({(link.rel, link.to): link for link in links} for links in (before, older, newer))
    notes = [{end: link.notes for end, link in links.items()} for links in (was, first, second)]
    ends = _united(list(was), list(first), list(second))
    return tuple(Link(*end, _united(*(notes_by_end.get(end, ()) for notes_by_end in notes))) for end in ends)


def _standing(base: Placed | None, older: Placed, newer: Placed) -> tuple[Any, ...]:
    """
    Return whether the memory is active, with all that belongs to it, and its path.

    A memory that one machine put away while the other gave it other words stays where those were written:
    nothing goes out of sight with words that are new.
    """
    for stays, goes in ((older, newer), (newer, older)):
        put_away = goes.memory.status in _AWAY and stays.memory.status not in _AWAY
        if base and put_away and says_other_words(base.memory, stays.memory):
            return _of(stays)
    return _later(_of(base) if base else (), _of(older), _of(newer), base)


def _of(placed: Placed) -> tuple[Any, ...]:
    return (*(getattr(placed.memory, name) for name in _STANDING), placed.path)


def _words(was: Memory | None, older: Memory, newer: Memory) -> tuple[str, str, tuple[str, str] | None]:
    """Return the title and the text of the memory, and those of the one beside it when one is needed."""
    title = _later(was.title if was else "", older.title, newer.title, was)
    both_titled = older.title != newer.title and (was is None or was.title not in (older.title, newer.title))
    text = join_texts(was.text if was else "", older.text, newer.text)
    if not (both_titled or text.clash):
        return title, text.second, None
    old, new = _plain(f"{older.title}\n{text.first}"), _plain(f"{newer.title}\n{text.second}")
    if not both_titled or _plain(older.title) in new:
        if _plain(text.first) in _plain(text.second):
            return title, text.second, None
        if _plain(text.second) in _plain(text.first) and not both_titled:
            return title, text.first, None
    return title, text.second, None if old == new else (older.title, text.first)


def _beside(memory: Memory, title: str, text: str) -> Memory:
    """Return the memory that stands beside *memory* with what the other machine said."""
    mark = text_digest(f"{title}\n{text}", size=3)
    return replace(
        memory,
        id=f"{memory.id[: LONGEST_ID - 1 - len(mark)].rstrip('-')}-{mark}",
        title=title,
        text=text,
        links=(Link(CONTRADICTS, memory.id),) if memory.kind is Kind.KNOWLEDGE else (),
        supersedes=(),
        merged_from=(),
        aliases=(),
        pinned=False,
    )


def _plain(text: str) -> str:
    """Return the words of *text* between spaces, so that no word is found within another."""
    return f" {' '.join(text.split())} "
