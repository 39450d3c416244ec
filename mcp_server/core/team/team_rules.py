"""team_rules: which memories a team's server accepts, and how it cleans them."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from mcp_server.core.errors import Rejected
from mcp_server.core.memory import LISTS, Link, Memory
from mcp_server.core.memory_parts import (
    MAX_LINKS,
    MAX_TOUCHES,
    Kind,
    check_id,
    check_type,
    clean_text,
    without_controls,
)
from mcp_server.core.secrets.redaction import refuse_secrets
from mcp_server.core.text.titles import clean_title

TIDY = {
    "text": clean_text,
    "title": clean_title,
    "type": check_type,
    "id": check_id,
    **{key.name: key.cleaned for key in LISTS},
}


def fit(memory: Memory) -> Memory:
    """
    Return *memory* cleaned like the person's own memories, and without control characters in any key.

    Raises Rejected for what is not knowledge, has too much of something or seems to hold a secret.
    """
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected("A team keeps knowledge only, no conversations and no sessions.")
    for name, many, most in (
        ("links", memory.links, MAX_LINKS),
        ("files touched", memory.touches, MAX_TOUCHES),
    ):
        if len(many) > most:
            raise Rejected(
                f"{len(many)} {name} were given; {most} is the limit.", "Keep the most useful ones."
            )
    tidied: dict[str, Any] = {
        key.name: _plain(getattr(memory, key.name)) for key in fields(memory) if key.name not in TIDY
    }
    tidied |= {name: tidy(getattr(memory, name)) for name, tidy in TIDY.items()}  # type: ignore[operator]
    fitting = replace(memory, **tidied)
    refuse_secrets(*_texts(fitting))
    return fitting


def _plain(value: object) -> object:
    """Return *value* with its texts without control characters and unpaired surrogates."""
    match value:
        case str() if type(value) is str:
            return without_controls(value)
        case Link():
            return Link(*(_plain(part) for part in (value.rel, value.to, value.notes)))  # type: ignore[arg-type]
        case tuple():
            return tuple(map(_plain, value))
    return value


def _texts(value: object) -> Iterator[str]:
    """Yield every text that a memory holds."""
    match value:
        case str():
            yield value
        case tuple():
            for item in value:
                yield from _texts(item)
        case Memory() | Link():
            for key in fields(value):
                yield from _texts(getattr(value, key.name))
