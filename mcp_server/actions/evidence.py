"""evidence: what speaks for each memory as an answer, by its words, its meaning and its tokens."""

import heapq
import itertools
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mcp_server.adapters.index import filters, lexical, selections
from mcp_server.core import ranking
from mcp_server.core.ports import Embedded
from mcp_server.core.query import Mode, Query
from mcp_server.core.ranking import Cosines
from mcp_server.core.words import query_terms
from mcp_server.store import Store

SHORTLIST = 15  # most relevant memories that are looked at closely at least: three times a usual answer
FEWEST_OF_PART = 10  # the same of each part of a query


_NOT_FOUND = (None, None, ())


class Evidence(NamedTuple):
    """
    What speaks for the memory *number*, its row in the index, as an answer to a question.

    `said` is what the words of the question found, `matching` is the memory's best passage by words and
    `passages` are the best by meaning; the rest is as in `ranking.Score`.
    """

    number: int
    said: lexical.Found
    words: float
    passage: float
    near: float
    matching: int
    cosine: float | None = None
    mean: float | None = None
    passages: Sequence[int] = ()
    maxsim: float | None = None

    @property
    def relevance(self) -> float:
        """The fused relevance, 0 to 1."""
        return ranking.relevance(
            words=self.words,
            passage=self.passage,
            near=self.near,
            cosine=self.cosine,
            mean=self.mean,
            maxsim=self.maxsim,
        )

    @property
    def best_passage(self) -> int:
        """The number of the passage that answers best, 0 when there is none."""
        return self.matching or (self.passages[0] if self.passages else 0)


def gather(
    store: Store, db: sqlite3.Connection, query: Query, text: str, vaults: Sequence[str]
) -> tuple[list[Evidence], str]:
    """
    Return what speaks for the most relevant memories, best first, and the model that was searched by.

    Of *vaults* that are three times what *query* asks for, at least 15. Its parts are asked one by one
    instead of *text*, and a memory counts by the one that it answers best.
    """
    meaning = store.meaning() if query.mode is not Mode.KEYWORD and text.strip() else None
    by_words = query.mode is not Mode.SEMANTIC or meaning is None
    asked = query.parts or (text,)
    coming = [meaning.embedding(each) for each in asked] if meaning else []
    found = lexical.search(db, [query_terms(each) for each in asked], query.filter, vaults)
    most = max(SHORTLIST, 3 * query.limit)
    if meaning is None:
        return _merged([_most_relevant(said, {}, by_words, most) for said in found], most), ""
    embedded = [each.result() for each in coming]
    among = None
    if not filters.is_simple(query.filter):
        among = selections.row_numbers(db, query.filter, vaults)
    cosines = meaning.matrix.search(
        db,
        [each.vector for each in embedded],
        vaults=vaults,
        kinds=query.filter.kinds,
        among=among,
        also=[said.memories if by_words else () for said in found],
    )
    share = max(FEWEST_OF_PART, most // len(asked))
    near = [
        _closely(db, meaning.matrix.model, question, _most_relevant(said, there, by_words, share))
        for question, said, there in zip(embedded, found, cosines, strict=True)
    ]
    return _merged(near, most), meaning.matrix.model if any(cosines) else ""


def _most_relevant(
    said: lexical.Found, cosines: Mapping[int, Cosines], by_words: bool, most: int
) -> list[Evidence]:
    """Return what speaks for the *most* relevant memories, by what one question *said* and meant."""
    coverage = said.best_coverage()
    words = ranking.normalised(said.memories if by_words else {}, coverage)
    parts = said.passages if by_words else {}
    passages = ranking.normalised({row: score for row, (score, _) in parts.items()}, coverage)
    near = said.near if by_words else {}

    def evidence(number: int) -> Evidence:
        best, mean, nearest = cosines.get(number, _NOT_FOUND)
        return Evidence(
            number,
            said,
            words.get(number, 0.0),
            passages.get(number, 0.0),
            near.get(number, 0.0),
            parts.get(number, (0.0, 0))[1],
            best,
            mean,
            nearest,
        )

    return _best(map(evidence, words.keys() | cosines.keys()), most)


def _closely(
    db: sqlite3.Connection, model: str, question: Embedded, evidence: Sequence[Evidence]
) -> list[Evidence]:
    """Return *evidence* with what the tokens of *question* say as well."""
    from mcp_server.adapters.index.maxsim import maxsim  # slow to import, and a search by words needs none

    found = maxsim(db, model, question, {each.number: each.passages for each in evidence})
    return [each._replace(maxsim=found.get(each.number)) for each in evidence]


def _best(evidence: Iterable[Evidence], most: int) -> list[Evidence]:
    return heapq.nlargest(most, evidence, key=lambda each: (each.relevance, each.number))


def _merged(of_each: Sequence[Sequence[Evidence]], most: int) -> list[Evidence]:
    """Return the most relevant of what each question found, every memory once."""
    ordered = _best(itertools.chain(*of_each), sum(map(len, of_each)))
    once = {each.number: each for each in reversed(ordered)}
    return _best(once.values(), most)
