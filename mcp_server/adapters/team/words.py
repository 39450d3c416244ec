"""
Search by words in a team's database: the memories that have most of the rarest terms.

It goes in two steps, so that a word that a million memories have costs no more than a rare one. The rarest
terms, of so many memories at most, are looked up in the index of words, and what is found is weighed roughly:
from `ts_rank` of a term follows how often it is there. The best are weighed exactly, by the formulas of
`core/search/matches.py`, from the places where the words stand.
"""

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_server.adapters.index.search.tokens import tokens
from mcp_server.adapters.team.connections import Connection
from mcp_server.adapters.team.derived import fits, quoted
from mcp_server.adapters.team.filters import Condition
from mcp_server.adapters.team.statistics import Counted
from mcp_server.core.search import ranking
from mcp_server.core.search.matches import Matches, added, best_passages, frequency_score, near, sums
from mcp_server.core.text.words import query_terms, word_forms

MOST_ROWS = 5_000  # memories with any of the terms that are read for one question
CANDIDATES = 200  # memories, as in the index of one person
WEIGHED = 200  # memories that are weighed exactly
UNKNOWN = 8  # a word that is not known to be common is in so many times fewer memories than one that is

_RANK_OF_ONE = 0.1 / 1.64493406685  # `ts_rank` of a word that stands once

Phrase = tuple[str, ...]
"""A form of a term as it is indexed: mostly one word."""
Rows = NDArray[np.int64]
Roughly = tuple[Rows, NDArray[np.float64], NDArray[np.float64]]
"""Memories, their lengths, and for each a row with how often it has each term."""
Places = dict[int, dict[str, Sequence[int]]]
"""Text → word → where it stands there."""
Starts = Mapping[Phrase, Mapping[int, Sequence[int]]]
"""Phrase → text → where it stands there."""


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


def find(db: Connection, text: str, condition: Condition, counted: Counted, searched: int) -> Found:
    """Return what the words of *text* find among the *searched* memories that *condition* lets through."""
    forms = word_forms(query_terms(text), counted.languages)
    phrases = _existing(db, {term: _phrases(each) for term, each in forms.items()}, counted)
    guesses = {term: _guess(each, counted) for term, each in phrases.items()}
    telling = ranking.telling_terms(guesses, most_rows=MOST_ROWS)
    expressions = {term: _expression(phrases[term]) for term in telling if phrases[term]}
    rarest = sorted(expressions, key=lambda term: guesses[term])
    reached = itertools.accumulate(guesses[term] for term in rarest)
    narrow = [term for term, rows in zip(rarest, reached, strict=True) if rows <= MOST_ROWS]
    found = _read(db, expressions, " | ".join(expressions[term] for term in narrow), condition)
    whole = {*narrow} if len(found[0]) < MOST_ROWS else set()
    if len(found[0]) < CANDIDATES and len(narrow) < len(rarest):
        # None of the terms is rare: those that have two of the least common, then any with the first.
        first = rarest[: ranking.FEWEST_TERMS]
        for wanted in (" & ".join(expressions[term] for term in first), expressions[rarest[0]]):
            found = _joined(found, _read(db, expressions, wanted, condition))
            if len(found[0]) >= CANDIDATES:
                break
    rows, lengths, times = found
    having = dict(zip(expressions, np.count_nonzero(times, axis=0).tolist(), strict=True))
    frequencies = {
        term: having[term] if term in whole else max(having[term], guesses[term]) for term in having
    }
    weights = {term: ranking.idf(searched, frequencies.get(term, 0)) for term in telling}
    longer = lengths / max(1.0, counted.mean_length)
    telling_of = np.array([weights[term] for term in expressions])
    scores = frequency_scores(times, longer[:, None]) ** ranking.DAMPING @ telling_of
    best = np.argsort(-scores, kind="stable")[:WEIGHED]
    return Found(rows[best].tolist(), phrases, weights, searched)


def frequency_scores(times: NDArray[np.float64], longer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `matches.frequency_score` for many at once; *longer* is the length by the mean."""
    found: NDArray[np.float64] = frequency_score(times, longer, 1.0)  # type: ignore[arg-type, assignment]
    return found


def weigh(db: Connection, found: Found, counted: Counted) -> Matches:
    """Return what the words say of the memories found."""
    places, lengths = _places(db, _OF_MEMORIES, found.words, found.rows)
    starts = _starts(found, places)
    by_term = _by_term(found, starts, lengths, counted.mean_length)
    every = sums(by_term, found.weights)
    best = dict(sorted(every.items(), key=lambda item: (-item[1], -item[0]))[:CANDIDATES])
    forms = {term: tuple(map(" ".join, found.phrases[term])) for term in found.weights}

    def together(first: Sequence[str], second: Sequence[str]) -> set[int]:
        one, other = ([tuple(form.split(" ")) for form in each] for each in (first, second))
        return _together(starts, one, other)

    return Matches(
        memories=best,
        near=near(best, found.weights, forms, together),
        weights=found.weights,
        having={term: frozenset(rows) for term, rows in by_term.items()},
        forms=forms,
        searched=found.searched,
    )


def terms_of(db: Connection, found: Found, memories: Collection[int]) -> dict[int, frozenset[str]]:
    """Return memory → which of the terms it has, of *memories* that were found by meaning alone."""
    places, _ = _places(db, _OF_MEMORIES, found.words, [*memories])
    starts = _starts(found, places)
    return {
        memory: frozenset(
            term for term in found.weights if any(memory in starts[phrase] for phrase in found.phrases[term])
        )
        for memory in memories
    }


def matching_passages(
    db: Connection, found: Found, memories: Collection[int], counted: Counted
) -> dict[int, int]:
    """Return memory → its passage that has most of the terms, of *memories* with more than one."""
    places, lengths = _places(
        db,
        "SELECT t.row, t.length, of_words.lexeme, of_words.positions FROM daybook.passages t"
        " JOIN LATERAL unnest(t.lexemes) AS of_words ON of_words.lexeme = ANY(%s) WHERE t.memory = ANY(%s)",
        found.words,
        [*memories],
    )
    owners: dict[int, int] = dict(
        db.execute("SELECT row, memory FROM daybook.passages WHERE row = ANY(%s)", ([*places],)).fetchall()
    )
    by_term = _by_term(found, _starts(found, places), lengths, counted.passages_length)
    return best_passages(sums(by_term, found.weights), owners)


def _phrases(forms: Iterable[str]) -> tuple[Phrase, ...]:
    split = (tuple(word for word, _ in tokens([form])) for form in forms)
    return tuple(dict.fromkeys(phrase for phrase in split if phrase and all(map(fits, phrase))))


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


def _expression(phrases: Sequence[Phrase]) -> str:
    """Return a `tsquery` for any of *phrases*, in brackets."""
    written = (" <-> ".join(map(quoted, phrase)) for phrase in phrases)
    return f"({' | '.join(f'({each})' for each in written)})"


def _read(db: Connection, expressions: Mapping[str, str], wanted: str, condition: Condition) -> Roughly:
    """Return the memories that have what is *wanted*, at most so many, and how often each has each term."""
    if not wanted:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros((0, len(expressions)))
    ranks = "".join(", array_agg(ts_rank(lexemes, %s::tsquery))" for _ in expressions)
    row = db.execute(
        f"SELECT array_agg(memory), array_agg(length){ranks} FROM (SELECT memory, length, lexemes"
        f" FROM daybook.searched WHERE lexemes @@ %s::tsquery AND {condition.sql} LIMIT %s) found",
        (*expressions.values(), wanted, *condition.values, MOST_ROWS),
        binary=True,
    ).fetchone()
    rows, lengths, *of_terms = row or (None, None)
    if rows is None:
        return _read(db, expressions, "", condition)
    times = np.array(of_terms, np.float64).T / _RANK_OF_ONE
    return np.array(rows, np.int64), np.array(lengths, np.float64), times


def _joined(found: Roughly, more: Roughly) -> Roughly:
    new = ~np.isin(more[0], found[0])
    rows, lengths, times = (np.concatenate((one, other[new])) for one, other in zip(found, more, strict=True))
    return rows, lengths, times


def _places(
    db: Connection, query: str, words: Sequence[str], wanted: Sequence[int]
) -> tuple[Places, dict[int, int]]:
    """Return text → word → its places, and text → its length, of what the *query* reads."""
    places: Places = defaultdict(dict)
    lengths: dict[int, int] = {}
    for row, length, word, positions in db.execute(query, (words, wanted), binary=True):
        lengths[row] = length
        places[row][word] = positions
    return places, lengths


def _starts(found: Found, places: Places) -> Starts:
    """Return phrase → text → where it stands there."""

    def of_phrase(phrase: Phrase) -> dict[int, Sequence[int]]:
        first, *others = phrase
        by_text = {row: words[first] for row, words in places.items() if first in words}
        for n, word in enumerate(others, start=1):
            by_text = {
                row: [at for at in starts if at + n in places[row].get(word, ())]
                for row, starts in by_text.items()
            }
        return {row: starts for row, starts in by_text.items() if starts}

    return {phrase: of_phrase(phrase) for term in found.weights for phrase in found.phrases[term]}


def _by_term(
    found: Found, starts: Starts, lengths: Mapping[int, int], mean_length: float
) -> dict[str, Mapping[int, float]]:
    """Return term → text → how much it has of the term, the forms added up."""

    def of_phrase(phrase: Phrase) -> dict[int, float]:
        return {
            row: frequency_score(len(each), lengths[row], mean_length) for row, each in starts[phrase].items()
        }

    return {term: added(map(of_phrase, found.phrases[term])) for term in found.weights}


def _together(starts: Starts, first: Sequence[Phrase], second: Sequence[Phrase]) -> set[int]:
    """Return the texts that have two terms near each other, each in a form; one that both have is two."""
    found = {row for phrase in first if phrase in second for row in starts[phrase]}
    for one in first:
        for other in second:
            if one in second or other in first:
                continue
            for row in starts[one].keys() & starts[other].keys() - found:
                if _near(starts[one][row], len(one), starts[other][row], len(other)):
                    found.add(row)
    return found


def _near(ones: Sequence[int], of_one: int, others: Sequence[int], of_other: int) -> bool:
    """Tell whether two phrases, so many words long, have few enough words between them anywhere."""
    return any(
        max(other - at - of_one, at - other - of_other) <= ranking.NEAR_WORDS
        for at in ones
        for other in others
    )


_OF_MEMORIES = (
    "SELECT t.memory, t.length, of_words.lexeme, of_words.positions FROM daybook.searched t"
    " JOIN LATERAL unnest(t.lexemes) AS of_words ON of_words.lexeme = ANY(%s) WHERE t.memory = ANY(%s)"
)
