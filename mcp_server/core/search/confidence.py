"""
The gate: how far a hit can be relied on, and whether anything is shown unasked.

It looks at absolute evidence (the cosine, how well the question's tokens are answered, the share of its
telling words that a memory has, whether they stand together as in the question, and how unlikely they are
by chance), never at a score divided by the best of the same answer: the best of bad hits is still bad.
A question that asks only for a tag of a memory, or for a number or a code that stands in it, is answered by
that memory; this does not hold for prompts.
The hits after one that passes need a little less evidence: it shows that the question has an answer here.
The thresholds were calibrated for minilm-l6-int8 on questions asked where their answer is and where
it is not; `benchmarks/results/prompts.md` has the figures. Those of other models are not measured, only
careful: what the words say alone holds for them too, and a cosine adds to it when it is high.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcp_server.core.embedding_models import CATALOGUE
from mcp_server.core.search.query import Bar, Confidence
from mcp_server.core.text.words import STOP_WORDS

ORDER = [Confidence.NONE, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH]

HIGH_EVIDENCE = 1.20  # the cosine plus the shares below, by the shipped model
MEDIUM_EVIDENCE = 0.93
MAXSIM_SHARE = 0.70  # how much it adds to the cosine that every token is answered
COVERAGE_SHARE = 0.10  # how much full coverage adds
TOGETHER_SHARE = 0.10  # how much it adds that all words stand together as in the question
SURPRISE_SHARE = 0.20  # how much it adds that chance cannot have brought the words there
HIGH_COVERAGE = 0.85  # where the words decide alone
MEDIUM_COVERAGE = 0.60
LEAST_COVERAGE_WORDS = 2  # one word found may be chance when it is not the whole question
PART_MARGIN = 0.03  # what is asked in parts has as many chances to be wrong: each needs that much more
COMPANIONS = 3  # first hits of an answer that need less evidence when any hit passes
COMPANION_MARGIN = 0.06  # how much less

LEAST_NAME = 4  # characters of a number or a code that names one thing

MOST_LEAD = 0.15  # in a prompt, a larger lead adds no more, so that a lone hit is not taken for a sure one
MOST_CALLING = 0.4  # the same for the kind of a prompt, either way: it does not tell which memory
LEAST_CHANCE = 0.5  # that a memory is of use, for its text to be shown with a prompt; that any is, to point
LEAST_COSINE = 0.15  # of each memory that is pointed to; else an order points to anything in a small store
POINTERS = 3  # first memories of an answer that a prompt may be pointed to

ASKING = frozenset(
    """
    described done explain explained give handled happen happens know known list mean means memories memory
    remember remembered say says show tell told use used using work working works
    """.split()
)
"""Words that ask about anything."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where the evidence by a model is believed; see the constants above."""

    high: float
    medium: float
    measured: bool = False


MEASURED = "minilm-l6-int8"
_CAREFUL = Thresholds(high=1.37, medium=1.10)  # as if its cosines were .1 too high
THRESHOLDS = {entry.model: _CAREFUL for entry in CATALOGUE}
THRESHOLDS[MEASURED] = Thresholds(HIGH_EVIDENCE, MEDIUM_EVIDENCE, measured=True)
# There are models that give 0.8 to two texts that have nothing in common.
UNKNOWN = Thresholds(high=1.82, medium=1.55)


EVIDENCE, WORDS, TEXT_SHOWN, TITLE_SHOWN, LIKENESS = (
    "evidence",
    "share of the words",
    "chance that the text is of use",
    "chance that any memory is of use",
    "likeness",
)
"""What the bars of the gate measure."""


class Weighed(NamedTuple):
    """How far a hit can be relied on, and the bars that it was measured by."""

    verdict: Confidence
    bars: tuple[Bar, ...] = ()


def weigh(
    *,
    cosine: float | None,
    maxsim: float | None = None,
    coverage: float,
    words_matched: int,
    words_asked: int,
    near: float = 0.0,
    surprise: float = 0.0,
    model: str = MEASURED,
    margin: float = 0.0,
) -> Weighed:
    """
    Return how far a hit can be relied on; its bars are those of medium confidence.

    *coverage* is the share of the question's weight found in the memory, *words_asked* counts the telling
    words of the question and *words_matched* those that the memory has, *near* is the share that stands
    together as in the question, *surprise* how unlikely the words are by chance, each 0 to 1; without a
    *cosine* the coverage decides alone, and without a *maxsim* the cosine stands for it. *model* is what made
    the vectors, *margin* by how much every threshold is higher.
    """
    if not words_asked:
        return Weighed(Confidence.NONE)  # signs alone, such as an emoji, which a model knows as unknown
    enough = words_matched >= min(LEAST_COVERAGE_WORDS, words_asked)
    covered = coverage - margin if enough else 0.0
    by_words = Weighed(_by_words(covered), (Bar(WORDS, covered, MEDIUM_COVERAGE),))
    if cosine is None:
        return by_words
    limits = THRESHOLDS.get(model, UNKNOWN)
    by_meaning = cosine + MAXSIM_SHARE * (cosine if maxsim is None else maxsim)
    evidence_of_words = COVERAGE_SHARE * coverage + SURPRISE_SHARE * surprise if enough else 0.0
    evidence = by_meaning + evidence_of_words + TOGETHER_SHARE * near - margin
    bars = (Bar(EVIDENCE, evidence, limits.medium), *(() if limits.measured else by_words.bars))
    if evidence >= limits.high:
        return Weighed(Confidence.HIGH, bars)
    verdict = Confidence.MEDIUM if evidence >= limits.medium else Confidence.NONE
    return Weighed(verdict if limits.measured else highest((verdict, by_words.verdict)), bars)


def highest(levels: Iterable[Confidence]) -> Confidence:
    """Return the highest of *levels*, NONE without any."""
    return max(levels, key=ORDER.index, default=Confidence.NONE)


class PromptEvidence(NamedTuple):
    """
    The evidence that a prompt calls for one memory, as in `confidence`; it ranks by its *score*.

    It is *sure* when it would answer a question with high confidence.
    """

    score: float
    cosine: float | None
    maxsim: float | None
    sure: bool = False


class PromptFeatures(NamedTuple):
    """The same as numbers to be weighted: *lead* is the score minus the best score of another memory."""

    calling: float
    maxsim: float
    cosine: float
    lead: float


class Weights(NamedTuple):
    """How much each piece of evidence for a memory adds to the logarithm of its odds."""

    calling: float
    level: float
    maxsim: float = 0.0
    cosine: float = 0.0
    lead: float = 0.0

    def chance(self, features: PromptFeatures) -> float:
        """Return the probability, 0 to 1, that the evidence *features* is right."""
        odds = self.level + sum(getattr(self, name) * number for name, number in features._asdict().items())
        return 1.0 / (1.0 + math.exp(-odds))


# Fitted to 119 projects by `benchmarks/prompt_gate.py`, for the shipped model.
TEXT = Weights(calling=4.06, level=-4.15, maxsim=3.42, lead=11.13)
POINTER = Weights(calling=6.66, level=-1.23, cosine=2.73)


def in_prompt(
    memories: Sequence[PromptEvidence], calling: float, text: Weights = TEXT, pointer: Weights = POINTER
) -> list[Weighed]:
    """
    Return how far each of *memories*, best first, is what a prompt calls for, by the shipped model.

    HIGH and MEDIUM are for its text and LOW for a pointer to it; *calling* is what `adapters.kinds` says
    of the prompt. A text needs evidence that this memory concerns the prompt, a pointer that any memory
    does; when a text is shown, no pointers are.
    """
    features_of_memories = features_of(memories, calling)
    chances = [Bar(TEXT_SHOWN, text.chance(features), LEAST_CHANCE) for features in features_of_memories]
    verdicts = [Confidence.MEDIUM if chance.missing <= 0 else Confidence.NONE for chance in chances]
    verdicts = [
        Confidence.HIGH if memory.sure else verdict
        for memory, verdict in zip(memories, verdicts, strict=True)
    ]
    weighed = [Weighed(verdict, (bar,)) for verdict, bar in zip(verdicts, chances, strict=True)]
    if {*verdicts} != {Confidence.NONE}:
        return weighed
    any_of_use = Bar(TITLE_SHOWN, pointer.chance(features_of_memories[0]), LEAST_CHANCE)
    for place, features in enumerate(features_of_memories[:POINTERS]):
        bars = (chances[place], any_of_use, Bar(LIKENESS, features.cosine, LEAST_COSINE))
        pointed = all(bar.missing <= 0 for bar in bars[1:])
        weighed[place] = Weighed(Confidence.LOW if pointed else Confidence.NONE, bars)
    return weighed


def features_of(memories: Sequence[PromptEvidence], calling: float) -> list[PromptFeatures]:
    """Return the evidence for each of *memories* as limited numbers, for a prompt of that *calling*."""
    called = max(-MOST_CALLING, min(MOST_CALLING, calling))
    features_of_memories = []
    for memory in memories:
        lead = memory.score - max((other.score for other in memories if other is not memory), default=0.0)
        cosine = memory.cosine or 0.0
        maxsim = cosine if memory.maxsim is None else memory.maxsim
        features_of_memories.append(
            PromptFeatures(called, maxsim, cosine, max(-MOST_LEAD, min(MOST_LEAD, lead)))
        )
    return features_of_memories


def asks_only_for(terms: Collection[str], *, tags: Collection[str], present: Collection[str]) -> bool:
    """
    Tell whether a memory has all that a question is about, and that can hardly be there by chance.

    That is a tag ("how does billing work?" for `billing`), or names with digits ("what is 88213?"), of whose
    likeness a model knows nothing. *terms* are those of `words.query_terms`, *present* those of them that the
    memory has; the words of a tag may stand with hyphens between them.
    """
    telling = [term for term in terms if term not in STOP_WORDS and term not in ASKING]
    if not telling:
        return False
    if set(telling) <= set(tags) or "-".join(telling) in tags:
        return True
    return set(telling) <= set(present) and all(map(_names, telling))


def _names(term: str) -> bool:
    """Tell whether *term* is a number or a code that names one thing: `88213` and `q7xk2`, but not `v2`."""
    return len(term) >= LEAST_NAME and any(letter.isdigit() for letter in term)


def _by_words(coverage: float) -> Confidence:
    if coverage >= HIGH_COVERAGE:
        return Confidence.HIGH
    return Confidence.MEDIUM if coverage >= MEDIUM_COVERAGE else Confidence.NONE
