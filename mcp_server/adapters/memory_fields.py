"""
What the keys of a file's frontmatter say about a memory, and the lines that say it.

Reading is generous: a value that cannot be understood counts as absent, and what is absent is told
by the first heading, the file's name, its folder and its date.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import PurePath

from mcp_server.adapters.frontmatter_lines import Value, scalar
from mcp_server.core.links import RELATES_TO
from mcp_server.core.memory import (
    ARCHIVE_FOLDER,
    MAX_TAGS,
    MAX_TEXT,
    Kind,
    Link,
    Memory,
    Status,
    clean_tags,
    id_of_name,
    parse_timestamp,
    timestamp,
)
from mcp_server.core.memory_types import DEFAULT_TYPE, TYPES
from mcp_server.core.text.titles import clipped

KEYS = (
    "id", "title", "aliases", "kind", "type", "tags", "created", "updated", "source",
    "status", "archived_reason", "pinned", "trust", "touches", "links", "supersedes", "superseded_by",
    "merged_from", "valid_from", "valid_to", "verified", "category", "session", "conversation",
    "evidence", "notes",
)  # fmt: skip
"""The keys that we own, in the order of a new file."""

_ALWAYS_WRITTEN = frozenset({"id", "title", "tags", "created", "updated", "source"})
_DEFAULTS = {field.name: field.default for field in fields(Memory)}
_PUT_AWAY = (Status.ARCHIVED, Status.ORPHANED)
_BY_UPKEEP = ("aged", "dropped", "compacted")
_KINDS = frozenset(Kind)
_STATUSES = frozenset(Status)
_FOLDERS = frozenset({*(kind.folder for kind in Kind), ARCHIVE_FOLDER})

_HEADING_OR_FENCE = re.compile(
    r"""
    ^ [ ]{0,3} (?:
        (?P<mark> \#{1,6} (?=[ \t]) | `{3,} | ~{3,} ) (?P<rest> .* )
      | (?P<underlined> [^\s=] .* ) \n [ ]{0,3} =+ [ \t]* $
    )
    """,
    re.MULTILINE | re.VERBOSE,
)


def read_fields(
    head: dict[str, Value], text: str, *, path: str, kind: Kind, archived: bool, modified: datetime
) -> Memory:
    """
    Return the memory that the frontmatter *head* and *text* say; `id` is valid or absent.

    *kind* and *archived* are what the file's folder tells, *modified* is the file's date.
    """
    get = head.get
    memory_id, title = get("id"), get("title")
    kind_said, memory_type = _word(get("kind")), _word(get("type"))
    status = _status(head)
    # Earlier versions left in a file that was restored what upkeep had written into it.
    left = status is Status.ORPHANED or _text(get("archived_reason")) in _BY_UPKEEP
    if archived and status is Status.ACTIVE:
        status = Status.ARCHIVED
    elif not archived and status in _PUT_AWAY and left:
        status = Status.ACTIVE
    return Memory(
        id=memory_id if memory_id and isinstance(memory_id, str) else id_of_name(PurePath(path).stem),
        title=title if isinstance(title, str) and title.strip() else _title_of(text, path),
        text=text,
        created=_moment(get("created")) or modified,
        updated=_moment(get("updated")) or modified,
        kind=Kind(kind_said) if kind_said in _KINDS else kind,
        type=memory_type if memory_type in TYPES else DEFAULT_TYPE,
        tags=_tags(get("tags")),
        aliases=_texts(get("aliases")),
        source=_text(get("source"), "manual"),
        status=status,
        archived_reason=_text(get("archived_reason")),
        pinned=_word(get("pinned")) in ("true", "yes", "1"),
        trust=_share(get("trust")),
        touches=_texts(get("touches")),
        links=tuple(_links(get("links"))),
        supersedes=_texts(get("supersedes")),
        superseded_by=_text(get("superseded_by")),
        merged_from=_texts(get("merged_from")),
        valid_from=_moment(get("valid_from")),
        valid_to=_moment(get("valid_to")),
        verified=_moment(get("verified")),
        category=_text(get("category")),
        session=_text(get("session")),
        conversation=_text(get("conversation")),
        evidence=_text(get("evidence")),
        notes=_texts(get("notes")),
    )


def field_lines(memory: Memory, key: str) -> list[str]:
    """Return the lines that say *key* of *memory* in a file, none when they say no more than the default."""
    value = getattr(memory, key)
    if key == "kind":  # told by the folder, except in the archive
        written = memory.kind is not Kind.KNOWLEDGE and memory.status in _PUT_AWAY
    elif key == "type":
        written = memory.kind is Kind.KNOWLEDGE or memory.type != DEFAULT_TYPE
    else:
        written = key in _ALWAYS_WRITTEN or value != _DEFAULTS[key]
    if not written:
        return []
    match value:
        case datetime():
            return [f"{key}: {timestamp(value)}"]
        case str():
            return [f"{key}: {scalar(value)}"]
        case bool():
            return [f"{key}: {str(value).lower()}"]
        case float() | int():
            return [f"{key}: {float(value)!r}"]
    if key == "links":
        return ["links:", *(f"  - {{{_link_says(link)}}}" for link in memory.links)]
    if key == "notes":
        return ["notes:", *(f"  - {scalar(note)}" for note in memory.notes)]
    return [f"{key}: [{', '.join(scalar(item, flow=True) for item in value)}]"]


def changed_lines(head: dict[str, Value], memory: Memory, path: str) -> dict[str, list[str]]:
    """
    Return the new lines of the keys whose value in *head* is not that of *memory*; no lines remove a key.

    The date of the file at *path* is not known: a date that *head* lacks is taken for unchanged
    when *memory* allows it.
    """
    archived = [part for part in PurePath(path).parts[:-1] if part in _FOLDERS][-1:] == [ARCHIVE_FOLDER]
    modified = memory.created if _moment(head.get("updated")) else memory.updated
    before = read_fields(head, memory.text, path=path, kind=memory.kind, archived=archived, modified=modified)
    changed = {key for key in KEYS if _said(before, key) != _said(memory, key)}
    if _status(head) is memory.status:
        changed.discard("status")
    return {key: field_lines(memory, key) for key in KEYS if key in changed}


def unsaid_lines(head: dict[str, Value], memory: Memory) -> dict[str, list[str]]:
    """
    Return the lines of the keys that only the file's name, date or folder tell.

    A file that Daybook changes gets a new date, and in the archive another name and folder.
    """
    unsaid = {key for key in ("created", "updated") if _moment(head.get(key)) is None}
    if not head.get("id"):
        unsaid.add("id")
    if not _word(head.get("title")) and _title_of(memory.text, path="") != memory.title:
        unsaid.add("title")
    if _status(head) is not memory.status:
        unsaid.add("status")
    if field_lines(memory, "kind") and _word(head.get("kind")) != memory.kind:
        unsaid.add("kind")
    return {key: field_lines(memory, key) for key in KEYS if key in unsaid}


def _link_says(link: Link) -> str:
    said = f"rel: {scalar(link.rel, flow=True)}, to: {scalar(link.to, flow=True)}"
    notes = ", ".join(scalar(note, flow=True) for note in link.notes)
    return f"{said}, notes: [{notes}]" if notes else said


def _said(memory: Memory, key: str) -> object:
    value = getattr(memory, key)
    return timestamp(value) if isinstance(value, datetime) else value


def _status(head: dict[str, Value]) -> Status:
    """Return the status that the file itself says, whatever its folder."""
    said = _word(head.get("status"))
    return Status(said) if said in _STATUSES else Status.ACTIVE


def _word(value: Value) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _text(value: Value, default: str = "") -> str:
    return value if isinstance(value, str) else default


def _texts(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple([item for item in value if isinstance(item, str)])
    return (value,) if isinstance(value, str) else ()


def _tags(value: Value) -> tuple[str, ...]:
    """Return the first 20 tags of a list, of words between commas or of one word, cleaned."""
    words = value.split(",") if isinstance(value, str) else _texts(value)
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(clean_tags((word,))))
        if len(found) == MAX_TAGS:
            break
    return tuple(found)


def _moment(value: Value) -> datetime | None:
    try:
        return parse_timestamp(value) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def _share(value: Value) -> float | None:
    """Return a number between 0 and 1."""
    try:
        share = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return None if math.isnan(share) else min(1.0, max(0.0, share))


def _links(value: Value) -> Iterator[Link]:
    """Yield the links of a list of `{rel, to, notes}`, `rel: to`, or ids, which may stand in `[[ ]]`."""
    match value:
        case list():
            for item in value:
                yield from _links(item)
        case dict() if "to" in value:
            if to := _text(value["to"]):
                yield Link(_text(value.get("rel")) or RELATES_TO, to, _texts(value.get("notes")))
        case dict() if "rel" not in value:
            yield from (Link(rel, to) for rel, to in value.items() if rel and to and isinstance(to, str))
        case str():
            rel, colon, to = value.partition(": ")
            if not colon:
                rel, to = RELATES_TO, value
            if to := to.strip().removeprefix("[[").removesuffix("]]").strip():
                yield Link(rel.strip() or RELATES_TO, to)


def _title_of(text: str, path: str) -> str:
    """Return the first heading of *text* outside fences, else the file's name without its ending."""
    return clipped(_first_heading(text)) or clipped(PurePath(path).stem) or "Untitled"


def _first_heading(text: str) -> str:
    fence = ""
    for found in _HEADING_OR_FENCE.finditer(text[:MAX_TEXT]):
        if found["underlined"]:
            if not fence:
                return found["underlined"].strip()
            continue
        mark, rest = found["mark"], found["rest"].strip()
        if fence:
            if mark.startswith(fence) and not rest:
                fence = ""
        elif mark[0] != "#":
            if mark[0] == "~" or "`" not in rest:
                fence = mark
        else:
            words = rest.rstrip("#")
            heading = words.rstrip() if words[-1:] in ("", " ", "\t") else rest
            if heading:
                return heading
    return ""
