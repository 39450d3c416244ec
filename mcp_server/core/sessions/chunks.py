"""
Chunks: the digest of a transcript in pieces that a model reads one at a time.

Only Daybook writes lines that begin with a speaker at the margin: further lines of a turn are indented, so
that the words of one speaker cannot be taken for those of another.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mcp_server.core.digests import text_digest
from mcp_server.core.sessions.transcript import Speaker, Utterance

SIZE = 6000  # characters of a chunk: A-13 in docs/features.md
OVERLAP = 500  # characters of the chunk before that are repeated

_INDENT = "\n  "
_SHORT = len("2026-11-20T15:28")


@dataclass(frozen=True, slots=True)
class Chunk:
    """
    Consecutive utterances; those of one line of the transcript are never split.

    `text` is their digest, at most 6,000 characters unless one line alone has more.
    `overlap` is the end of the digest before, at most 500 characters; `before` are the utterances in it.
    `start` and `end` are their byte range in the transcript; `digest`, 32 hexadecimal characters, is made of
    their keys alone, so it is the same in a copy of the transcript.
    """

    utterances: tuple[Utterance, ...]
    overlap: str
    start: int
    end: int
    text: str
    digest: str
    before: tuple[Utterance, ...] = ()


def render(utterances: Iterable[Utterance]) -> str:
    """Return the digest: `USER (2026-11-20 15:28): words`, `CLAUDE: words`, `TOOL [Bash]: pytest`."""
    return "\n".join(_line(utterance) for utterance in utterances)


def chunks(utterances: Iterable[Utterance]) -> Iterator[Chunk]:
    """Yield the chunks of *utterances*, reading no more of them than each chunk needs."""
    last: Chunk | None = None
    pending: list[Utterance] = []
    length = 0  # of the digest of those, with a line feed behind each
    for _, together in groupby(utterances, lambda utterance: (utterance.start, utterance.end)):
        line = list(together)
        longer = len(render(line)) + 1
        if pending and length + longer > SIZE + 1:
            last = _chunk(pending, last)
            yield last
            pending, length = [], 0
        pending += line
        length += longer
    if pending:
        yield _chunk(pending, last)


def said_in(chunk: Chunk) -> tuple[Utterance, ...]:
    """Return the utterances in the overlap of *chunk*, and then its own."""
    return (*chunk.before, *chunk.utterances)


def _line(utterance: Utterance) -> str:
    words = utterance.words.replace("\n", _INDENT)
    if utterance.speaker is Speaker.TOOL:
        return f"TOOL {words}"
    name = utterance.speaker.upper()
    if utterance.speaker is Speaker.USER and utterance.time:
        return f"{name} ({utterance.time[:_SHORT].replace('T', ' ')}): {words}"
    return f"{name}: {words}"


def _chunk(utterances: list[Utterance], last: Chunk | None) -> Chunk:
    overlap, before = _end(last) if last else ("", ())
    return Chunk(
        tuple(utterances),
        overlap,
        utterances[0].start,
        utterances[-1].end,
        render(utterances),
        text_digest("\n".join(utterance.key for utterance in utterances)),
        before,
    )


def _end(chunk: Chunk) -> tuple[str, tuple[Utterance, ...]]:
    """Return the last 500 characters of a digest, from a line start if possible, and their utterances."""
    count = room = 0
    for utterance in reversed(chunk.utterances):
        room += len(_line(utterance)) + 1
        count += 1
        if room > OVERLAP:
            break
    before = chunk.utterances[-count:]
    text = render(before)
    if len(text) <= OVERLAP:
        return text, before
    cut = text[-OVERLAP:]
    _, feed, rest = cut.partition("\n")
    if feed and rest.strip():
        # A continued line does not name its speaker; it stays, because it is indented.
        whole = render(before[1:])
        return rest, before if len(rest) > len(whole) else before[1:]
    return "… " + cut[2:], before
