"""
Two texts that were made of one, joined: by lines, and where both changed a line, by words.

Where both changed the same words there are two results, one with the words of each; no mark of a conflict is
ever written. What both deleted, or one deleted while the other left it alone, is gone; all else stays.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_WORDS = 4000  # of lines that both changed; comparing takes time by the square of their number

_WORD = re.compile(r"\s*\S+|\s+\Z")


class Joined(NamedTuple):
    """The joined text with the words of the first, and with those of the second, where both changed them."""

    first: str
    second: str

    @property
    def clash(self) -> bool:
        """Whether both changed the same words."""
        return self.first != self.second


class _Part(NamedTuple):
    """A part of the base, and what each of the two texts has in its place."""

    base: Sequence[str]
    first: Sequence[str]
    second: Sequence[str]


def join_texts(base: str, first: str, second: str) -> Joined:
    """Return *first* and *second*, which were both made of *base*, as one text."""
    if first == second or second == base:
        return Joined(first, first)
    if first == base:
        return Joined(second, second)
    if not base.strip():
        return Joined(first, second)
    lines: tuple[list[str], list[str]] = ([], [])
    for part in _parts(base.split("\n"), first.split("\n"), second.split("\n")):
        for into, result in zip(lines, _lines(part), strict=True):
            into.extend(result)
    return Joined("\n".join(lines[0]), "\n".join(lines[1]))


def _lines(part: _Part) -> tuple[Sequence[str], Sequence[str]]:
    """Return the joined lines of *part*, twice if both changed the same words."""
    if chosen := _chosen(part):
        return chosen[0], chosen[0]
    if not part.base:  # both put lines into one place: none of them replaces another
        joined = [*part.first, *(line for line in part.second if not line.strip() or line not in part.first)]
        return joined, joined
    if not part.first or not part.second:  # one deleted what the other changed
        return part.first, part.second
    words = [_WORD.findall("\n".join(lines)) for lines in part]
    if sum(map(len, words)) > MOST_WORDS:
        return part.first, part.second
    first, second = list[str](), list[str]()
    for small in _parts(*words):
        chosen = _chosen(small)
        first += chosen[0] if chosen else small.first
        second += chosen[0] if chosen else small.second
    return "".join(first).split("\n"), "".join(second).split("\n")


def _chosen(part: _Part) -> tuple[Sequence[str]] | None:
    """Return what stands in the place of *part* when at most one of the two changed it, else None."""
    if part.first == part.second or part.second == part.base:
        return (part.first,)
    return (part.second,) if part.first == part.base else None


def _parts(base: Sequence[str], first: Sequence[str], second: Sequence[str]) -> Iterator[_Part]:
    """Yield the parts of three sequences, in order: those where all agree, and those between them."""
    at = (0, 0, 0)
    for start, length, in_first, in_second in _agreeing(base, first, second):
        between = _Part(base[at[0] : start], first[at[1] : in_first], second[at[2] : in_second])
        if any(between):
            yield between
        agreed = base[start : start + length]
        if agreed:
            yield _Part(agreed, agreed, agreed)
        at = (start + length, in_first + length, in_second + length)


def _agreeing(
    base: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (place in *base*, length, place in *first*, place in *second*) of what all three share."""
    first_blocks, second_blocks = (
        SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks() for other in (first, second)
    )
    first_at = second_at = 0
    while first_at < len(first_blocks) and second_at < len(second_blocks):
        first_block, second_block = first_blocks[first_at], second_blocks[second_at]
        start, end = (
            max(first_block.a, second_block.a),
            min(first_block.a + first_block.size, second_block.a + second_block.size),
        )
        if start < end:
            yield (
                start,
                end - start,
                first_block.b + start - first_block.a,
                second_block.b + start - second_block.a,
            )
        if first_block.a + first_block.size < second_block.a + second_block.size:
            first_at += 1
        else:
            second_at += 1
    yield len(base), 0, len(first), len(second)
