"""
Whether a text tries to steer a model, in many languages and disguises; advisory, both ways.

What decides is where a text comes from (`core/origins.py`). This is asked besides: orders that hide
something, undo other orders, give away secrets, speak as the system, or have a program of others run.
"Run `make lint` first" and "send webhooks to https://hooks.example.com" are none of these.
"""

import binascii
import functools
import re
import unicodedata

_BEGIN = 5  # letters by which it is seen quickly that a word may be there


def _told_by(words: str) -> tuple[frozenset[str], list[str]]:
    """Return (beginnings of words, parts of a text) of which one is there when one of *words* is."""
    found = words.split("|")
    whole = [word for word in found if word.isascii() and word.isalpha()]
    return frozenset(word[:_BEGIN] for word in whole), [word for word in found if word not in whole]


@functools.cache
def _signals() -> tuple[list[tuple[list[tuple[frozenset[str], list[str]]], str]], str, str]:
    """Return (each pattern with what tells quickly that it may match, that of tags, that of heads)."""
    from mcp_server.core.instruction_patterns import HEADS, SIGNALS, TAG  # most starts of a session need none

    return (
        [([_told_by(words) for words in groups.split("&")], pattern) for groups, pattern in SIGNALS],
        TAG,
        HEADS,
    )


_ALIKE = str.maketrans("аеорсухіѕјԁɡոυАВЕКМНОРСТХІ", "aeopcyxisjdgnuABEKMHOPCTXI")
_LEET = str.maketrans("013457@$", "oieastas")
_ODD = "[^\\x00-\\xac\\xae-\\xff\\u2010-\\u2027]"
_UNSEEN = (
    "[\\u00ad\\u0300-\\u036f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff"
    "\\U000e0000-\\U000e007f]"
)
_HIDDEN = "[\\u202d\\u202e\\U000e0020-\\U000e007f]"  # turns text around, or is a letter that nobody sees
_MIXED = r"\b(?=\w*[a-zA-Z])(?=\w*[а-яА-ЯіѕјІԁɡոυ])\w+"  # a word of two alphabets
_SPREAD = r"(?<!\w)\w(?:[ .\-_*]\w){4,}(?!\w)"  # l e t t e r s
_ENCODED = r"(?<![\w+/])[A-Za-z0-9+/]{16,}={0,2}(?![\w+/])"
_LEETED = r"[a-zA-Z][013457@$]+[a-zA-Z]|\b[01345][a-zA-Z]{3}"
_PARTED = "(?<=[a-zA-Z])[\\u200b\\u200c\\u2060\\ufeff](?=[a-zA-Z])"


def reads_like_instruction(text: str) -> bool:
    """Tell whether *text* tries to steer a model instead of stating a fact."""
    if not text.isascii() and re.search(_ODD, text):
        if re.search(_HIDDEN, text) or len(re.findall(_PARTED, text)) > 1:
            return True
        # Wide and bold letters, and those of other alphabets that look like ours.
        text = re.sub(_UNSEEN, "", unicodedata.normalize("NFKC", text))
        text = re.sub(_MIXED, lambda word: word[0].translate(_ALIKE), text)
    return _steers(text) or any(_steers(plain) for plain in _uncovered(text))


def _steers(text: str) -> bool:
    lower = text.lower()
    flat = " ".join(lower.split())
    begins = {word[:_BEGIN] for word in re.findall(r"[^\W\d_]+", flat)}
    signals, tag, heads = _signals()
    for groups, pattern in signals:
        if all(
            not starts.isdisjoint(begins) or any(part in flat for part in parts) for starts, parts in groups
        ) and re.search(pattern, flat):
            return True
    return re.search(tag, text) is not None or re.search(heads, lower, re.MULTILINE) is not None


def _uncovered(text: str) -> list[str]:
    """Return what *text* says when letters that stand apart, digits for letters, and base64 are read."""
    found = []
    words = text.split()
    if any(len(word) < 2 or word[1] in ".-_*" for word in words) and re.search(_SPREAD, text):
        found.append(re.sub(_SPREAD, lambda word: re.sub(r"[ .\-_*]", "", word[0]), text))
    if any(mark in text for mark in "013457@$") and re.search(_LEETED, text):
        found.append(re.sub(r"\b[\w@$]*[a-zA-Z][\w@$]*\b", lambda word: word[0].translate(_LEET), text))
    long = any(len(word) >= 16 and not word.islower() for word in words)
    for encoded in re.findall(_ENCODED, text)[:20] if long else ():
        try:
            said = binascii.a2b_base64(encoded + "=" * (-len(encoded) % 4)).decode("ascii")
        except ValueError:
            continue
        if said.isprintable() and " " in said:
            found.append(said)
    return found
