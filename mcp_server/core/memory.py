"""
A memory: one thing worth knowing later, kept as one markdown file.

What its parts may be is in `memory_parts`, which the start of a session loads without this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime

from mcp_server.core.list_key import ListKey, as_phrase, as_tag
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside(Words):
    """What may be given with a memory beside its title, text and type: the keys of `LISTS`, and others."""

    tags: tuple[str, ...] = ()
    use_when: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBeside(NewWords):
    """New values for the keys of `Beside`; None leaves a key unchanged."""

    tags: tuple[str, ...] | None = None
    use_when: tuple[str, ...] | None = None
    touches: tuple[str, ...] | None = None
    links: tuple[Link, ...] | None = None
    notes: tuple[str, ...] | None = None


BESIDE = tuple(key.name for key in fields(Beside))

TAGS = ListKey(
    "tags",
    as_tag,
    20,
    "tags",
    fewer="Keep the most useful ones.",
    help="Tags, with commas between them.",
    new_help="The new tags, with commas between them.",
    field="Tags, with commas between them",
    proposed=5,
)
USE_WHEN = ListKey(
    "use_when",
    as_phrase,
    8,  # of more, any prompt is near one
    "occasions",
    fewer="Keep the most likely ones.",
    help="Occasions to be reminded of it, with commas, or semicolons: 'add a table, deploy to prod'.",
    new_help="The new occasions to be reminded of it, with commas, or semicolons; '' for none.",
    field="Use when, one occasion on each line, as somebody would ask: add a table",
    proposed=8,
    asked="asks it helps with: add a table",
    phrases=True,
    longest=120,  # all together fit what the embedding model reads at once
    too_long=(
        "An occasion in use_when",
        "Say in a few words what somebody would ask for, such as 'add a table'.",
    ),
)
LISTS = (TAGS, USE_WHEN)
"""
The keys that hold a few short texts.

A row here is enough, with a field of `Beside`, `NewBeside` and `Memory`: the key is read, written, indexed,
searched by its words, cleaned, compared, joined, proposed, imported and shown. A tool names it itself.
"""
LIST_NAMES = tuple(key.name for key in LISTS)
PHRASES = tuple(key for key in LISTS if key.phrases)


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
class Draft(Beside):
    """What a caller wants to remember, before it has an id and a file."""

    title: str
    text: str
    type: str = ""
    level: Level | None = None
    id: str = ""
    kind: Kind = Kind.KNOWLEDGE
    source: str = "manual"
    supersedes: tuple[str, ...] = ()
    session: str = ""
    conversation: str = ""
    evidence: str = ""


IN_FILES_ALONE = ("aliases", "pinned", "valid_from", "valid_to", "verified")
"""The keys that a person may write into a file, and no draft has."""
_OF_DRAFT = tuple({key.name for key in fields(Memory)} & {key.name for key in fields(Draft)} - {"id"})


def made_of(draft: Draft, memory_id: str, now: datetime) -> Memory:
    """Return the memory made of *draft*, with that id, created *now*."""
    return Memory(
        id=memory_id, created=now, updated=now, **{name: getattr(draft, name) for name in _OF_DRAFT}
    )


def as_draft(memory: Memory) -> Draft:
    """Return a draft that says what *memory* says; its id and its level are for the caller to choose."""
    return Draft(**{name: getattr(memory, name) for name in _OF_DRAFT})


def texts_beside(memory: Memory | Beside) -> Iterator[str]:
    """Yield every text that somebody wrote beside title and text of *memory*: it may hold a secret."""
    for name in LIST_NAMES:
        yield from getattr(memory, name)
    yield from (*(getattr(memory, name) for name in WORDS), *memory.notes, *memory.touches)
    for link in memory.links:
        yield from (link.rel, link.to, *link.notes)
