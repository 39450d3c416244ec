"""
What the person pasted into a prompt, which Claude Code marks by lines of its own.

Claude Code (2.1.329) writes `<pasted_content id="621f">` above a paste of several lines or of some 800
characters, and `</pasted_content id="621f">` below it, in the prompt and in the transcript, and nothing into
commands. Whoever wrote what is pasted does not know the id, so that no text can end its own paste.
"""

import re
from collections.abc import Callable, Iterator

MOST = 100  # marks that are looked at, so that a text full of them takes no longer

_OPENING = re.compile(r'^<pasted_content id="([^"\n]{1,64})">\n', re.MULTILINE)


def as_quotes(text: str) -> str:
    """Return *text* with each paste as a quote in Markdown, so that each of its lines shows what it is."""
    return _with(text, lambda paste: "\n".join(f"> {line}".rstrip() for line in paste.split("\n")))


def without_marks(text: str) -> str:
    """Return *text* with each paste as it was before Claude Code marked it."""
    return _with(text, str)


def _with(text: str, change: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, paste, end in _pastes(text):
        parts += [text[at:start], change(paste)]
        at = end
    return "".join([*parts, text[at:]])


def _pastes(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield where the mark above a paste begins, the paste, and where the mark below it ends."""
    at = looked_at = 0
    while looked_at < MOST and (opening := _OPENING.search(text, at)):
        looked_at += 1
        closing = f'\n</pasted_content id="{opening[1]}">'
        stop = text.find(closing, opening.end())
        at = opening.end()
        if stop >= 0:
            at = stop + len(closing)
            yield opening.start(), text[opening.end() : stop], at
