"""
What another memory's store says, as it is before it becomes a memory of ours.

Everything in a source is untrusted: wrong types count as absent, and lines are made one line.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mcp_server.core.errors import Rejected
from mcp_server.core.links import RELATES_TO, as_label, check_label
from mcp_server.core.memory import (
    MAX_TAGS,
    Kind,
    Level,
    Link,
    Memory,
    Status,
    clean_tags,
    parse_timestamp,
)
from mcp_server.core.memory_types import DEFAULT_TYPE, ROWS, TYPES
from mcp_server.core.render import on_one_line

MAX_LINE = 1000  # characters of a note, a touched file or the end of a link
MAX_LIST = 100  # notes, touched files, links of one record
_MILLISECONDS = 1e11  # numbers above that are no seconds: 100 billion of them end in the year 5138

OTHER_TYPES = {word: row.name for row in ROWS for word in row.others}
"""What the types and categories of others are among ours."""


@dataclass(frozen=True, slots=True)
class Record:
    """
    One thing that a source says.

    `key` names it there and stays when it changes; links, `supersedes` and the like name keys of other
    records, or what is no record: files, titles. `id` is what its memory would like to be called.
    `project` is the project that it belongs to where the source knows several.
    `accesses` counts how often it was looked at there, the last time at `last_access`, `retrieved` and `used`
    how often it was an answer and of use, and `moves` are (why, Unix second) of what moved the trust in it,
    the latest last. `path` is its file
    where that lies in a vault of ours and only has to say in our way what it says.
    `lossless`: it was a memory of ours, so its id is its identity, and `data` its file where there was one.
    """

    key: str
    title: str
    text: str
    kind: Kind = Kind.KNOWLEDGE
    type: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    status: Status = Status.ACTIVE
    archived_reason: str = ""
    pinned: bool = False
    trust: float | None = None
    touches: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    merged_from: tuple[str, ...] = ()
    category: str = ""
    session: str = ""
    notes: tuple[str, ...] = ()
    id: str = ""
    level: Level | None = None
    project: str = ""
    vault: str = ""
    accesses: int = 0
    last_access: datetime | None = None
    retrieved: int = 0
    used: int = 0
    moves: tuple[tuple[str, int], ...] = ()
    path: str = ""
    lossless: Memory | None = None
    data: bytes = b""


@dataclass(slots=True)
class Reading:
    """
    What a source holds: its records, those that cannot be taken (key → reason), and remarks on the rest.

    `place` is where it was read, an absolute path: with a record's key it is the origin of a memory.
    `here` are records (key → why) that are memories of ours already. `portable`: the keys alone are the
    origin, wherever the source lies.
    """

    place: str
    portable: bool = False
    records: list[Record] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    here: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def text_of(value: object) -> str:
    """Return *value* when it is a text, else ''."""
    return value if isinstance(value, str) else ""


def line_of(value: object, limit: int = MAX_LINE) -> str:
    """Return a text or a number on one line without control characters, at most *limit* of them."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return on_one_line(str(value)[: 4 * limit])[:limit]


def lines_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list, each on one line; a text alone counts as a list of one."""
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(filter(None, map(line_of, listed[:MAX_LIST]))))


def tags_of(value: object) -> tuple[str, ...]:
    """Return the first 20 tags of a list, or of words between commas, cleaned."""
    listed = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    found: dict[str, None] = {}
    for word in listed:
        if len(found) < MAX_TAGS:
            found.update(dict.fromkeys(clean_tags((line_of(word, 60),))))
    return tuple(found)


def type_of(*names: object) -> str:
    """Return the first of *names* that is a type of ours, or of others and known to mean one of ours."""
    for name in names:
        word = line_of(name, 40).lower()
        if word in TYPES:
            return word
        if word in OTHER_TYPES:
            return OTHER_TYPES[word]
    return DEFAULT_TYPE


def moment_of(value: object) -> datetime | None:
    """Return an ISO date or time, or seconds or milliseconds since 1970, in UTC; None for anything else."""
    try:
        if isinstance(value, str):
            return parse_timestamp(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def count_of(value: object) -> int:
    """Return a whole number from 0 to a million; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000 else 0


def share_of(value: object) -> float | None:
    """Return a number between 0 and 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def label_of(value: object) -> str:
    """Return the label of a link; what can be none says relates-to."""
    try:
        return check_label(as_label(line_of(value)))
    except Rejected:
        return RELATES_TO


def listed(heading: str, lines: Sequence[str]) -> str:
    """Return *lines* as a markdown list below a heading, '' when there are none."""
    return f"## {heading}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def notes_of(values: Mapping[str, object]) -> tuple[str, ...]:
    """Return `key: value` for each entry of *values*; what is no plain value is written as JSON."""
    notes = []
    for key, value in list(values.items())[:MAX_LIST]:
        said = line_of(value) or line_of(json.dumps(value, ensure_ascii=False, default=str))
        notes.append(line_of(f"{line_of(key, 80)}: {said}"))
    return tuple(notes)


def content_digest(memory: Memory) -> str:
    """
    Return a digest of what *memory* says, by which a change shows on either side of an import.

    Its id, its dates and its source do not count, nor what is only said about it: pin, trust, verification.
    """
    said = [
        memory.title, memory.text, memory.kind, memory.type, sorted(memory.tags), memory.status,
        memory.touches, sorted((link.rel, link.to, *link.notes) for link in memory.links),
        sorted(memory.supersedes),
        memory.superseded_by, sorted(memory.merged_from), memory.category, memory.session, memory.notes,
        *([sorted(memory.aliases)] if memory.aliases else []),
    ]  # fmt: skip
    data = json.dumps(said, ensure_ascii=True).encode("ascii")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def admit(records: Sequence[Record], reading: Reading) -> None:
    """Add *records* to *reading*; a key that was there already is refused."""
    seen = {record.key for record in reading.records}
    for record in records:
        if record.key in seen:
            reading.refused.append((record.key, "is there twice; the first was taken"))
            continue
        seen.add(record.key)
        reading.records.append(record)


def must_hold(held: object, sentence: str) -> None:
    """Raise Rejected with *sentence* when *held* is not true: the source is something else."""
    if not held:
        raise Rejected(sentence, "Nothing was taken. Run 'daybook import --help' for what can be.")
