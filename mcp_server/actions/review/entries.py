"""entries: one thing that waits for the person, the verdicts it may get, and what becomes of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mcp_server.actions.context.open_questions import Question
from mcp_server.actions.files.accepted import AcceptedBefore
from mcp_server.actions.files.load import MemoryFile
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory import LISTS, Memory, Staleness
from mcp_server.core.memory_parts import Level, as_one_text, type_or_kind
from mcp_server.core.provenance.origins import OriginReason
from mcp_server.store import Store

BETWEEN = "+"  # separates the ids of a question


class Verdict(StrEnum):
    """What the person decides about an entry: `later` leaves it waiting."""

    ACCEPT = "accept"
    REJECT = "reject"
    REPLACES = "replaces"
    KEEP_BOTH = "keep-both"
    MERGE = "merge"
    HOLDS = "holds"
    LATER = "later"


class Became(StrEnum):
    """What became of an entry. `changed`: its file is not what was shown; `gone`: it no longer waits."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REPLACED = "replaced"
    SHADOWED = "stands in"
    KEPT_BOTH = "kept both"
    MERGED = "merged"
    CONFIRMED = "confirmed"
    LATER = "later"
    CHANGED = "changed"
    GONE = "gone"


Outcome = Became | DaybookError  # what became of one of several entries, or why it was refused


@dataclass(frozen=True, slots=True)
class SaidIn:
    """The same words stand in all of these projects."""

    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """More memories than a run may put away have shown no sign of life for so many days."""

    days: int


Why = str | OriginReason | Question | Staleness | SaidIn | Idle


@dataclass(frozen=True, slots=True)
class Sightings:
    """How often a candidate was seen, and in how many sessions."""

    times: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One thing that waits for the person: what it says, why it waits, where its file lies.

    `why` is a value of which doors make the end of a sentence; a text is one already, as a candidate's file
    has it.

    `about` is what else the file says that Claude may be shown, a line each. `digest` is that of the file's
    bytes; `ref` is its name in the ledger. A question is about two memories: `against` is the one that would
    give way, `merged` is the title and the text that would replace both, if any, and `level` is where each of
    two of different levels holds.
    """

    kind: str
    id: str
    ref: str
    type: str
    title: str
    text: str
    about: tuple[str, ...]
    why: Why
    path: str
    updated: datetime
    digest: str
    answers: tuple[Verdict, ...]
    against: "Entry | None" = None
    merged: tuple[str, str] | None = None
    level: Level | None = None
    before: AcceptedBefore | None = None
    sightings: Sightings | None = None

    @property
    def shadows(self) -> bool:
        """Whether the first of two would only shadow the second in this project."""
        return self.level is Level.PROJECT

    @property
    def name(self) -> str:
        """The entry's id; for a question the ids of both memories."""
        return BETWEEN.join(self.ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories that the entry is about."""
        return (self.id, *(self.against.ids if self.against else ()))


def changed_after(path: object) -> Conflict:
    """Return the error that the file at *path* changed after the person was shown it."""
    return Conflict(f"{path} changed after it was shown; nothing was settled.")


@dataclass(frozen=True, slots=True)
class WaitingKind:
    """
    One kind of thing that waits.

    `listed` returns the number of entries and an iterator of them, the best first, each read on demand;
    `again` returns an entry as it is now, None when it no longer waits. `answers` is verdict → function.
    """

    listed: Callable[[Store], tuple[int, Iterator[Entry]]]
    again: Callable[[Store, Entry], Entry | None]
    answers: Mapping[Verdict, Callable[[Store, Entry], Became]]

    @property
    def words(self) -> tuple[Verdict, ...]:
        """The verdicts that an entry may get."""
        return (*self.answers, Verdict.LATER)


def entry_of(kind: str, row: Row, file: MemoryFile, why: Why, answers: tuple[Verdict, ...] = ()) -> Entry:
    """Return the entry for the memory that is in the index as *row* and in *file*."""
    memory = file.memory
    return Entry(
        kind=kind,
        id=row.id,
        ref=row.ref,
        type=type_or_kind(memory.kind, memory.type),
        title=memory.title,
        text=memory.text,
        about=about(memory),
        why=why,
        path=str(file.path),
        updated=memory.updated,
        digest=file.digest,
        answers=answers,
    )


def about(memory: Memory) -> tuple[str, ...]:
    """Return what the file of *memory* says besides its title and text, a line each."""
    parts = (
        ("replaces", ", ".join(memory.supersedes)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in memory.links)),
        ("touches", as_one_text(memory.touches)),
        *((key.label, key.as_text(getattr(memory, key.name))) for key in LISTS),
        ("aliases", ", ".join(memory.aliases)),
        ("notes", ", ".join(memory.notes)),
    )
    return tuple(f"{name}: {text}" for name, text in parts if text)
