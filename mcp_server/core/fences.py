"""Fenced code in markdown, as https://spec.commonmark.org/0.31.2/#fenced-code-blocks has it."""

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")


def opens(line: str) -> str:
    """Return the fence with which *line* begins a block of code, '' when it begins none."""
    fence = _FENCE.match(line)
    return fence[1] if fence else ""


def closes(line: str, fence: str) -> bool:
    """Tell whether *line* ends the block of code that *fence* began."""
    found = opens(line)
    return found.startswith(fence) and line.strip() == found


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of *text*, and whether it is fenced code, fences included; what is never closed is."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            yield line, True
            fence = "" if closes(line, fence) else fence
        else:
            fence = opens(line)
            yield line, bool(fence)
