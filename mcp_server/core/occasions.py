"""Occasions (`use_when`) on which a memory should come to mind: how they are cleaned and limited."""

from collections.abc import Iterable, Sequence

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import LONGEST_OCCASION, MAX_OCCASIONS, without_controls


def clean_occasions(use_when: Sequence[str], had: Sequence[str] = ()) -> tuple[str, ...]:
    """
    Return the occasions *use_when*, each as one line and once.

    Raises Rejected for too many or too long ones, but not for those that a file *had*: hands and two machines
    write more into it.
    """
    unique = occasion_lines(use_when)
    if len(unique) > max(MAX_OCCASIONS, len(had)):
        raise Rejected(
            f"{len(unique)} occasions were given in use_when; {MAX_OCCASIONS} is the limit.",
            "Keep the most likely ones.",
        )
    too_long = [line for line in unique if len(line) > LONGEST_OCCASION and line not in had]
    if too_long:
        raise Rejected(
            f"An occasion in use_when has {len(too_long[0])} characters; {LONGEST_OCCASION} is the limit.",
            "Say in a few words what somebody would ask for, such as 'add a table'.",
        )
    return unique


def occasion_lines(use_when: Iterable[str]) -> tuple[str, ...]:
    """Return the occasions *use_when*, each as one line and once, without empty ones."""
    lines = (" ".join(without_controls(occasion).split()) for occasion in use_when)
    return tuple(dict.fromkeys(filter(None, lines)))


def first_occasions(use_when: Iterable[str]) -> tuple[str, ...]:
    """Return the first 8 of *use_when* that are not too long: what a memory made of another one gets."""
    return tuple(line for line in use_when if len(line) <= LONGEST_OCCASION)[:MAX_OCCASIONS]
