"""A memory in a row of a team's database: JSON, in the form that a team's server and its clients exchange."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import clean_text
from mcp_server.core.storage.port import Stored
from mcp_server.core.team import wire
from mcp_server.core.team.json_values import value_of

LARGEST = 512 * 1024  # characters of all keys together


def json_of(memory: Memory) -> str:
    """
    Return *memory* as JSON; raise Rejected for what the database cannot keep, or could not be read again.

    That is an empty text, a NUL character and an unpaired surrogate.
    """
    clean_text(memory.text)
    value = value_of(memory)
    memory_of(value)
    written = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in written and any("\0" in text for text in _texts(value)):
        raise Rejected("The memory has a NUL character, which no text can have.", "Take it out.")
    if len(written) > LARGEST:
        raise Rejected(f"The memory has {len(written):,} characters in all; {LARGEST:,} is the limit.")
    return written


def memory_of(value: Mapping[str, Any]) -> Memory:
    """Return the memory that the JSON of `json_of` describes; keys of later versions are left out."""
    return wire.memory_of(value, strict=False)


COLUMNS = "said, digest, author, CASE WHEN confirmed_digest = digest THEN confirmed_by ELSE '' END"
"""What `stored_of` reads of a row of `daybook.memories`."""


def stored_of(row: Sequence[Any]) -> Stored:
    """Return the version of a memory that a row of `COLUMNS` has."""
    value, digest, author, confirmed_by = row
    return Stored(memory_of(value), digest, author, confirmed_by)


def _texts(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
    return []
