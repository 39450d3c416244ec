"""
What the store of another memory tool says, before it becomes memories of Daybook.

Everything in a source is untrusted: values of wrong types count as absent, and line breaks are removed where
one line is expected.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import PHRASES, TAGS, WORDS, Beside, Memory
from mcp_server.core.memory_parts import Kind, Level, Status, moment_in
from mcp_server.core.memory_types import DEFAULT_TYPE, ROWS, TYPES
from mcp_server.core.render import on_one_line

MAX_LINE = 1000  # characters of a note, a touched file or the end of a link
MAX_LIST = 100  # tags, notes, touched files, links of one record
IMPORTED = "imported"  # the source of a memory unless its record says otherwise
_MILLISECONDS = 1e11  # larger numbers are not seconds: 100 billion seconds reach the year 5138

OTHER_TYPES = {word: row.name for row in ROWS for word in row.others}
"""The types and categories of other tools → Daybook's types."""


@dataclass(frozen=True, slots=True)
class Record(Beside):
    """
    One entry of a source.

    `key` is its name there, which stays when the entry changes. Links, `supersedes` and the like have keys of
    other records, or files and titles. `id` is the id that its memory gets if possible.
    `project` is the project that it belongs to, if the source has several.
    `accesses` counts how often it was read there, the last time at `last_access`; `retrieved` and `used` how
    often it was in an answer and was used. `moves` are (reason, Unix second) of changes of the trust in it,
    the latest last. `path` is its file when that is in a vault of Daybook and only needs Daybook's format.
    `source` is the source of its memory, and `remark` a note for the person when it is imported.
    `lossless`: it was a memory of Daybook, so its id is its identity. `data` is its file if it has one, which
    was at `place` in its vault.
    """

    key: str
    title: str
    text: str
    kind: Kind = Kind.KNOWLEDGE
    type: str = ""
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    status: Status = Status.ACTIVE
    pinned: bool = False
    trust: float | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    merged_from: tuple[str, ...] = ()
    session: str = ""
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
    source: str = IMPORTED
    remark: str = ""
    lossless: Memory | None = None
    data: bytes = b""
    place: str = ""


@dataclass(slots=True)
class Reading:
    """
    The content of a source: its records, those that cannot be imported (key, reason), and remarks.

    `place` is the absolute path where it was read: with a record's key it is the origin of a memory.
    `existing` are records (key, reason) that are memories of Daybook already. `portable`: the keys alone are
    the origin, wherever the source is.
    `revises` are the fields of a memory that a change in the source revises, () for all. If they are named,
    the source has words only: these show whether either side changed, and other fields of a memory are not
    touched. An `id` of such a record is its identity.
    `whole`: nothing in the source was passed over, so that a record of before which is missing is gone there.
    """

    place: str
    portable: bool = False
    revises: tuple[str, ...] = ()
    whole: bool = False
    records: list[Record] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    existing: list[tuple[str, str]] = field(default_factory=list)
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


def parts_of(value: object) -> list[object]:
    """Return what is in a list, or between the commas of a text."""
    return [*value.split(",")] if isinstance(value, str) else value if isinstance(value, list) else []


def tags_of(value: object) -> tuple[str, ...]:
    """Return the tags of a list, or of words between commas, cleaned."""
    return TAGS.once(line_of(word, 60) for word in parts_of(value))[:MAX_LIST]


def type_of(*names: object) -> str:
    """Return the first of *names* that is a type of Daybook or known to mean one, as that type."""
    for name in names:
        word = line_of(name, 40).lower()
        if word in TYPES:
            return word
        if word in OTHER_TYPES:
            return OTHER_TYPES[word]
    return DEFAULT_TYPE


def moment_of(value: object) -> datetime | None:
    """Return an ISO date or time, or seconds or milliseconds since 1970, in UTC; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return moment_in(value)
    try:
        return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def count_of(value: object) -> int:
    """Return a whole number from 0 to a million; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000 else 0


def share_of(value: object) -> float | None:
    """Return a number between 0 and 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def listed(heading: str, lines: Sequence[str]) -> str:
    """Return *lines* as a markdown list below a heading, '' when there are none."""
    return f"## {heading}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def notes_of(values: Mapping[str, object]) -> tuple[str, ...]:
    """Return `key: value` for each entry of *values*; what is no plain value is written as JSON."""
    notes = []
    for key, value in list(values.items())[:MAX_LIST]:
        line = line_of(value) or line_of(json.dumps(value, ensure_ascii=False, default=str))
        notes.append(line_of(f"{line_of(key, 80)}: {line}"))
    return tuple(notes)


def content_digest(memory: Memory) -> str:
    """
    Return a digest of the content of *memory*, which shows a change on either side of an import.

    Its id, dates and source do not count, nor do pin, trust and verification.
    """
    values = [
        memory.title, memory.text, memory.kind, memory.type, sorted(memory.tags), memory.status,
        memory.touches, sorted((link.rel, link.to, *link.notes) for link in memory.links),
        sorted(memory.supersedes),
        memory.superseded_by, sorted(memory.merged_from), memory.category, memory.session, memory.notes,
        *([sorted(memory.aliases)] if memory.aliases else []),
        *([key.name, *texts] for key in PHRASES if (texts := getattr(memory, key.name))),
        *([name, value] for name in WORDS if name != "category" and (value := getattr(memory, name))),
    ]  # fmt: skip
    return text_digest(json.dumps(values, ensure_ascii=True))


def admit(records: Sequence[Record], reading: Reading) -> None:
    """Add *records* to *reading*; a record with a key that is there already is refused."""
    keys = {record.key for record in reading.records}
    for record in records:
        if record.key in keys:
            reading.refused.append((record.key, "is there twice; the first was used"))
            continue
        keys.add(record.key)
        reading.records.append(record)


def must_hold(condition: object, sentence: str) -> None:
    """Raise Rejected with *sentence* when *condition* is false: the source is not of the expected form."""
    if not condition:
        raise Rejected(sentence, "Nothing was imported. 'daybook import --help' lists what can be.")
