"""
Search by words in a team's database: the memories that have most of the rarest terms.

The search has two steps, so that a word in a million memories costs no more than a rare one. The first asks
the index of words for memories that have two of the terms, or one that is rare, and weighs them roughly: from
`ts_rank` of a term follows how often it occurs. The second, `places.py`, weighs the best of these exactly, by
the places of the words.
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
ALONE = 1_000  # of these, at most this many because of one term alone
FEWEST = 200  # memories; with fewer, those that have only the next rarest term are read, too
WEIGHED = 80  # least number of memories that are weighed exactly; more of them answered no set better
# A word that is not known to be common is taken to be this many times rarer than the rarest that is.
UNKNOWN = 8

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
    How the database is asked for a term: a `tsquery`, and *measure*, an SQL expression that takes it as well.

    The measure times *scale* is the rank of the term, 1 for a word that occurs once.
    """

    query: str
    measure: str
    scale: float


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The result of the first step: the memories worth weighing, and what they are weighed by."""

    rows: Sequence[int]
    phrases: Mapping[str, tuple[Phrase, ...]]
    weights: Mapping[str, float]
    searched: int

    @property
    def words(self) -> list[str]:
        """All words of the forms of the terms that count."""
        forms = itertools.chain.from_iterable(self.phrases[term] for term in self.weights)
        return [*dict.fromkeys(itertools.chain.from_iterable(forms))]


def find(
    db: Connection, text: str, condition: Condition, counted: Counted, searched: int, *, most: int
) -> Shortlist:
    """
    Return the memories with the words of *text*, among the *searched* ones that *condition* lets through.

    They are the best by a rough measure, at most *most*.
    """
    forms = word_forms(query_terms(text), counted.languages)
    phrases = _existing(db, _phrases(forms), counted)
    guesses = {term: _guess(forms_of, counted) for term, forms_of in phrases.items()}
    telling = ranking.telling_terms(guesses)
    terms_asked = {term: _asked(phrases[term]) for term in telling if phrases[term]}
    share = searched / max(1, counted.memories)
    among = {term: math.ceil(share * guesses[term]) for term in terms_asked}
    rarest = sorted(terms_asked, key=lambda term: among[term])
    reached = itertools.accumulate(among[term] for term in rarest)
    narrow = [term for term, rows in zip(rarest, reached, strict=True) if rows <= ALONE]
    others = rarest[len(narrow) :]
    wanted = (
        *(terms_asked[term].query for term in narrow),
        two_of([terms_asked[term].query for term in others]),
    )
    roughly = _read(db, terms_asked.values(), " | ".join(filter(None, wanted)), condition)
    whole = {*narrow} if len(roughly[0]) < MOST_ROWS else set()
    if len(roughly[0]) < FEWEST and others:
        roughly = _joined(roughly, _read(db, terms_asked.values(), terms_asked[others[0]].query, condition))
    rows, lengths, ranks = roughly
    times = occurrences(ranks)
    having = dict(zip(terms_asked, np.count_nonzero(times, axis=0).tolist(), strict=True))
    frequencies = {term: having[term] if term in whole else max(having[term], among[term]) for term in having}
    weights = {term: ranking.idf(searched, frequencies.get(term, 0)) for term in telling}
    longer = lengths / max(1.0, counted.mean_length)
    telling_of = np.array([weights[term] for term in terms_asked])
    scores = frequency_scores(times, longer[:, None]) ** ranking.DAMPING @ telling_of
    best = np.argsort(-scores, kind="stable")[:most]
    return Shortlist(rows[best].tolist(), phrases, weights, searched)


def occurrences(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Return how often a term occurs in a memory, from the sum of the ranks of its forms.

    A rank of 1 is that of a word that occurs once. With several forms the result is a guess.
    """
    forms = np.maximum(1.0, np.ceil(ranks / _RANKS[-1] - _ROUNDED))
    of_form = 1.0 + np.searchsorted(_BETWEEN_RANKS, ranks / forms)
    counts: NDArray[np.float64] = np.where(ranks > 0.0, forms * of_form, 0.0)
    return counts


def frequency_scores(times: NDArray[np.float64], longer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `matches.frequency_score` for many at once; *longer* is each length divided by the mean."""
    scores: NDArray[np.float64] = frequency_score(times, longer, 1.0)  # type: ignore[arg-type, assignment]
    return scores


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
    """Return *phrases* without those with a word that no memory has; that is true of most forms of a term."""
    every = dict.fromkeys(word for of_term in phrases.values() for phrase in of_term for word in phrase)
    # For a common word, the index would read all memories that have it before it returns one.
    uncommon = [word for word in every if word not in counted.common]
    rows = db.execute(
        "SELECT word FROM unnest(%s::text[], %s::text[]) AS asked (word, query)"
        " WHERE EXISTS (SELECT FROM daybook.searched WHERE lexemes @@ query::tsquery)",
        (uncommon, [quoted(word) for word in uncommon]),
        binary=True,
    )
    existing = {*(word for (word,) in rows), *(every.keys() & counted.common.keys())}
    return {
        term: tuple(phrase for phrase in of_term if existing.issuperset(phrase))
        for term, of_term in phrases.items()
    }


def _guess(phrases: Sequence[Phrase], counted: Counted) -> int:
    """Return in about how many memories a term is, 0 when none has it."""
    if not phrases:
        return 0
    unknown = counted.uncommon / UNKNOWN
    shares = [min(counted.common.get(word, 0.0) for word in phrase) for phrase in phrases]
    return max(1, int(counted.memories * max(sum(shares), unknown)))


def _asked(phrases: Sequence[Phrase]) -> _Asked:
    """Return how the database is asked for any of *phrases*."""
    written = (" <-> ".join(map(quoted, phrase)) for phrase in phrases)
    query = f"({' | '.join(f'({expression})' for expression in written)})"
    if any(len(phrase) > 1 for phrase in phrases):
        # `ts_rank` gives something to memories that have the words of a phrase elsewhere, or only some.
        return _Asked(query, "(lexemes @@ %s::tsquery)::integer::real", 1.0)
    return _Asked(query, "ts_rank(lexemes, %s::tsquery)", len(phrases) / RANK_OF_ONE)


def two_of(expressions: Sequence[str]) -> str:
    """
    Return a `tsquery` for any two of *expressions*, '' for fewer.

    It names each as few times as possible, because the index is read once for each name: two in the first
    half, or two in the second, or one in each.
    """
    if len(expressions) < 2:
        return ""
    halves = expressions[: len(expressions) // 2], expressions[len(expressions) // 2 :]
    across = " & ".join(f"({' | '.join(half)})" for half in halves)
    return " | ".join(filter(None, (across, *map(two_of, halves))))


def _read(db: Connection, terms: Collection[_Asked], wanted: str, condition: Condition) -> Roughly:
    """Return at most MOST_ROWS memories that match the `tsquery` *wanted*, with the ranks of all *terms*."""
    if not wanted:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros((0, len(terms)))
    measures = "".join(f", array_agg({term.measure})" for term in terms)
    row = db.execute(
        f"SELECT array_agg(memory), array_agg(length){measures} FROM (SELECT memory, length, lexemes"
        f" FROM daybook.searched WHERE lexemes @@ %s::tsquery AND {condition.sql} LIMIT %s) found",
        (*(term.query for term in terms), wanted, *condition.values, MOST_ROWS),
        binary=True,
    ).fetchone()
    rows, lengths, *of_terms = row or (None, None)
    if rows is None:
        return _read(db, terms, "", condition)
    ranks = np.array(of_terms, np.float64).T * [term.scale for term in terms]
    return np.array(rows, np.int64), np.array(lengths, np.float64), ranks


def _joined(first: Roughly, more: Roughly) -> Roughly:
    new = ~np.isin(more[0], first[0])
    rows, lengths, times = (
        np.concatenate((before, other[new])) for before, other in zip(first, more, strict=True)
    )
    return rows, lengths, times
