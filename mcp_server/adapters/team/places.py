"""
The second step of a search by words in a team's database: scores from the places of the words.

Its memories are those of `words.find`; the formulas are in `core/search/matches.py`.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from mcp_server.adapters.team.connections import Connection, array
from mcp_server.adapters.team.statistics import Counted
from mcp_server.adapters.team.words import Phrase, Shortlist
from mcp_server.core.search import ranking
from mcp_server.core.search.matches import Matches, added, best_passages, frequency_score, near, sums

Places = dict[int, dict[str, Sequence[int]]]
"""Text → word → its positions there."""
Starts = Mapping[Phrase, Mapping[int, Sequence[int]]]
"""Phrase → text → its positions there."""


def weigh(db: Connection, shortlist: Shortlist, counted: Counted) -> Matches:
    """Return the scores by words of the memories in *shortlist*."""
    places, lengths, _ = _places(db, _OF_MEMORIES, shortlist.words, shortlist.rows)
    starts = _starts(shortlist, places)
    by_term = _by_term(shortlist, starts, lengths, counted.mean_length)
    memories = sums(by_term, shortlist.weights)
    forms = {term: tuple(map(" ".join, shortlist.phrases[term])) for term in shortlist.weights}

    def together(first: Sequence[str], second: Sequence[str]) -> set[int]:
        first_phrases, second_phrases = (
            [tuple(form.split(" ")) for form in forms_of_term] for forms_of_term in (first, second)
        )
        return _together(starts, first_phrases, second_phrases)

    return Matches(
        memories=memories,
        near=near(memories, shortlist.weights, forms, together),
        weights=shortlist.weights,
        having={term: frozenset(rows) for term, rows in by_term.items()},
        forms=forms,
        searched=shortlist.searched,
    )


def terms_of(db: Connection, shortlist: Shortlist, memories: Collection[int]) -> dict[int, frozenset[str]]:
    """Return memory → the terms that it has, for *memories* that were found by meaning alone."""
    places, _, _ = _places(db, _OF_MEMORIES, shortlist.words, [*memories])
    starts = _starts(shortlist, places)
    return {
        memory: frozenset(
            term
            for term in shortlist.weights
            if any(memory in starts[phrase] for phrase in shortlist.phrases[term])
        )
        for memory in memories
    }


def matching_passages(
    db: Connection, shortlist: Shortlist, memories: Collection[int], counted: Counted
) -> dict[int, int]:
    """Return memory → its passage with most of the terms, for those of *memories* with several passages."""
    places, lengths, owners = _places(db, _OF_PASSAGES, shortlist.words, [*memories])
    by_term = _by_term(shortlist, _starts(shortlist, places), lengths, counted.passages_length)
    return best_passages(sums(by_term, shortlist.weights), owners)


def _places(
    db: Connection, query: str, words: Sequence[str], wanted: Sequence[int]
) -> tuple[Places, dict[int, int], dict[int, int]]:
    """Return text → word → its positions, text → its length, and text → memory, from the *query*."""
    places: Places = defaultdict(dict)
    lengths: dict[int, int] = {}
    memories: dict[int, int] = {}
    if not words or not wanted:
        return places, lengths, memories
    read = db.execute(query, (words, array(wanted)), binary=True).fetchall()
    for row, memory, length, word, positions in read:
        lengths[row], memories[row] = length, memory
        places[row][word] = positions
    return places, lengths, memories


def _starts(shortlist: Shortlist, places: Places) -> Starts:
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

    return {phrase: of_phrase(phrase) for term in shortlist.weights for phrase in shortlist.phrases[term]}


def _by_term(
    shortlist: Shortlist, starts: Starts, lengths: Mapping[int, int], mean_length: float
) -> dict[str, Mapping[int, float]]:
    """Return term → text → how much it has of the term, the forms added up."""

    def of_phrase(phrase: Phrase) -> dict[int, float]:
        return {
            row: frequency_score(len(positions), lengths[row], mean_length)
            for row, positions in starts[phrase].items()
        }

    return {term: added(map(of_phrase, shortlist.phrases[term])) for term in shortlist.weights}


def _together(starts: Starts, first: Sequence[Phrase], second: Sequence[Phrase]) -> set[int]:
    """Return the texts that have two terms near each other, each in a form; a form of both counts as two."""
    texts = {row for phrase in first if phrase in second for row in starts[phrase]}
    for phrase in first:
        for other in second:
            if phrase in second or other in first:
                continue
            for row in starts[phrase].keys() & starts[other].keys() - texts:
                if _near(starts[phrase][row], len(phrase), starts[other][row], len(other)):
                    texts.add(row)
    return texts


def _near(ones: Sequence[int], of_one: int, others: Sequence[int], of_other: int) -> bool:
    """Tell whether two phrases, so many words long, have few enough words between them anywhere."""
    return any(
        max(other - at - of_one, at - other - of_other) <= ranking.NEAR_WORDS
        for at in ones
        for other in others
    )


_PLACES = (
    ", t.length, of_words.lexeme, of_words.positions FROM {} t JOIN LATERAL unnest(t.lexemes) AS of_words"
    " ON of_words.lexeme = ANY(%s) WHERE t.memory = ANY(%s::bigint[])"
)
_OF_MEMORIES = "SELECT t.memory, t.memory" + _PLACES.format("daybook.searched")
_OF_PASSAGES = "SELECT t.row, t.memory" + _PLACES.format("daybook.passages")
