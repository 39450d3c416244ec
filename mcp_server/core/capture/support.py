"""
Whether the transcript supports a memory that a model proposes, and whose word the memory then is.

The quoted evidence must occur in the transcript. Its source is then the person's own words, or what Claude
said and the person confirmed, or what Claude alone said, which waits for the person. Text that the person
pasted or denied supports nothing. Made on the sessions of `tests/data/extraction` that are not held out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mcp_server.core.capture.assent import assents
from mcp_server.core.capture.corrections import denies
from mcp_server.core.provenance.provenance import ASSISTANT, SAID
from mcp_server.core.provenance.telling_words import Text, telling_words
from mcp_server.core.sessions.transcript import Speaker, Utterance
from mcp_server.core.text.own_words import own_words
from mcp_server.core.text.text_relation import negates
from mcp_server.core.text.words import folded_words, identifier_parts, telling

SHORTEST_QUOTE = 8  # characters; a shorter quote may occur anywhere
STEM = 5  # two words with the same first letters, this many, count as forms of one word
HEARD = SAID / 2  # share of a memory's words that must occur in the transcript for it to be proposed at all

EXTRACTED = "extracted"
UNCONFIRMED = "waits for you: Claude said it, or you said it in other words"

_LABEL = re.compile(r"^(?:(?:user|claude|agent)(?: \([\d: -]{1,20}\))?: |tool (?=\[))")
_FOLDED = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)

_CLAUSE = re.compile(r"[,;.!?:\n，。；！？、：]+\s*")


@dataclass(frozen=True, slots=True)
class Borne:
    """The source of a memory, and why it is only a candidate; '' when it is stored."""

    source: str
    waits: str = ""


def borne_out(text: str, evidence: str, turns: Sequence[Utterance]) -> Borne | None:
    """
    Return the source of the memory *text* with its *evidence*; None when *turns* do not support it.

    One quote of the person is not enough for `extracted`: most of the memory must be in their own words,
    and so must each command, URL, path and setting. Else a page that Claude read could speak for the person.
    """
    memory_words = _MemoryWords(text)
    utterances = utterances_with(evidence, turns)
    confirmed = list(_confirmed(turns))
    grounds = [*utterances, *(claim for claim, assent in confirmed if assent in utterances)]
    if memory_words.share(map(own_part, grounds)) < HEARD or _denied(memory_words, turns):
        return None
    own = [own_part(utterance) for utterance in turns if utterance.speaker is Speaker.USER]
    claims = [claim for claim, _ in confirmed]
    if any(utterance.speaker is Speaker.USER for utterance in utterances):
        if memory_words.is_said(own, SAID) and not _turns_around(memory_words, own):
            return Borne(EXTRACTED)
    elif not any(utterance in claims for utterance in utterances):
        claims = []
    if claims and memory_words.is_said([*own, *(utterance.words for utterance in claims)], SAID):
        return Borne(ASSISTANT)
    return Borne(ASSISTANT, UNCONFIRMED) if memory_words.is_said(map(own_part, turns), HEARD) else None


def utterances_with(quote: str, spoken: Iterable[Utterance]) -> list[Utterance]:
    """
    Return the utterances of *spoken* that contain *quote*, in their order.

    Case, white space, and the kinds of quotation marks and dashes make no difference. A quote under
    8 characters is no evidence, and text that the person pasted does not count.
    """
    words = _LABEL.sub("", _fold(quote))
    if len(words) < SHORTEST_QUOTE:
        return []
    return [utterance for utterance in spoken if words in _fold(own_part(utterance))]


def own_part(utterance: Utterance) -> str:
    """Return the speaker's own words of an utterance: without what a person pasted from others."""
    return own_words(utterance.words) if utterance.speaker is Speaker.USER else utterance.words


class _MemoryWords:
    """The words of a memory, to be looked up in turns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms = telling(text)
        self.named = [word for word in telling_words(text) if word.named]

    def share(self, turns: Iterable[str]) -> float:
        """Return the share, 0 to 1, of the memory's words that *turns* have, compared by first letters."""
        whole = "\n".join(turns)
        turn_words = {*folded_words(whole), *identifier_parts(whole)}
        stems = {word[:STEM] for word in turn_words}
        shared = sum(word in turn_words or word[:STEM] in stems for word in self.terms)
        return shared / len(self.terms) if self.terms else 0.0

    def is_said(self, turns: Iterable[str], share: float) -> bool:
        """Tell whether *turns* have that *share* of the words, and each command, URL, path and setting."""
        texts = list(turns)
        whole = Text("\n".join(texts))
        return self.share(texts) >= share and all(word.stands_in(whole) for word in self.named)


def _confirmed(utterances: Sequence[Utterance]) -> Iterator[tuple[Utterance, Utterance]]:
    """Yield (what Claude said last, the turn in which the person confirmed it)."""
    for claim, turn in _answered(utterances):
        if assents(own_part(turn)):
            yield claim, turn


def _denied(memory_words: _MemoryWords, utterances: Sequence[Utterance]) -> bool:
    """Tell whether the memory is nearer to a claim of Claude that the person denied than to their words."""
    best = max(
        (
            memory_words.share([own_part(utterance)])
            for utterance in utterances
            if utterance.speaker is Speaker.USER
        ),
        default=0.0,
    )
    claims = [claim.words for claim, turn in _answered(utterances) if denies(own_part(turn))]
    return any(memory_words.share([claim]) >= max(best, HEARD) for claim in claims)


def _turns_around(memory_words: _MemoryWords, own: Iterable[str]) -> bool:
    """Tell whether the person's clause nearest to the memory denies something, and the memory does not."""
    clauses = [clause for turn in own for clause in _CLAUSE.split(turn) if clause.strip()]
    nearest = max(clauses, key=lambda clause: memory_words.share([clause]), default="")
    return negates(nearest) and not negates(memory_words.text)


def _answered(utterances: Sequence[Utterance]) -> Iterator[tuple[Utterance, Utterance]]:
    """Yield (what Claude said last, the person's next turn)."""
    last: Utterance | None = None
    for utterance in utterances:
        if utterance.speaker is Speaker.CLAUDE:
            last = utterance
        elif utterance.speaker is Speaker.USER:
            if last:
                yield last, utterance
            last = None


def _fold(text: str) -> str:
    return " ".join(text.casefold().translate(_FOLDED).split())
