"""
A memory: one thing worth knowing later, kept as one markdown file.

What its parts may be is in `memory_parts`, which the start of a session loads without this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Protocol

from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.memory_types import DEFAULT_TYPE


@dataclass(frozen=True, slots=True)
class Link:
    """A directed, labelled relation to a memory id or to an artifact (`path[:line]`), with its notes."""

    rel: str
    to: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """
    The keys by which a person sorts memories, one row each, '' where the file has none.

    A row here is enough: memories, drafts and filters get the key, and it is read, written, indexed,
    searched by, compared, merged and shown.
    """

    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWords:
    """New values for the keys of `Words`; None leaves a key unchanged."""

    category: str | None = None


WORDS = tuple(key.name for key in fields(Words))


@dataclass(frozen=True, slots=True)
class Staleness:
    """The files, from the project's root, that changed since, and those missing; `gone` when all are."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    gone: bool = False

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing)


NOT_STALE = Staleness()


@dataclass(frozen=True, slots=True)
class Memory(Words):
    """
    One memory as its file has it; times are aware and in UTC.

    Each field but `text` is a key of the file's frontmatter; the field's type decides how the key is read,
    written and indexed. `text` is the body with `\\n` line ends and no blank lines around it.
    `use_when` are occasions on which the memory should come to mind, in the words of a prompt.
    Counters, scores and embeddings are not here: the ledger and the index hold them.
    """

    id: str
    title: str
    text: str
    created: datetime
    updated: datetime
    kind: Kind = Kind.KNOWLEDGE
    type: str = DEFAULT_TYPE
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    use_when: tuple[str, ...] = ()
    source: str = "manual"
    status: Status = Status.ACTIVE
    archived_reason: str = ""
    pinned: bool = False
    trust: float | None = None
    touches: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    merged_from: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    verified: datetime | None = None
    session: str = ""
    conversation: str = ""
    evidence: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft(Words):
    """What a caller wants to remember, before it has an id and a file."""

    title: str
    text: str
    type: str = ""
    tags: tuple[str, ...] = ()
    use_when: tuple[str, ...] = ()
    level: Level | None = None
    id: str = ""
    kind: Kind = Kind.KNOWLEDGE
    source: str = "manual"
    touches: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    supersedes: tuple[str, ...] = ()
    session: str = ""
    conversation: str = ""
    evidence: str = ""
    notes: tuple[str, ...] = ()


_OF_DRAFT = tuple({key.name for key in fields(Memory)} & {key.name for key in fields(Draft)} - {"id"})


def made_of(draft: Draft, memory_id: str, now: datetime) -> Memory:
    """Return the memory made of *draft*, with that id, created *now*."""
    return Memory(
        id=memory_id, created=now, updated=now, **{name: getattr(draft, name) for name in _OF_DRAFT}
    )


def as_draft(memory: Memory) -> Draft:
    """Return a draft that says what *memory* says; its id and its level are for the caller to choose."""
    return Draft(**{name: getattr(memory, name) for name in _OF_DRAFT})


class TextsBeside(Protocol):
    """What a memory, a draft and an entry of an import have beside title and text and the keys of `Words`."""

    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def use_when(self) -> tuple[str, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def touches(self) -> tuple[str, ...]: ...
    @property
    def links(self) -> tuple[Link, ...]: ...


def texts_beside(memory: TextsBeside) -> Iterator[str]:
    """Yield every text that somebody wrote beside title and text of *memory*: it may hold a secret."""
    yield from memory.tags
    yield from memory.use_when
    yield from (getattr(memory, name) for name in WORDS)
    yield from memory.notes
    yield from memory.touches
    for link in memory.links:
        yield from (link.rel, link.to, *link.notes)
