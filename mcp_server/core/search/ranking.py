"""
How memories are ranked: every weight and every formula, in one place.

The weights were checked with `benchmarks/retrieval.py` and `benchmarks/composite.py`; change one only with
a measurement. What stands beside some of them is what nDCG@10 loses without that part.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

LEXICAL_MEMORY = 0.25
LEXICAL_NEAR = 0.1  # .010 on code, .002 in the mean of the five sets
MEANING = 0.6
CLOSE_MEANING = 0.5  # the same for the best candidates, whose tokens are compared as well
MAXSIM = 0.5  # of those
MEAN_SHARE = 0.3  # of the weight of meaning and of tokens: what the mean of the best passages decides: .002
BEST_PASSAGES = 3  # passages of that mean, or as many as there are

DAMPING = 0.7  # power of what BM25 makes of a term's frequency and the text's length: .003
# Share of the query's weight in the best memory from which on words count fully: .004 of recall@5 on three
# sets that had chosen nothing.
ENOUGH_COVERAGE = 0.6
NEAR_WORDS = 3  # words that may stand between two that are near each other

TAG_BOOST = 1.15
PHRASE_BOOST = 1.10
PATH_BOOST = 1.10
TIME_BOOST = 1.25
ECHO_LEAST = 0.5  # for a conversation that asks the same as the question, and answers nothing
BEARING = 0.6  # of how far a memory bears on a prompt, added to its score; .4 and .8 do about as well
NOW_BOOST = 1.45  # for a memory updated this moment, in a question about how things are now

# How much full recency, usage, trust and helpfulness add to a relevance of 1: they break ties.
RECENCY_WEIGHT = 0.02
USAGE_WEIGHT = 0.02
TRUST_WEIGHT = 0.02
HELPFULNESS_WEIGHT = 0.01
HALF_RECENT = 30.0  # days after which recency is one half
FULL_USAGE = 20  # accesses that count as full usage

EXPANSION_DECAY = 0.8
EXPANSION_MOST = 3  # linked memories taken in for each hit

FULL_SURPRISE = 8.0  # nats; at most one of 3,000 stores has such words together by chance
FEWEST_DOCUMENTS = 100  # memories from which on frequencies are taken at their word
MOST_TERMS = 24  # the rarest terms that are searched at all: a long prompt has more than it needs
MOST_ROWS = 15_000  # memories with a term that are read for one question: about 20 ms
MOST_PART_ROWS = 7_500  # the same for all parts of a prompt together, each of which is embedded as well
FEWEST_TERMS = 2  # the rarest terms that are always searched


class Cosines(NamedTuple):
    """
    How near a memory is to a query: its best cosine, the mean of the best three, and those passages.

    The number of a passage is 0 where the memory has fewer than three.
    """

    best: float
    mean: float
    passages: Sequence[int]


@dataclass(frozen=True, slots=True)
class Score:
    """
    Every component of one memory's score.

    `words` is BM25 in proportion to the best of the query, `near` is the share of the query's neighbouring
    words that stand near each other in the memory, `cosine`
    (of the best passage) and `mean` (of the best three) are None where meaning was not searched, `maxsim`
    (how well the query's tokens are answered) where there is no model that tells of tokens,
    `coverage` is the share of the query's telling words that the memory has.
    """

    words: float
    near: float
    cosine: float | None
    mean: float | None
    maxsim: float | None
    coverage: float
    relevance: float
    boosts: tuple[tuple[str, float], ...]
    recency: float
    usage: float
    trust: float
    helpfulness: float
    total: float


def normalised(scores: Mapping[int, float], coverage: float = 1.0) -> dict[int, float]:
    """
    Return BM25 *scores* (larger is better) so that the largest is 1.

    The largest is less than 1 when even the best memory has little *coverage*: it is then a poor match.
    """
    top = max(scores.values(), default=0.0)
    if top <= 0:
        return dict.fromkeys(scores, 0.0)
    largest = min(1.0, coverage / ENOUGH_COVERAGE)
    return {key: largest * score / top for key, score in scores.items()}


def relevance(
    *,
    words: float,
    near: float,
    cosine: float | None,
    mean: float | None = None,
    maxsim: float | None = None,
) -> float:
    """
    Return the fused relevance, 0 to 1; without a cosine the lexical part is rescaled to 1.

    *cosine* is that of the best passage, *mean* that of the best three; None for the same. *maxsim* is None
    for what was not looked at closely.
    """
    lexical = LEXICAL_MEMORY * words + LEXICAL_NEAR * near
    full = LEXICAL_MEMORY + LEXICAL_NEAR
    if cosine is None:
        return lexical / full
    meaning = max(0.0, cosine if mean is None else of_passages(cosine, mean))
    if maxsim is None:
        return lexical + MEANING * meaning
    return (lexical + CLOSE_MEANING * meaning + MAXSIM * max(0.0, maxsim)) / (full + CLOSE_MEANING + MAXSIM)


def of_passages(best: float, mean: float) -> float:
    """Return what a memory's passages come to, given the *best* and the *mean* of those that count."""
    return (1.0 - MEAN_SHARE) * best + MEAN_SHARE * mean


def boosted(value: float, boosts: Sequence[tuple[str, float]]) -> float:
    """Return *value* multiplied by every boost."""
    return value * math.prod(factor for _, factor in boosts)


def recency(age: float) -> float:
    """
    Return 1 for a memory updated now, 0.5 after 30 days, 0.25 after 90; *age* in days.

    It falls slower than by halves, so that of two old memories the newer one is still told apart.
    """
    return 1.0 / (1.0 + max(0.0, age) / HALF_RECENT)


def now_boost(recency: float) -> float:
    """Return the factor for a memory of that *recency* in a question about how things are now."""
    return 1.0 + (NOW_BOOST - 1.0) * recency


def echo_factor(share: float, telling_share: float) -> float:
    """
    Return the factor for a conversation that asks the same, and answers that *share* of the question's words.

    *telling_share* is the share of its text that does more than ask: a long talk in which the question also
    stands is hardly weakened. Without it, whole chats lose .028 of nDCG@10 (`benchmarks/results/finding.md`,
    "Echoes").
    """
    return ECHO_LEAST + (1.0 - ECHO_LEAST) * max(share, telling_share)


def usage(accesses: int) -> float:
    """Return the share of full usage, 0 to 1."""
    return min(1.0, max(0, accesses) / FULL_USAGE)


def composite(*, relevance: float, recency: float, usage: float, trust: float, helpfulness: float) -> float:
    """
    Return *relevance* raised by what else speaks for a memory, 0 to about 1.

    It is a factor between 1 and 1.07, divided by its largest: what is added to the relevance instead puts
    what is new before what was asked for (`benchmarks/composite.py`).
    """
    weights = RECENCY_WEIGHT + USAGE_WEIGHT + TRUST_WEIGHT + HELPFULNESS_WEIGHT
    raised = (
        RECENCY_WEIGHT * recency
        + USAGE_WEIGHT * usage
        + TRUST_WEIGHT * trust
        + HELPFULNESS_WEIGHT * helpfulness
    )
    return relevance * (1.0 + raised) / (1.0 + weights)


def idf(documents: int, frequency: int) -> float:
    """
    Return how telling a term is that occurs in *frequency* of *documents* (BM25's formula, above 0).

    A small store says little about how common a word is, so it counts as one of 100 memories; a term
    that occurs nowhere tells no more than one that occurs once.
    """
    with_term = max(1, frequency)
    all_of_them = max(documents, FEWEST_DOCUMENTS)
    return math.log(1.0 + (all_of_them - with_term + 0.5) / (with_term + 0.5))


def rows_for_each(questions: int) -> int:
    """Return how many memories with a term may be read for each of the *questions* that are asked at once."""
    return MOST_ROWS if questions == 1 else MOST_PART_ROWS // questions


def telling_terms(frequencies: Mapping[str, int], *, most_rows: int = MOST_ROWS) -> list[str]:
    """
    Return the terms worth searching, in the order given; *frequencies* tells in how many memories each is.

    Of a long question the 24 rarest are kept, in a large store only those of which at most *most_rows* are
    read together: the commonest terms cost most of the time and decide next to nothing. The two rarest are
    always searched, each in the newest *most_rows* that have it. Terms that no memory has are kept and do
    not count towards the 24: they cost nothing, and show how much of the question is answered.
    """
    existing_terms = (term for term, rows in frequencies.items() if rows)
    rarest = sorted(existing_terms, key=lambda term: frequencies[term])[:MOST_TERMS]
    rows_read = itertools.accumulate(frequencies[term] for term in rarest)
    chosen_terms = {term for term, rows in frequencies.items() if not rows}
    chosen_terms.update(rarest[:FEWEST_TERMS])
    chosen_terms.update(term for term, rows in zip(rarest, rows_read, strict=True) if rows <= most_rows)
    return [term for term in frequencies if term in chosen_terms]


def coverage(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the share of the query's weight that *terms* carry, 0 to 1."""
    total = sum(weights.values())
    return sum(weights[term] for term in terms if term in weights) / total if total > 0 else 0.0


def surprise(terms: frozenset[str], weights: Mapping[str, float], searched: int) -> float:
    """
    Return how unlikely it is that one of the *searched* memories has *terms* by chance, 0 to 1.

    In nats that is the sum of their weights less the logarithm of how many memories had the chance.
    """
    every = sum(weights[term] for term in terms if term in weights)
    return min(1.0, max(0.0, every - math.log(max(searched, FEWEST_DOCUMENTS))) / FULL_SURPRISE)
