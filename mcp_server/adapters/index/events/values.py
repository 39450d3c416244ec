"""What a line of the ledger says under a name: anybody may have written it, so it may be of any kind."""

from typing import Any


def a_list(value: Any) -> list[Any]:
    """Return *value* when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def a_number(value: Any) -> int | None:
    """Return *value* when it is a whole number that SQLite holds and not negative, else None."""
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else None
