"""A memory as a team's database keeps it: a JSON object of every key that is not its default."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from enum import Enum
from typing import Any

from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Kind, Link, Memory, Status, check_id, clean_text, parse_timestamp
from mcp_server.core.storage.port import Stored

LARGEST = 512 * 1024  # characters of all keys together
_KEYS = frozenset(field.name for field in fields(Memory))
_DEFAULTS = {field.name: field.default for field in fields(Memory) if field.default is not MISSING}
_TIMES = frozenset({"created", "updated", "valid_from", "valid_to", "verified"})
_READ: Mapping[str, Callable[[Any], object]] = {
    "kind": Kind,
    "status": Status,
    "links": lambda links: tuple(Link(each["rel"], each["to"], tuple(each["notes"])) for each in links),
    **dict.fromkeys(_TIMES, parse_timestamp),
}


def said_of(memory: Memory) -> str:
    """
    Return *memory* as JSON; raise Rejected where the database cannot keep it.

    It keeps no empty text, no NUL character and no half of a pair of surrogates.
    """
    check_id(memory.id)
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected("A team keeps knowledge, no conversations and no sessions.", "Send knowledge.")
    clean_text(memory.text)
    kept = {
        field.name: value
        for field in fields(memory)
        if (value := getattr(memory, field.name)) != _DEFAULTS.get(field.name, MISSING)
    }
    said = json.dumps(kept, ensure_ascii=False, default=_plain)
    if "\\u0000" in said and any("\0" in each for each in _strings(kept)):
        raise Rejected("The memory has a NUL character, which no text can have.", "Take it out.")
    try:
        said.encode()
    except UnicodeEncodeError:
        raise Rejected("The memory has half of a character, a lone surrogate.", "Take it out.") from None
    if len(said) > LARGEST:
        raise Rejected(f"The memory has {len(said):,} characters in all; {LARGEST:,} is the most.")
    return said


def memory_of(said: Mapping[str, Any]) -> Memory:
    """Return the memory that a JSON object of `said_of` describes; keys of later versions are left out."""
    return Memory(**{key: _value(key, value) for key, value in said.items() if key in _KEYS})


COLUMNS = "said, digest, author, CASE WHEN confirmed_digest = digest THEN confirmed_by ELSE '' END"
"""What `stored_of` reads of a row of `daybook.memories`."""


def stored_of(row: Sequence[Any]) -> Stored:
    """Return the version of a memory that a row of `COLUMNS` has."""
    said, digest, author, confirmed_by = row
    return Stored(memory_of(said), digest, author, confirmed_by)


def _value(key: str, value: Any) -> Any:
    read = _READ.get(key)
    if read and value is not None:
        return read(value)
    return tuple(value) if isinstance(value, list) else value


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case Enum():
            return value.value
        case Link():
            return {"rel": value.rel, "to": value.to, "notes": value.notes}
    raise TypeError(f"{type(value).__name__} is no part of a memory")


def _strings(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case Link():
            return [value.rel, value.to, *value.notes]
        case dict():
            return [text for each in value.values() for text in _strings(each)]
        case tuple() | list():
            return [text for each in value for text in _strings(each)]
    return []
