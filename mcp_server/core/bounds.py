"""How large the arguments of a call may be: checked before anything else is done with them."""

from collections.abc import Mapping

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import MAX_TEXT

MOST = 2 * MAX_TEXT  # characters of one argument; a text is measured again without its blanks
MOST_ITEMS = 10_000  # of one argument, with all that is nested in it
MOST_SESSION = 200  # characters of the id of a session; Claude Code's have 36
MOST_OF = {
    "messages": 1 << 20,
    "text": 1 << 20,
    "candidates": 1 << 20,
    "session_id": MOST_SESSION,
    "path": 4096,
}


def check_amount(arguments: Mapping[str, object]) -> None:
    """Raise Rejected for an argument with too many characters or items; the count stops at the limit."""
    for name, value in arguments.items():
        most = MOST_OF.get(name, MOST)
        characters, items = _amount(value, most)
        if characters > most:
            amount = f"{characters:,}" if isinstance(value, str) else f"more than {most:,}"
            raise Rejected(
                f"The argument '{name[:60]}' has {amount} characters; {most:,} is the limit.", _SPLIT
            )
        if items > MOST_ITEMS:
            raise Rejected(f"The argument '{name[:60]}' has more than {MOST_ITEMS:,} items.", _SPLIT)


_SPLIT = "Give less at once, or split it into several calls."


def session_id(value: object) -> str:
    """Return the session id that a client gave; '' when it is not text, or too long for such an id."""
    return value if isinstance(value, str) and len(value) <= MOST_SESSION else ""


def _amount(value: object, most: int) -> tuple[int, int]:
    """Return how many characters and items *value* has; the count stops when there are too many."""
    characters, items, pending = 0, 0, [value]
    while pending and characters <= most and items <= MOST_ITEMS:
        items += 1
        match pending.pop():
            case str() as text:
                characters += len(text)
            case dict() as fields:
                characters += sum(map(len, fields))
                pending.extend(fields.values())
            case list() as parts:
                pending.extend(parts[: MOST_ITEMS + 1])
    return characters, items
