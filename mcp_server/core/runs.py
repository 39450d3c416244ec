"""
A run: changes that stand in the ledger before they are made, so that they can be completed or undone.

A change holds fields of one memory with their values before and after, and the place of its file.
It never holds the text: only the file does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from mcp_server.core.memory import LIST_NAMES, WORDS, Link, Memory
from mcp_server.core.memory_parts import Status, fingerprint, id_in, parse_timestamp, timestamp, vault_in

PLACE = "place"  # key of `was` and `now`: the file's path in its vault
UNDONE = "undone"
"""The verb with which the ledger and the history record that a change was undone."""
FIELDS = (
    "status", "archived_reason", "superseded_by", "valid_to", *LIST_NAMES, *WORDS, "touches", "links",
    "merged_from",
)  # fmt: skip
"""What of a memory a run may change."""

Values = dict[str, Any]
"""Fields of a memory as JSON: times and statuses as texts, links as lists of rel, to and notes."""


@dataclass(frozen=True, slots=True)
class Change:
    """
    One memory before and after; `was` is empty for a memory that the change creates.

    `ref` is its `vault/id`, `words_hash` the fingerprint of its title and text.
    """

    ref: str
    words_hash: str
    was: Values
    now: Values

    @property
    def vault(self) -> str:
        return vault_in(self.ref)

    @property
    def id(self) -> str:
        return id_in(self.ref)

    def reversed(self) -> "Change":
        return Change(self.ref, self.words_hash, self.now, self.was)

    def as_json(self) -> dict[str, object]:
        return {"ref": self.ref, "said": self.words_hash, "was": self.was, "now": self.now}


class Why(StrEnum):
    """Why a run changes memories."""

    MERGED = "merged"
    DROPPED = "dropped"
    AGED = "aged"
    AGED_ROOM_SHORT = "aged, room short"
    COMPACTED = "compacted"
    ORPHANED = "orphaned"
    LINKED_AGAIN = "linked again"
    OVERDUE = "overdue"
    OVERDUE_ROOM_SHORT = "overdue, room short"
    EXPIRED = "expired"
    SESSION_FORGOTTEN = "session forgotten"
    OCCASIONS = "occasions"


@dataclass(frozen=True, slots=True)
class Reason:
    """
    Why a run changes memories, as values of which doors make a sentence.

    `why` is a Why; where an earlier version wrote the event, it is its whole sentence. `ids` are the memories
    that the reason names, `number` are its days or tokens, `word` is the run, or the type, the status or the
    reason that the memory had, `replaced` are the ids of what it had superseded.
    """

    why: str
    ids: tuple[str, ...] = ()
    number: int = 0
    word: str = ""
    replaced: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class RunEntry:
    """
    What tidying does at once: the step, the reason that the ledger keeps, and the changes.

    `title`, for people to read, is the title of the resulting memory. `new` is the memory that the
    first change creates. `heir` takes over the accesses of the `ancestors`.
    """

    step: str
    reason: Reason
    changes: tuple[Change, ...]
    title: str = ""
    new: Memory | None = None
    heir: str = ""
    ancestors: tuple[str, ...] = ()

    @property
    def refs(self) -> frozenset[str]:
        return frozenset(change.ref for change in self.changes)


class NotMade(NamedTuple):
    """An entry that was not carried out, or a change of it (`ref`), and why."""

    entry: RunEntry
    why: str
    ref: str = ""


def change(ref: str, memory: Memory, place: str, *, to: str = "", **fields: object) -> Change:
    """
    Return the change that sets *fields* of *memory*, and moves its file from *place* to *to*, if given.

    Raises ValueError for a field that no run may change: `undo` could not take it back.
    """
    if unknown := fields.keys() - set(FIELDS):
        raise ValueError(f"no run changes {', '.join(sorted(unknown))}")
    after = replace(memory, **fields)  # type: ignore[arg-type]
    was, now = values(memory, fields), values(after, fields)
    words_hash = fingerprint(memory.title, memory.text)
    return Change(ref, words_hash, {PLACE: place, **was}, {PLACE: to or place, **now})


def creation(ref: str, memory: Memory, place: str) -> Change:
    """Return the change that creates *memory* at *place*."""
    return Change(ref, fingerprint(memory.title, memory.text), {}, {PLACE: place})


def change_of(value: object) -> Change | None:
    """Return the change that the parsed JSON *value* holds, None when it holds none."""
    match value:
        case {"ref": str(ref), "said": str(fingerprint), "was": dict(was), "now": dict(now)}:
            return Change(ref, fingerprint, was, now)
    return None


def entry_of(data: Mapping[str, Any]) -> RunEntry:
    """Return the entry that an event of the ledger holds, without the memory that it made."""
    changes = data.get("changes")
    known = map(change_of, changes) if isinstance(changes, list) else ()
    return RunEntry(str(data.get("step", "")), _reason_of(data.get("reason")), tuple(filter(None, known)))


def _reason_of(value: object) -> Reason:
    if not isinstance(value, dict):
        return Reason(str(value or ""))  # the sentence of an earlier version
    number = value.get("number")
    return Reason(
        str(value.get("why", "")),
        _texts(value.get("ids")),
        number if isinstance(number, int) else 0,
        str(value.get("word", "")),
        _texts(value.get("replaced")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def values(memory: Memory, names: Iterable[str]) -> Values:
    """Return the fields *names* of *memory* as JSON values."""
    return {name: _plain(getattr(memory, name)) for name in names if name in FIELDS}


def with_values(memory: Memory, values: Mapping[str, Any]) -> Memory:
    """Return *memory* with the fields of *values*; raise ValueError when one does not parse."""
    parsed = {name: _field(name, value) for name, value in values.items() if name in FIELDS}
    return replace(memory, **parsed)


def stands_between(memory: Memory, change: Change) -> bool:
    """Tell whether *memory* has the title and text of *change*, and each field as before or after it."""
    if fingerprint(memory.title, memory.text) != change.words_hash:
        return False
    names = [name for name in change.now if name in FIELDS]
    return all(
        value in (change.was.get(name), change.now[name]) for name, value in values(memory, names).items()
    )


def _plain(value: object) -> object:
    match value:
        case datetime():
            return timestamp(value)
        case Status():
            return value.value
        case tuple():
            return [_plain_link(item) if isinstance(item, Link) else item for item in value]
    return value


def _plain_link(link: Link) -> list[object]:
    return [link.rel, link.to, *([list(link.notes)] if link.notes else [])]


def _field(name: str, value: Any) -> Any:
    match name:
        case "status":
            return Status(value)
        case "valid_to":
            return parse_timestamp(value) if value else None
        case "links":
            return tuple(Link(rel, to, tuple(notes[0]) if notes else ()) for rel, to, *notes in value)
    return tuple(value) if isinstance(value, list) else value
