"""text_difference: where two texts part, by lines and within changed lines by words."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby, takewhile

MOST_STEPS = 2_500_000_000  # 60,000 characters of prose; random words of as many steps take five seconds
LEAST_ALIKE = 0.3  # share of words in common from which changed lines are told word by word
AROUND = 3  # lines beside a change that are shown of what is alike
_WORD = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")


class How(StrEnum):
    """Whether a part is in both texts, in the former alone or in the latter alone."""

    ALIKE = "alike"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the texts; `folded` is how many lines it has when it need not be shown, else 0."""

    how: How
    text: str
    folded: int = 0


def compared(old_text: str, new_text: str) -> tuple[Stretch, ...]:
    """
    Return the parts of both texts in their order: all but the new ones make *old_text*, all but those gone
    *new_text*.

    Neighbours differ in `how`. What would take too long to compare is gone and new as a whole.
    """
    parts: list[Stretch] = []
    for how, old, new in _runs(old_text.splitlines(keepends=True), new_text.splitlines(keepends=True)):
        if how is How.ALIKE:
            parts.append(Stretch(how, old))
        else:
            parts += _by_words(old, new)
    return tuple(_joined(parts))


def folded(parts: Sequence[Stretch], *, around: int = AROUND) -> tuple[Stretch, ...]:
    """
    Return *parts* with long stretches that are alike cut in three, the middle one `folded`.

    *around* lines stay visible on each side of a change.
    """
    return tuple(piece for at, part in enumerate(parts) for piece in _cut(part, at, len(parts), around))


def _cut(part: Stretch, at: int, count: int, around: int) -> Iterator[Stretch]:
    lines = part.text.splitlines(keepends=True)
    first, last = around if at else 0, len(lines) - (around if at < count - 1 else 0)
    if part.how is not How.ALIKE or last - first < around:
        yield part
        return
    for text, hidden in ((lines[:first], 0), (lines[first:last], last - first), (lines[last:], 0)):
        if text:
            yield Stretch(part.how, "".join(text), hidden)


def _by_words(old: str, new: str) -> list[Stretch]:
    """Return how *old* became *new*: word by word where they are alike, else the one and then the other."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    parts = list(_whole_words(before, after))
    alike = sum(map(_letters, (part.text for part in parts if part.how is How.ALIKE)))
    if alike < LEAST_ALIKE * max(_letters(old), _letters(new)):
        return [Stretch(How.GONE, old), Stretch(How.NEW, new)]
    return parts


def _whole_words(before: Sequence[str], after: Sequence[str]) -> Iterator[Stretch]:
    """Yield the parts of two lists of words; alike marks between two changes belong to these."""
    old = new = ""
    for how, old_part, new_part in _runs(before, after):
        if how is How.ALIKE and (_letters(old_part) or "\n" in old_part or not (old or new)):
            yield from (Stretch(How.GONE, old), Stretch(How.NEW, new), Stretch(how, old_part))
            old = new = ""
        else:
            old, new = old + old_part, new + new_part
    yield from (Stretch(How.GONE, old), Stretch(How.NEW, new))


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _joined(parts: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield *parts*, neighbours of one sort joined; what is gone goes before what is new."""
    filled_parts = [part for part in parts if part.text]
    for changed, run in groupby(filled_parts, key=lambda part: part.how is not How.ALIKE):
        texts = dict.fromkeys((How.GONE, How.NEW) if changed else (How.ALIKE,), "")
        for part in run:
            texts[part.how] += part.text
        yield from (Stretch(how, text) for how, text in texts.items() if text)


def _runs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[How, str, str]]:
    """Yield (alike, text, text) and (gone, text before, text after) for stretches of two lists of pieces."""
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    yield How.ALIKE, "".join(before[:head]), "".join(after[:head])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if old and new and _steps(old, new) <= MOST_STEPS:
        matcher = SequenceMatcher(_is_blank, old, new)
        for name, start, end, begin, stop in matcher.get_opcodes():
            how = How.ALIKE if name == "equal" else How.GONE
            yield how, "".join(old[start:end]), "".join(new[begin:stop])
    else:
        yield How.GONE, "".join(old), "".join(new)
    yield How.ALIKE, "".join(before[len(before) - tail :]), "".join(after[len(after) - tail :])


def _alike(before: Sequence[str], after: Sequence[str]) -> int:
    """Return with how many equal pieces two lists begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _is_blank(piece: str) -> bool:
    """Tell whether a piece is the blanks between two words, which are alike everywhere."""
    return piece.isspace() and "\n" not in piece


def _steps(old: Sequence[str], new: Sequence[str]) -> int:
    """Return about how many pairs of equal pieces a matcher looks at, at worst."""
    counts = Counter(piece for piece in new if not _is_blank(piece))
    most = 1 + len(new) // 100 if len(new) >= 200 else len(new)  # as difflib does, which drops frequent ones
    pairs = sum(count * counts[piece] for piece, count in Counter(old).items() if counts[piece] <= most)
    return pairs * min(len(old), len(new))
