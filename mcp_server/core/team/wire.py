"""
What a team's server and its clients say to each other: our values as plain JSON values, there and back.

An object has a key for each field of the value; one that has its default is left out. Reading believes
nothing: each type is checked, texts and lists are bounded, and the first thing that is wrong is told in one
sentence, which quotes no value. Keys that are not known are refused in what a client asks; they are passed
over in what a server answers, because it may be newer.

Two keys of a question change no answer of a team. `Query.parts` are those of a prompt, and no prompt is sent.
`Query.expand` adds what the hits link to: a member's machine does so by itself for its own memories and the
copy of what is confirmed. What only the server has leads on to nothing: a link by which anyone could bring
more before a reader would be worth as much as an answer.
"""

import contextlib
import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from mcp_server.core.errors import (
    Conflict,
    DaybookError,
    NotAllowed,
    NotFound,
    Rejected,
    StorageUnavailable,
)
from mcp_server.core.memory import MAX_TEXT, Kind, Memory, check_id, parse_timestamp
from mcp_server.core.render import one_line
from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import ChangeRecord, Results, Stored
from mcp_server.core.team.team import Team

T = TypeVar("T")

MOST_REQUEST = 1024 * 1024  # bytes of what a client asks: twice the longest text of a memory, and more
MOST_CHARACTERS = {"text": MAX_TEXT, "passage": MAX_TEXT}
MOST_OTHER = 16 * 1024  # characters of any other text: as many as the head of a memory's file may have
MOST_ITEMS = 1_000  # of a list
MOST_OF_MOMENT = 40  # characters
KINDS: Mapping[str, type[DaybookError]] = {
    kind.__name__: kind for kind in (NotFound, Rejected, Conflict, NotAllowed, StorageUnavailable)
}
"""The errors that arrive at a client as what they were."""


def value_of(value: object) -> Any:
    """Return one of our values, or a tuple of them, as a plain JSON value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [value_of(each) for each in value]
    if is_dataclass(value):
        told = ((key, getattr(value, key.name)) for key in fields(value))
        return {key.name: value_of(each) for key, each in told if each != key.default or key.name in _ALWAYS}
    return value


_ALWAYS = ("type", "source")  # said in any case, because a server takes another value where it is missing


def memory_of(value: object, *, strict: bool) -> Memory:
    """Return the memory that *value* says; raise Rejected. With *strict* a key that is not known is wrong."""
    memory = _read(Memory, value, "memory", strict)
    check_id(memory.id)
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected("A team keeps knowledge only, no conversations and no sessions.")
    return memory


def stored_of(value: object) -> Stored:
    """Return the version of a memory that a server tells; raise Rejected."""
    stored = _read(Stored, value, "stored", False)
    check_id(stored.memory.id)
    return stored


def query_of(value: object) -> Query:
    """Return the question that a client asks; raise Rejected."""
    return _read(Query, value, "query", True)


def results_of(value: object) -> Results:
    """Return the results that a server tells; raise Rejected."""
    results = _read(Results, value, "results", False)
    for each in results.results:
        check_id(each.stored.memory.id)
    return results


def change_of(value: object) -> ChangeRecord:
    """Return the change that a server tells; raise Rejected."""
    return _read(ChangeRecord, value, "change", False)


def team_of(value: object) -> Team:
    """Return the team that a server tells; raise Rejected."""
    return _read(Team, value, "team", False)


def error_value(error: DaybookError) -> dict[str, str]:
    """Return *error* as a JSON value: its kind, its sentence and its hint."""
    return {"kind": type(error).__name__, "sentence": str(error), "hint": error.hint}


def error_of(value: object) -> DaybookError:
    """Return the error that a server tells, of its own kind where we know it; raise Rejected."""
    said = _object(value, "error")
    kind, sentence, hint = (_text(said.get(key, ""), key) for key in ("kind", "sentence", "hint"))
    sentence, hint = one_line(sentence, _MOST_SENTENCE), one_line(hint, _MOST_SENTENCE)
    if not sentence:
        raise Rejected("The error says nothing.")
    if kind == NotFound.__name__:
        return NotFound("", sentence=sentence, hint=hint)
    return KINDS.get(kind, DaybookError)(sentence, hint)


_MOST_SENTENCE = 1_000  # characters


def _read(wanted: type[T], value: object, name: str, strict: bool) -> T:
    """Return *value* as a *wanted*, a dataclass; *name* is what it is called in a sentence."""
    said = _object(value, name)
    hints = _hints(wanted)  # type: ignore[arg-type]  # a class is hashable
    if strict and (unknown := [key for key in said if key not in hints]):
        known = ", ".join(hints)
        raise Rejected(f"'{name}' has no key '{one_line(str(unknown[0]), 60)}'.", f"It has: {known}.")
    found = {}
    for key in fields(wanted):  # type: ignore[arg-type]
        if key.name in said:
            found[key.name] = _value(hints[key.name], said[key.name], key.name, strict)
        elif key.default is MISSING and key.default_factory is MISSING:
            raise Rejected(f"'{name}' lacks the key '{key.name}'.")
    return wanted(**found)


_hints = functools.cache(get_type_hints)


def _value(hint: Any, value: object, name: str, strict: bool) -> Any:
    """Return *value* as the type that *hint* is; raise Rejected."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (other,) = (each for each in get_args(hint) if each is not type(None))
        return None if value is None else _value(other, value, name, strict)
    if origin is tuple:
        return _tuple(get_args(hint), value, name, strict)
    if isinstance(hint, type) and is_dataclass(hint):
        return _read(hint, value, name, strict)
    if hint is str:
        return _text(value, name)
    if hint is datetime:
        return _moment(value, name)
    if hint in _PLAIN:
        fits, what = _PLAIN[hint]
        if not fits(value):
            raise _wrong(name, what)
        return float(value) if hint is float else value  # type: ignore[arg-type]
    return _one_of(hint, value, name)


def _tuple(hints: tuple[Any, ...], value: object, name: str, strict: bool) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(name, "a list")
    if len(value) > MOST_ITEMS:
        raise Rejected(f"'{name}' has {len(value):,} items; {MOST_ITEMS:,} is the most.")
    if hints[-1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(hints) != len(value):
        raise _wrong(name, f"a list of {len(hints)}")
    return tuple(_value(hint, each, name, strict) for hint, each in zip(hints, value, strict=True))


def _object(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _wrong(name, "an object")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a text")
    most = MOST_CHARACTERS.get(name, MOST_OTHER)
    if len(value) > most:
        raise Rejected(f"'{name}' has {len(value):,} characters; {most:,} is the most.")
    if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        raise Rejected(f"'{name}' holds half a character, which is no text.")
    return value


def _moment(value: object, name: str) -> datetime:
    if isinstance(value, str) and len(value) <= MOST_OF_MOMENT:
        with contextlib.suppress(ValueError):
            return parse_timestamp(value)
    raise _wrong(name, "a time such as 2026-11-20T09:12:03Z")


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


def _one_of(hint: type[StrEnum], value: object, name: str) -> StrEnum:
    known = {each.value: each for each in hint}
    if isinstance(value, str) and value in known:
        return known[value]
    raise _wrong(name, f"one of {', '.join(known)}")


def _wrong(name: str, what: str) -> Rejected:
    return Rejected(f"'{name}' is to be {what}.")
