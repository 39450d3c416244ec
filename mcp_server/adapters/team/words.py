"""
Search by words in a team's database: the memories that have most of the rarest terms.

It goes in two steps, so that a word that a million memories have costs no more than a rare one. The index of
words is asked for those that have two of the terms, and those that have a term that few have; they are
weighed roughly: from `ts_rank` of a term follows how often it is there. The best are weighed exactly
by `places.py`, from the places where the words stand.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcp_server.adapters.index.search.tokens import words_of_each
from mcp_server.adapters.team.connections import Connection
from mcp_server.adapters.team.derived import MOST_POSITIONS, fits, quoted
from mcp_server.adapters.team.filters import Condition
from mcp_server.adapters.team.statistics import Counted
from mcp_server.core.search import ranking
from mcp_server.core.search.matches import frequency_score
from mcp_server.core.text.words import query_terms, word_forms

MOST_ROWS = 5_000  # memories that are read for one question
ALONE = 1_000  # of these, so many at most because of one term alone
FEWEST = 200  # memories of which fewer are too few: then one more term alone is enough
WEIGHED = 80  # memories that are weighed exactly, at least; with more, no set is answered better
UNKNOWN = 8  # a word that is not known to be common is in so many times fewer memories than one that is

RANK_OF_ONE = 0.1 / 1.64493406685  # `ts_rank` of a word that stands once
# Of one that stands 1, 2, … times, in proportion to that: PostgreSQL adds up 1 / 1², 1 / 2², …
_RANKS = np.cumsum(1.0 / np.arange(1, MOST_POSITIONS + 1) ** 2)
_BETWEEN_RANKS = (_RANKS[1:] + _RANKS[:-1]) / 2
_ROUNDED = 1e-4  # of a rank: PostgreSQL adds up in single precision

Phrase = tuple[str, ...]
"""A form of a term as it is indexed: mostly one word."""
Rows = NDArray[np.int64]
Roughly = tuple[Rows, NDArray[np.float64], NDArray[np.float64]]
"""Memories, their lengths, and for each a row with the rank of each term in it."""


class _Asked(NamedTuple):
    """
    How a term is asked for: by a `tsquery`, which *measure* takes as well, in SQL.

    That times *scale* is the rank of the term in proportion to that of a word that stands once.
    """

    query: str
    measure: str
    scale: float


@dataclass(frozen=True, slots=True)
class Found:
    """What the first step found: the memories worth weighing, and what they are weighed by."""

    rows: Sequence[int]
    phrases: Mapping[str, tuple[Phrase, ...]]
    weights: Mapping[str, float]
    searched: int

    @property
    def words(self) -> list[str]:
        """Every word of a form of a term that counts."""
        forms = itertools.chain.from_iterable(self.phrases[term] for term in self.weights)
        return [*dict.fromkeys(itertools.chain.from_iterable(forms))]


def find(
    db: Connection, text: str, condition: Condition, counted: Counted, searched: int, *, most: int
) -> Found:
    """
    Return what the words of *text* find among the *searched* memories that *condition* lets through.

    At most *most* memories are given, the best by a rough look.
    """
    forms = word_forms(query_terms(text), counted.languages)
    phrases = _existing(db, _phrases(forms), counted)
    guesses = {term: _guess(each, counted) for term, each in phrases.items()}
    telling = ranking.telling_terms(guesses)
    asked = {term: _asked(phrases[term]) for term in telling if phrases[term]}
    share = searched / max(1, counted.memories)
    among = {term: math.ceil(share * guesses[term]) for term in asked}
    rarest = sorted(asked, key=lambda term: among[term])
    reached = itertools.accumulate(among[term] for term in rarest)
    narrow = [term for term, rows in zip(rarest, reached, strict=True) if rows <= ALONE]
    others = rarest[len(narrow) :]
    wanted = (*(asked[term].query for term in narrow), two_of([asked[term].query for term in others]))
    found = _read(db, asked.values(), " | ".join(filter(None, wanted)), condition)
    whole = {*narrow} if len(found[0]) < MOST_ROWS else set()
    if len(found[0]) < FEWEST and others:
        found = _joined(found, _read(db, asked.values(), asked[others[0]].query, condition))
    rows, lengths, ranks = found
    times = occurrences(ranks)
    having = dict(zip(asked, np.count_nonzero(times, axis=0).tolist(), strict=True))
    frequencies = {term: having[term] if term in whole else max(having[term], among[term]) for term in having}
    weights = {term: ranking.idf(searched, frequencies.get(term, 0)) for term in telling}
    longer = lengths / max(1.0, counted.mean_length)
    telling_of = np.array([weights[term] for term in asked])
    scores = frequency_scores(times, longer[:, None]) ** ranking.DAMPING @ telling_of
    best = np.argsort(-scores, kind="stable")[:most]
    return Found(rows[best].tolist(), phrases, weights, searched)


def occurrences(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Return how often a term occurs in a memory, from the sum of the ranks of its forms.

    A rank is in proportion to that of a word that stands once. Where several forms are there, it is a guess.
    """
    forms = np.maximum(1.0, np.ceil(ranks / _RANKS[-1] - _ROUNDED))
    of_form = 1.0 + np.searchsorted(_BETWEEN_RANKS, ranks / forms)
    found: NDArray[np.float64] = np.where(ranks > 0.0, forms * of_form, 0.0)
    return found


def frequency_scores(times: NDArray[np.float64], longer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `matches.frequency_score` for many at once; *longer* is the length by the mean."""
    found: NDArray[np.float64] = frequency_score(times, longer, 1.0)  # type: ignore[arg-type, assignment]
    return found


def _phrases(forms: Mapping[str, Collection[str]]) -> dict[str, tuple[Phrase, ...]]:
    """Return term → its *forms* as they are indexed."""
    every = [*dict.fromkeys(itertools.chain.from_iterable(forms.values()))]
    split = dict(zip(every, words_of_each(every), strict=True))
    return {
        term: tuple(
            dict.fromkeys(split[form] for form in of_term if split[form] and all(map(fits, split[form])))
        )
        for term, of_term in forms.items()
    }


def _existing(
    db: Connection, phrases: Mapping[str, tuple[Phrase, ...]], counted: Counted
) -> dict[str, tuple[Phrase, ...]]:
    """Return *phrases* without those of which a word is in no memory: most forms of a term are in none."""
    every = dict.fromkeys(word for each in phrases.values() for phrase in each for word in phrase)
    # The index would read every memory that has a common word before it tells of the first.
    asked = [word for word in every if word not in counted.common]
    rows = db.execute(
        "SELECT word FROM unnest(%s::text[], %s::text[]) AS asked (word, query)"
        " WHERE EXISTS (SELECT FROM daybook.searched WHERE lexemes @@ query::tsquery)",
        (asked, [quoted(word) for word in asked]),
        binary=True,
    )
    there = {*(word for (word,) in rows), *(every.keys() & counted.common.keys())}
    return {
        term: tuple(phrase for phrase in each if there.issuperset(phrase)) for term, each in phrases.items()
    }


def _guess(phrases: Sequence[Phrase], counted: Counted) -> int:
    """Return in about how many memories a term is, 0 when none has it."""
    if not phrases:
        return 0
    unknown = counted.uncommon / UNKNOWN
    shares = [min(counted.common.get(word, 0.0) for word in phrase) for phrase in phrases]
    return max(1, int(counted.memories * max(sum(shares), unknown)))


def _asked(phrases: Sequence[Phrase]) -> _Asked:
    """Return how any of *phrases* is asked for."""
    written = (" <-> ".join(map(quoted, phrase)) for phrase in phrases)
    query = f"({' | '.join(f'({each})' for each in written)})"
    if any(len(phrase) > 1 for phrase in phrases):
        # `ts_rank` gives something to memories that have the words of a phrase elsewhere, or only some.
        return _Asked(query, "(lexemes @@ %s::tsquery)::integer::real", 1.0)
    return _Asked(query, "ts_rank(lexemes, %s::tsquery)", len(phrases) / RANK_OF_ONE)


def two_of(expressions: Sequence[str]) -> str:
    """
    Return a `tsquery` for any two of *expressions*, '' for fewer.

    It names each as seldom as can be, because the index is read once for each name: two stand in one half,
    or two in the other, or any in both.
    """
    if len(expressions) < 2:
        return ""
    halves = expressions[: len(expressions) // 2], expressions[len(expressions) // 2 :]
    across = " & ".join(f"({' | '.join(half)})" for half in halves)
    return " | ".join(filter(None, (across, *map(two_of, halves))))


def _read(db: Connection, asked: Collection[_Asked], wanted: str, condition: Condition) -> Roughly:
    """Return memories that have what is *wanted*, at most so many, with the ranks of all *asked* in each."""
    if not wanted:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros((0, len(asked)))
    measures = "".join(f", array_agg({each.measure})" for each in asked)
    row = db.execute(
        f"SELECT array_agg(memory), array_agg(length){measures} FROM (SELECT memory, length, lexemes"
        f" FROM daybook.searched WHERE lexemes @@ %s::tsquery AND {condition.sql} LIMIT %s) found",
        (*(each.query for each in asked), wanted, *condition.values, MOST_ROWS),
        binary=True,
    ).fetchone()
    rows, lengths, *of_terms = row or (None, None)
    if rows is None:
        return _read(db, asked, "", condition)
    ranks = np.array(of_terms, np.float64).T * [each.scale for each in asked]
    return np.array(rows, np.int64), np.array(lengths, np.float64), ranks


def _joined(found: Roughly, more: Roughly) -> Roughly:
    new = ~np.isin(more[0], found[0])
    rows, lengths, times = (np.concatenate((one, other[new])) for one, other in zip(found, more, strict=True))
    return rows, lengths, times
