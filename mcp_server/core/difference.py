"""What differs between two states of a memory, in one line for people."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import takewhile

from mcp_server.core.memory import Memory

SHORT = 60  # characters of each text that is quoted
NOT_TOLD = ("id", "kind", "created", "updated")


def difference(was: Memory, now: Memory) -> str:
    """Return what differs between *was* and *now*; '' when only the dates do."""
    return "; ".join(_differences(was, now))


def _differences(was: Memory, now: Memory) -> Iterator[str]:
    for field in fields(Memory):
        before, after = getattr(was, field.name), getattr(now, field.name)
        if before == after or field.name in NOT_TOLD:
            continue
        name = field.name.replace("_", " ")
        if field.name == "text":
            before, after = _where_they_part(before, after)
        match before, after:
            case str(), str():
                yield f"{name} {_quoted(before)} -> {_quoted(after)}"
            case tuple(), tuple():
                removed = [f"-{_named(item)}" for item in before if item not in after]
                added = [f"+{_named(item)}" for item in after if item not in before]
                yield f"{name} {_short(' '.join([*removed, *added]))}"
            case _:
                yield name


def _where_they_part(was: str, now: str) -> tuple[str, str]:
    """Return both texts from one word before the first difference on."""
    before, after = was.split(), now.split()
    alike = (word == other for word, other in zip(before, after, strict=False))
    start = max(0, sum(takewhile(bool, alike)) - 1)  # with the word before
    return " ".join(before[start:]), " ".join(after[start:])


def _quoted(text: str) -> str:
    return f'"{_short(text)}"' if text else "nothing"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1].rstrip()}…"


def _named(value: object) -> str:
    return f"{getattr(value, 'rel', '')}:{getattr(value, 'to', '')}" if hasattr(value, "rel") else str(value)
