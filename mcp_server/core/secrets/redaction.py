"""
Find secrets in text and mask them, before anything reaches the disk, a model or a log.

Four things reveal a secret: the shape its vendor gave it (`shapes.py`), its place (in a URL or a header,
`places.py`; in a file or a call, `settings.py`; in a command, `commands.py`; in a table, `columns.py`), the
word it is assigned to (`words.py`), and what a sentence says about it (`words.py`, `phrases.py`).
Entropy alone does not: commit hashes, lock files and identifiers have as much of it as keys.

Every search looks for literals first and then reads a bounded number of characters from there, so that
the time is linear in the text, whatever the text is.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from mcp_server.core.errors import Rejected
from mcp_server.core.secrets.columns import in_columns
from mcp_server.core.secrets.commands import in_commands
from mcp_server.core.secrets.phrases import in_phrases
from mcp_server.core.secrets.places import (
    before_hosts,
    in_addresses,
    in_headers,
    in_manifests,
    in_urls,
    private_keys,
)
from mcp_server.core.secrets.settings import in_settings
from mcp_server.core.secrets.shapes import shaped
from mcp_server.core.secrets.values import SecretSpan, forget_values
from mcp_server.core.secrets.words import named
from mcp_server.core.unseen import UNSEEN

KEEP_SECRETS = "keep_secrets, in a terminal --keep-secrets"

# Daybook's own masks only: the words in them are too short to hide a secret.
_MASK = re.compile(r"\[secret removed: an?(?: [A-Za-z0-9.-]{1,14}){1,6}\]")

_UNSEEN = re.compile(UNSEEN)


class Secret(NamedTuple):
    """A secret at `text[start:end]`; `kind` says for people what it is: 'an AWS access key'."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    """
    Return the secrets in *text*, sorted and not overlapping; each covers the value alone.

    What cannot be seen hides none: a page puts such characters between those that a person copies.
    """
    if text.isascii() or not _UNSEEN.search(text):
        return _secrets_in(text)
    secrets = _secrets_in(_UNSEEN.sub("", text))
    seen = [at for at, character in enumerate(text) if not _UNSEEN.match(character)] if secrets else []
    return [Secret(seen[start], seen[end - 1] + 1, kind) for start, end, kind in secrets]


def _secrets_in(text: str) -> list[Secret]:
    masks = [match.span() for match in _MASK.finditer(text)] if "[secret removed: " in text else []
    # The words of a mask name nothing that stands after it.
    words = _MASK.sub(lambda mask: "." * len(mask[0]), text) if masks else text
    # One letter has a longer lower case; with it replaced, positions are the same in both texts.
    lowered = words.replace("\u0130", "I").lower()
    spans = [
        *private_keys(text),
        *shaped(text),
        *in_urls(text),
        *before_hosts(text),
        *in_addresses(text),
        *in_headers(text, lowered),
        *in_commands(text),
        *in_manifests(text),
        *in_settings(text, lowered),
        *in_phrases(words, lowered),
        *in_columns(text, lowered),
        *named(text, lowered),
    ]
    forget_values()
    return _joined(_outside(masks, spans)) if spans else []


def refuse_secrets(*texts: str, anyway: str = "") -> None:
    """Raise Rejected when one of *texts* seems to hold a secret; *anyway* names the way to store it still."""
    if secrets := find_secrets("\n".join(texts)):
        other = f"; if it is none, repeat with {anyway}" if anyway else ""
        raise Rejected(
            f"This seems to contain {secrets[0].kind}, so it was not stored.",
            f"Say it without the secret{other}.",
        )


def refuse_masks_alone(text: str) -> None:
    """Raise Rejected when *text* is a secret that was masked, and nothing besides."""
    unmasked = _MASK.sub("", text)
    if unmasked != text and not any(map(str.isalnum, unmasked)):
        raise Rejected(
            "It is nothing but a secret, so nothing was stored.",
            "Say what the secret is for, or where it is kept, without the secret.",
        )


def redact(text: str) -> str:
    """
    Return *text* with `[secret removed: <kind>]` in the place of each secret.

    Goes on until none is found, because a mask may uncover another secret; so masking again changes nothing.
    """
    while secrets := find_secrets(text):
        parts = []
        at = 0
        for secret in secrets:
            parts += [text[at : secret.start], f"[secret removed: {secret.kind}]"]
            at = secret.end
        text = "".join([*parts, text[at:]])
    return text


def without_secrets(tags: Iterable[str]) -> tuple[str, ...]:
    """Return those of *tags* that hold no secret: a mask in the place of one would be no tag."""
    return tuple(tag for tag in tags if not find_secrets(tag))


def mask_gone(text: str, now: str) -> str:
    """Return *text* with those of its secrets masked that do not occur in *now*."""
    for secret in reversed(find_secrets(text)):
        if text[secret.start : secret.end] not in now:
            text = f"{text[: secret.start]}[secret removed: {secret.kind}]{text[secret.end :]}"
    return text


def _outside(masks: list[tuple[int, int]], spans: list[SecretSpan]) -> list[SecretSpan]:
    """Return those of *spans* that neither lie in one of Daybook's masks nor cross one."""
    ends = [end for _, end in masks]
    starts = [start for start, _ in masks]
    return [span for span in spans if bisect_right(ends, span[0]) == bisect_left(starts, span[1])]


def _joined(spans: list[SecretSpan]) -> list[Secret]:
    """Return *spans* in order of place, overlapping ones as one, named after the one found first."""
    secrets: list[Secret] = []
    ranked = sorted((start, end, rank, kind) for rank, (start, end, kind) in enumerate(spans))
    best = 0
    for start, end, rank, kind in ranked:
        last = secrets[-1] if secrets else None
        if last is None or start >= last.end:
            secrets.append(Secret(start, end, kind))
            best = rank
        else:
            secrets[-1] = Secret(last.start, max(last.end, end), kind if rank < best else last.kind)
            best = min(best, rank)
    return secrets
