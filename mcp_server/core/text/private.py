"""The marks with which the person keeps text out of the store: `<private>` and `#skip`."""

import re

_PRIVATE = re.compile(r"<\s{0,5}(/?)\s{0,5}private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_SKIP = re.compile(r"(?<![\w/#&=.-])#skip(?![\w-])", re.IGNORECASE)


def says_skip(prompt: str) -> bool:
    """Tell whether *prompt*, and what answers it, is not to be kept at all."""
    return bool(_SKIP.search(prompt))


def without_private(text: str) -> str:
    """Return *text* without what is in `<private>`; one that is not closed goes on to the end."""
    parts = []
    depth = at = 0
    for tag in _PRIVATE.finditer(text):
        if depth == 0:
            parts.append(text[at : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        at = tag.end()
    return "".join([*parts, text[at:] if depth == 0 else ""])


def has_private(text: str) -> bool:
    """Tell whether *text* has a mark of `<private>`."""
    return bool(_PRIVATE.search(text))


def kept_of(prompt: str) -> str:
    """Return the part of *prompt* that may be stored: nothing with `#skip`, and no private text."""
    return "" if says_skip(prompt) else without_private(prompt).strip()
