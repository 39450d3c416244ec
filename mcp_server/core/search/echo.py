"""
Echoes: sentences of a conversation that only ask the present question, and so are no evidence for an answer.

A conversation in which a question was asked has its words, so it is more similar to the same question asked
again than any answer is. The rules know English, and the question marks of all languages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_server.core.search.confidence import ASKING
from mcp_server.core.text.excerpt import sentences
from mcp_server.core.text.languages import STEMMED
from mcp_server.core.text.words import (
    STOP_WORDS,
    folded,
    index_parts,
    query_terms,
    spelled,
    word_forms,
    words,
)

REPEATED = 0.6  # share of the words of the shorter of two questions, from which on they ask the same

_SPEAKERS = frozenset({"user", "human", "claude", "assistant", "agent"})
_TURN = re.compile(r"^(?P<speaker>[^\n()]{1,80}) \([^\n()]{1,60}\): ", re.MULTILINE)  # see `passages.py`
_QUESTION = re.compile(r"[?？][\s\"'”’)\]]*\Z")
_ASKS = re.compile(
    r"\W*(?:(?:please|can you|could you|would you)\s+)?"
    r"(?:tell|show|explain|remind|find|check|look|search|recall|list|say|what|when|where|which|who|why|how)\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:\b(?:no|not|never|none|nothing|cannot|nobody|unable)|n['’]t)\b.{0,60}?"
    r"\b(?:know|known|knows|sure|certain|clear|find|found|tell|say|says|said|see|answer|information|idea|record"
    r"|recorded|records|remember|remembered|memory|memories|mention|mentions|mentioned|stored)\b"
    r"|\b(?:unknown|unclear|unsure)\b",
    re.IGNORECASE,
)
_FILLING = ASKING | frozenset(
    """
    afraid answer anything ask asked asking certain check clear far find found idea information look memories
    mention mentioned mentions moment nobody nothing please record recorded records recall remind search see
    sorry stored sure unable unclear unfortunately unknown unsure yet
    """.split()
)
_ENDINGS = ("ing", "ed", "es", "s", "e")


@dataclass(frozen=True, slots=True)
class EchoedQuestion:
    """A question as it is looked for among what was said: its words in order, and term → its roots."""

    words: tuple[str, ...]
    terms: Mapping[str, frozenset[str]]

    @property
    def roots(self) -> frozenset[str]:
        return frozenset().union(*self.terms.values())

    def answered_by(self, text: str) -> frozenset[str]:
        """Return which terms of the question occur in *text*, in any form."""
        text_roots = {root(folded(word)) for word in words(spelled(text).replace("_", " "))}
        text_roots.update(map(root, index_parts(text)))
        return frozenset(term for term, roots in self.terms.items() if not roots.isdisjoint(text_roots))


def echoed_question(question: str) -> EchoedQuestion:
    """Return *question* as it is looked for in conversations."""
    forms = word_forms(query_terms(question), STEMMED)
    return EchoedQuestion(
        tuple(words(question)),
        {term: frozenset(map(root, spellings)) for term, spellings in forms.items()},
    )


def without_echo(passage: str, question: EchoedQuestion) -> str:
    """
    Return a *passage* of a conversation without the sentences that only ask the *question*.

    Removed are questions that repeat it, from the person or Claude, and sentences that ask for it in another
    form, or say that it is not known, and add nothing. Without such sentences the text stays the same.
    """
    turns = [*_TURN.finditer(passage)]
    if not turns:
        return passage
    roots = question.roots
    pieces = [passage[: turns[0].start()]]
    ends = [*(turn.start() for turn in turns[1:]), len(passage)]
    for turn, end in zip(turns, ends, strict=True):
        whole = passage[turn.end() : end]
        text_left = whole
        if turn["speaker"].casefold() in _SPEAKERS:
            text_left = "".join(
                sentence for sentence in sentences(whole) if not _only_asks(sentence, question, roots)
            )
        if text_left.strip():
            pieces.append(turn[0] + (text_left if text_left == whole else f"{text_left.strip()}\n"))
    remaining = "".join(pieces)
    return passage if remaining == passage else remaining.strip()


def root(word: str) -> str:
    """Return *word* without the ending of a plural or of a verb, roughly: enough to compare English words."""
    stem = next(
        (word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) >= len(end) + 3), word
    )
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls":
        stem = stem[:-1]  # running, stopped
    return f"{stem[:-1]}i" if stem.endswith("y") else stem


_FILLING_ROOTS = frozenset(map(root, _FILLING))


def is_question(sentence: str) -> bool:
    """Tell whether *sentence* ends with a question mark."""
    return bool(_QUESTION.search(sentence))


def _only_asks(sentence: str, question: EchoedQuestion, roots: frozenset[str]) -> bool:
    asks = is_question(sentence)
    if not (asks or _ASKS.match(sentence) or _UNKNOWN.search(sentence) or _repeats(sentence, question)):
        return False  # as most sentences, quicker than their words are looked at
    sentence_roots = (
        frozenset(root(term) for term in query_terms(sentence) if term not in STOP_WORDS) - _FILLING_ROOTS
    )
    if asks:
        return bool(sentence_roots & roots) and len(sentence_roots & roots) >= REPEATED * min(
            len(sentence_roots), len(question.terms)
        )
    return bool(sentence_roots) and sentence_roots <= roots


def _repeats(sentence: str, question: EchoedQuestion) -> bool:
    return tuple(words(sentence)) == question.words
