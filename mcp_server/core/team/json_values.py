"""
Our values as plain JSON values, there and back: for a team's server, its clients and its database.

An object has a key for each field of the value, except fields with their default. Reading checks each type
and the length of texts and lists. It names the first fault in one sentence, which quotes no value.
"""

import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import MAX_TEXT, moment_in
from mcp_server.core.render import one_line

T = TypeVar("T")

MOST_CHARACTERS = {"text": MAX_TEXT, "passage": MAX_TEXT}
MOST_OTHER = 16 * 1024  # characters of any other text: as many as the head of a memory's file may have
MOST_ITEMS = 1_000  # of a list
MOST_OF_MOMENT = 40  # characters


def value_of(value: object) -> Any:
    """Return one of our values, or a tuple of them, as a plain JSON value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [value_of(item) for item in value]
    if is_dataclass(value):
        field_values = ((key, getattr(value, key.name)) for key in fields(value))
        return {
            key.name: value_of(item)
            for key, item in field_values
            if item != key.default or key.name in _ALWAYS
        }
    return value


_ALWAYS = ("type", "source")  # always written, because a server takes another value when the key is missing


def read(wanted: type[T], value: object, name: str, *, strict: bool) -> T:
    """
    Return *value* as a *wanted*, a dataclass; *name* is its name in the sentence of an error.

    Raises Rejected. An unknown key is an error with *strict*, and ignored without.
    """
    pairs = object_of(value, name)
    readers, required = _shape(wanted)  # type: ignore[arg-type]  # a class is hashable
    values = {}
    for key, item in pairs.items():
        if reader := readers.get(key):
            values[key] = reader(item, key, strict)
        elif strict:
            names = ", ".join(readers)
            raise Rejected(f"'{name}' has no key '{one_line(str(key), 60)}'.", f"It has: {names}.")
    for key in required:
        if key not in values:
            raise Rejected(f"'{name}' lacks the key '{key}'.")
    return wanted(**values)


def object_of(value: object, name: str) -> Mapping[str, object]:
    """Return *value* if it is a JSON object; raise Rejected otherwise."""
    if not isinstance(value, dict):
        raise _wrong(name, "an object")
    return value


def text_of(value: object, name: str) -> str:
    """Return *value* if it is a text that is not too long; raise Rejected otherwise."""
    if not isinstance(value, str):
        raise _wrong(name, "a text")
    most = MOST_CHARACTERS.get(name, MOST_OTHER)
    if len(value) > most:
        raise Rejected(f"'{name}' has {len(value):,} characters; {most:,} is the limit.")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise Rejected(f"'{name}' holds half a character, which is not text.")
    return value


Reader = Callable[[object, str, bool], Any]
"""Takes a value, the name of its key, and whether unknown keys are an error."""


class _Shape(NamedTuple):
    """The reader of each key of a dataclass, and the keys that it needs."""

    readers: Mapping[str, Reader]
    required: tuple[str, ...]


@functools.cache
def _shape(wanted: type) -> _Shape:
    hints = get_type_hints(wanted)
    keys = fields(wanted)
    required = (key.name for key in keys if key.default is MISSING and key.default_factory is MISSING)
    return _Shape({key.name: _reader(hints[key.name]) for key in keys}, tuple(required))


def _reader(hint: Any) -> Reader:
    """Return the reader for values of the type *hint*."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (other,) = (_reader(part) for part in get_args(hint) if part is not type(None))
        return lambda value, name, strict: None if value is None else other(value, name, strict)
    if origin is tuple:
        return _tuple_reader(get_args(hint))
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value, name, strict: read(hint, value, name, strict=strict)
    if hint is str:
        return lambda value, name, _: text_of(value, name)
    if hint is datetime:
        return lambda value, name, _: _moment(value, name)
    if hint in _PLAIN:
        return functools.partial(_plain, hint)
    members = {part.value: part for part in hint}
    return lambda value, name, _: _one_of(members, value, name)


def _tuple_reader(hints: tuple[Any, ...]) -> Reader:
    many = hints[-1] is Ellipsis
    readers = [_reader(item) for item in hints if item is not Ellipsis]

    def read_tuple(value: object, name: str, strict: bool) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(name, "a list")
        if len(value) > MOST_ITEMS:
            raise Rejected(f"'{name}' has {len(value):,} items; {MOST_ITEMS:,} is the limit.")
        if not many and len(value) != len(readers):
            raise _wrong(name, f"a list of {len(readers)}")
        of_each = readers * len(value) if many else readers
        return tuple(reader(item, name, strict) for reader, item in zip(of_each, value, strict=True))

    return read_tuple


def _moment(value: object, name: str) -> datetime:
    if isinstance(value, str) and len(value) <= MOST_OF_MOMENT and (moment := moment_in(value)):
        return moment
    raise _wrong(name, "a time such as 2026-11-20T09:12:03Z")


def _plain(hint: type, value: object, name: str, _: bool) -> Any:
    fits, what = _PLAIN[hint]
    if not fits(value):
        raise _wrong(name, what)
    return float(value) if hint is float else value  # type: ignore[arg-type]


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return type(value) is int and abs(value) < 1 << 53


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) < 1e18  # type: ignore[arg-type]  # so is no NaN


_PLAIN: Mapping[type, tuple[Callable[[object], bool], str]] = {
    bool: (_is_bool, "true or false"),
    int: (_is_whole, "a whole number"),
    float: (_is_number, "a number"),
}


def _one_of(members: Mapping[str, StrEnum], value: object, name: str) -> StrEnum:
    if isinstance(value, str) and value in members:
        return members[value]
    raise _wrong(name, f"one of {', '.join(members)}")


def _wrong(name: str, what: str) -> Rejected:
    return Rejected(f"'{name}' must be {what}.")
