"""What raises a memory beyond its relevance: its tag, a phrase or a path was asked for, its time, newness."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from mcp_server.core.memory_parts import DAY
from mcp_server.core.search import ranking
from mcp_server.core.search.query import Query, Sort
from mcp_server.core.text.time_words import TimeSpan, span_of
from mcp_server.core.text.words import query_terms, spelled, words

Boosts = tuple[tuple[str, float], ...]


def quoted_phrases(text: str) -> list[str]:
    """Return what stands between double quotes in *text*, case folded."""
    return [phrase.casefold() for phrase in re.findall(r'"([^"]{2,})"', text)]


_NOW = re.compile(
    # "The current tab" and "Now add a test" ask for no date.
    r"\b(?:what|which)(?:'s|\s+\w+)?\s+(?:the |our |my )?(?:current|latest|newest|most recent)\b"
    r"|\b(?:currently|nowadays|these days|at the moment|as of now)\b"
    r"|(?<=\w )now\s*(?:[?.,;]|$)",
    re.IGNORECASE,
)


def asks_about_now(text: str) -> bool:
    """Tell whether *text* asks in English how something is at present, not how it was or in general."""
    return bool(_NOW.search(text))


_PATH = re.compile(  # it begins where a word does: from each letter on, a long word took its length squared
    r"(?<![\w.-])[\w.-]*(?:/[\w.-]+)+|(?<![\w-])[\w-]+\.[a-z][a-z0-9]{0,4}\b"
)


def named_paths(text: str) -> list[str]:
    """Return what looks like a file path in *text*."""
    return [path.lstrip("-") for path in _PATH.findall(text)]


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What of a question may raise a memory; `now` is in Unix seconds."""

    words: frozenset[str]
    phrases: Sequence[str]
    paths: Sequence[str]
    span: TimeSpan | None
    about_now: bool
    now: float

    @classmethod
    def of(cls, query: Query, text: str, *, clock: datetime, now: float) -> Self:
        """Return what *text* of *query* asks for; *clock* is the time by which "last week" is meant."""
        asked_words = (word.strip(",;:!?") for word in text.lower().split())
        return cls(
            words=frozenset((*query_terms(text), *words(spelled(text)), *asked_words)),
            phrases=quoted_phrases(text),
            paths=named_paths(text),
            span=span_of(text, clock),
            about_now=query.sort is Sort.COMPOSITE and not query.filter.as_of and asks_about_now(text),
            now=now,
        )

    @property
    def most(self) -> float:
        """The largest factor that `boosts` of any memory can come to."""
        factors = (
            (ranking.NOW_BOOST, self.about_now),
            (ranking.TAG_BOOST, self.words),
            (ranking.PHRASE_BOOST, self.phrases),
            (ranking.PATH_BOOST, self.paths),
            (ranking.TIME_BOOST, self.span),
        )
        return math.prod(factor for factor, asked in factors if asked)

    def boosts(
        self,
        *,
        title: str,
        text: str,
        tags: Sequence[str],
        touches: Sequence[str],
        created: datetime,
        updated: datetime,
    ) -> Boosts:
        """Return the names and factors of what speaks for a memory."""
        age = (self.now - updated.timestamp()) / DAY
        return (
            *([("now", ranking.now_boost(ranking.recency(age)))] if self.about_now else []),
            *([("tag", ranking.TAG_BOOST)] if self.words.intersection(map(_as_asked, tags)) else []),
            *([("phrase", ranking.PHRASE_BOOST)] if self._has_phrase(title, text) else []),
            *([("path", ranking.PATH_BOOST)] if self._touches(touches) else []),
            *([("time", ranking.TIME_BOOST)] if self.span and self.span.meets(created, updated) else []),
        )

    def _has_phrase(self, title: str, text: str) -> bool:
        whole_text = f"{title}\n{text}".casefold() if self.phrases else ""
        return any(phrase in whole_text for phrase in self.phrases)

    def _touches(self, touches: Sequence[str]) -> bool:
        return any(touched.partition(":")[0].endswith(path) for touched in touches for path in self.paths)


def _as_asked(tag: str) -> str:
    """Return *tag* as a question has it among its words: `c#` as "csharp"."""
    return spelled(tag).strip()
