"""
What a model is asked about memories that have few occasions, and which parts of its answer are accepted.

The occasions of a memory are compared with prompts (`use_when`); they are never shown with one.
"""

from collections.abc import Sequence
from typing import Any

from mcp_server.core.capture.extraction import listed, objects_in
from mcp_server.core.memory import USE_WHEN
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import redact, without_secrets

ENOUGH = 5  # occasions of a memory that is not asked about; Claude is asked for as many when it stores one
MOST = 10  # memories in one question
LEAST = 5  # memories that are worth a question; fewer wait for more
MOST_A_DAY = 5  # questions: fifty memories, about 15,000 tokens
SHOWN = 600  # characters of a memory in a question
ANSWER_TOKENS = 2048  # of the model, at most; ten memories take some 700


def request(memories: Sequence[tuple[str, str]]) -> str:
    """Return the prompt about *memories*, (title, text), numbered from 1, without secrets."""
    lines = "\n".join(
        f"[{number}] {one_line(redact(title))}: {one_line(redact(text), SHOWN)}"
        for number, (title, text) in enumerate(memories, start=1)
    )
    return f"<memories>\n{lines}\n</memories>\n\nThe JSON array:"


def answered(answer: str, count: int) -> dict[int, tuple[str, ...]] | None:
    """
    Return number → occasions for those of *count* memories that *answer* gives any; None without an array.

    Numbers count from 0. Of an answer that was cut off, the complete objects count.
    """
    objects = objects_in(answer)
    if objects is None:
        return None
    by_number: dict[int, tuple[str, ...]] = {}
    for candidate in objects:
        number, occasions = _given(candidate)
        if 1 <= number <= count and occasions:
            by_number.setdefault(number - 1, occasions)
    return by_number


def _given(candidate: Any) -> tuple[int, tuple[str, ...]]:
    """Return the number and the occasions in one object of an answer; (0, ()) when a check fails."""
    match candidate:
        case {"number": int(number), "use_when": occasions} if not isinstance(number, bool):
            return number, without_secrets(listed(USE_WHEN, occasions))
    return 0, ()
