"""
Whether a text tries to steer a model, in many languages and disguises; advisory, both ways.

The origin of a text decides (`core/provenance/origins.py`). This test is additional: it finds orders that
hide something, undo other orders, give away secrets, speak as the system, or run a program from others.
"Run `make lint` first" and "send webhooks to https://hooks.example.com" are none of these.
"""

import binascii
import functools
import re
import unicodedata
from collections.abc import Iterable

from mcp_server.core.unseen import UNSEEN_OR_MARK

_BEGIN = 5  # first letters of a word, for a quick test whether it may occur

# Each part of a text with the beginning of a word that is there when the part is, '' for none.
_Parts = tuple[tuple[str, str], ...]
# Beginnings of words, parts of a text in ASCII, other parts: one is there when one of a group of words is.
_Group = tuple[frozenset[str], _Parts, _Parts]


def _group_of(words: str) -> _Group:
    alternatives = words.split("|")
    whole = [word for word in alternatives if word.isascii() and word.isalpha()]
    parts = [word for word in alternatives if word not in whole]
    return (
        frozenset(word[:_BEGIN] for word in whole),
        tuple((part, _begun_by(part)) for part in parts if part.isascii()),
        tuple((part, _begun_by(part)) for part in parts if not part.isascii()),
    )


def _begun_by(part: str) -> str:
    """Return how a word of each text with *part* begins, as far as *part* itself tells; '' for no word."""
    word = re.search(rf"(?<=[^a-z])(?:[a-z]{{{_BEGIN}}}|[a-z]++(?=[^a-z]))", part)
    return word[0] if word and part.isascii() else ""


@functools.cache
def _signals(
    *, ascii_only: bool
) -> tuple[list[tuple[list[_Group], str]], frozenset[str], str, str, list[str]]:
    """
    Return (each pattern with groups for a quick test before it, the beginnings of words that these look for,
    the patterns of tags and heads, speakers).

    With *ascii_only*, only those that can match a text in ASCII.
    """
    from mcp_server.core.provenance.instruction_patterns import (  # most starts need none
        HEADS,
        SIGNALS,
        SPEAKING,
        TAG,
    )

    signals = [([_group_of(words) for words in groups.split("&")], pattern) for groups, pattern in SIGNALS]
    speakers = SPEAKING.split("|")
    if ascii_only:
        signals = [
            ([(starts, parts, ()) for starts, parts, _ in groups], pattern)
            for groups, pattern in signals
            if all(starts or parts for starts, parts, _ in groups)
        ]
        speakers = [speaker for speaker in speakers if speaker.isascii()]
    known = frozenset().union(
        *(
            starts.union(begun_by for _, begun_by in (*parts, *foreign_parts))
            for groups, _ in signals
            for starts, parts, foreign_parts in groups
        )
    )
    return signals, known, TAG, HEADS, speakers


_LATIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ALNUM = _LATIN + b"0123456789"
_LETTERS = bytes(code if 97 <= code <= 122 else 32 for code in range(256))  # from "a" to "z"
_ALIKE = str.maketrans("аеорсухіѕјԁɡոυАВЕКМНОРСТХІ", "aeopcyxisjdgnuABEKMHOPCTXI")
_LEET = str.maketrans("013457@$", "oieastas")
_ODD = "[^\\x00-\\xac\\xae-\\xff\\u2010-\\u2027]"
_HIDDEN = "[\\u202d\\u202e\\U000e0020-\\U000e007f]"  # reverses text, or is invisible
_MIXED = r"\b(?=\w*[a-zA-Z])(?=\w*[а-яА-ЯіѕјІԁɡոυ])\w+"  # a word of two alphabets
_SPREAD = r"(?<!\w)\w(?:[ .\-_*]\w){4,}(?!\w)"  # l e t t e r s
_SPREAD_END = r"[ .\-_*]\w(?:[ .\-_*]\w){3}(?!\w)"  # the same, faster to find
_ENCODED = r"(?<![\w+/])[A-Za-z0-9+/]{16,}={0,2}(?![\w+/])"
_LEET_END = r"[013457@$][a-zA-Z]"
# Of a text in ASCII only the kinds of signs: so it is seen in a tenth of the time that it has neither.
_SPREAD_KINDS = bytes(97 if code in _ALNUM else 32 if code in b" .-*" else code for code in range(256))
_LEET_KINDS = bytes(48 if code in b"013457@$" else 97 if code in _LATIN else 32 for code in range(256))
_LEETED = r"[a-zA-Z][013457@$]+[a-zA-Z]|\b[01345][a-zA-Z]{3}"
_PARTED = "(?<=[a-zA-Z])[\\u200b\\u200c\\u2060\\ufeff](?=[a-zA-Z])"


def reads_like_instruction(text: str) -> bool:
    """Tell whether *text* tries to steer a model instead of stating a fact."""
    if not text.isascii() and re.search(_ODD, text):
        if re.search(_HIDDEN, text) or len(re.findall(_PARTED, text)) > 1:
            return True
        # Wide and bold letters, and those of other alphabets that look like ours.
        text = re.sub(UNSEEN_OR_MARK, "", unicodedata.normalize("NFKC", text))
        text = re.sub(_MIXED, lambda word: word[0].translate(_ALIKE), text)
    return _steers(text) or any(_steers(plain) for plain in _uncovered(text))


def _steers(text: str) -> bool:
    lower = text.lower()
    flat = " ".join(lower.split())
    is_ascii = flat.isascii()
    if is_ascii:
        # The words of letters alone; a pattern that finds them takes three times as long.
        begins = {word[:_BEGIN] for word in set(flat.encode().translate(_LETTERS).decode().split())}
    else:
        begins = {word[:_BEGIN] for word in re.findall(r"[^\W\d_]+", flat)}
    signals, known, tag, heads, speakers = _signals(ascii_only=is_ascii)
    begins &= known
    for groups, pattern in signals:
        for starts, parts, foreign_parts in groups:
            if not starts.isdisjoint(begins):
                continue
            for part, begun_by in parts + foreign_parts:
                if (not begun_by or begun_by in begins) and part in flat:
                    break
            else:
                break
        else:
            if re.search(pattern, flat):
                return True
    if "<" in text and re.search(tag, text):
        return True
    return _has(lower, speakers) and re.search(heads, lower, re.MULTILINE) is not None


def _has(text: str, parts: Iterable[str]) -> bool:
    for part in parts:  # noqa: SIM110 (most of the time would go into making an iterator for any)
        if part in text:
            return True
    return False


def _uncovered(text: str) -> list[str]:
    """Return the hidden readings of *text*: spread letters, digits used as letters, base64."""
    texts = []
    words = text.split()
    if (
        _may_be_spread(text)
        and re.search(_SPREAD_END, text)
        and any(len(word) < 2 or word[1] in ".-_*" for word in words)
    ):
        plain = re.sub(_SPREAD, lambda word: re.sub(r"[ .\-_*]", "", word[0]), text)
        if plain != text:
            texts.append(plain)
    if _may_be_leet(text) and re.search(_LEET_END, text) and re.search(_LEETED, text):
        texts.append(re.sub(r"\b[\w@$]*[a-zA-Z][\w@$]*\b", lambda word: word[0].translate(_LEET), text))
    long = max(map(len, words), default=0) >= 16 and any(
        len(word) >= 16 and not word.islower() for word in words
    )
    for encoded in re.findall(_ENCODED, text)[:20] if long else ():
        try:
            decoded = binascii.a2b_base64(encoded + "=" * (-len(encoded) % 4)).decode("ascii")
        except ValueError:
            continue
        if decoded.isprintable() and " " in decoded:
            texts.append(decoded)
    return texts


def _may_be_spread(text: str) -> bool:
    if not text.isascii() or "_" in text:
        return True
    return b" a a a a" in text.encode().translate(_SPREAD_KINDS)


def _may_be_leet(text: str) -> bool:
    return not text.isascii() or b"0a" in text.encode().translate(_LEET_KINDS)
