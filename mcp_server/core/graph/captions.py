"""Captions of a picture: titles on at most two lines, and how wide a text is."""

import unicodedata

ROOM = 12.5  # em: the longest line of a caption
LINES = 2  # at most

_NARROW = frozenset("iljtfrI.,:;'|!()[]{} `\"-‘’“”/\\")
_BREAKS = frozenset("/-_")  # a line may end behind them
_BROAD = frozenset("mwMW@%&—…")


def breadth(text: str) -> float:
    """Return about how many em *text* takes, rather too many, because the font that draws it is unknown."""
    return sum(map(_breadth, text))


def caption(title: str) -> tuple[str, ...]:
    """Return *title* on at most two lines of about ROOM em each, with an ellipsis where it was cut."""
    lines: list[str] = []
    remaining = title
    while remaining and len(lines) < LINES:
        line, remaining = _line(remaining, ROOM)
        lines.append(line)
    if remaining:
        lines[-1] = _line(lines[-1], ROOM - 1)[0].rstrip(" .,;:-") + "…"
    return tuple(lines)


def _line(text: str, room: float) -> tuple[str, str]:
    """Return the first line of *text* and the rest, cut between words unless the line gets too short."""
    fits = _fitting(text, room)
    if len(fits) == len(text):
        return text, ""
    ends = [at for at in range(1, len(fits) + 1) if text[at] == " " or text[at - 1] in _BREAKS]
    at = ends[-1] if ends and breadth(text[: ends[-1]]) > room / 3 else len(fits)
    return text[:at].rstrip(), text[at:].lstrip()


def _fitting(text: str, room: float) -> str:
    """Return the longest beginning of *text* that fits; an accent stays with its letter."""
    width = 0.0
    for at, character in enumerate(text):
        width += _breadth(character)
        if width > room:
            end = max(at, 1)
            while end > 1 and _stays(text[end], text[end - 1]):
                end -= 1
            return text[:end]
    return text


def _stays(character: str, before: str) -> bool:
    return unicodedata.category(character)[0] == "M" or "\u200d" in (character, before)


def _breadth(character: str) -> float:
    if character in _NARROW:
        return 0.4
    if character in _BROAD:
        return 1.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    if unicodedata.category(character)[0] == "M":
        return 0.0
    return 0.72 if character.isupper() else 0.61
