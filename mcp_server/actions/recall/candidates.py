"""candidates: the memories that may answer a question, best first, with score and confidence."""

import heapq
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.recall.evidence import Evidence, Gathered, gather, looked_at_closely
from mcp_server.actions.recall.shelves import Contribution, answering, weighed
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import UNUSED
from mcp_server.adapters.index.memories import memories
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.index.search.lexical import Occurrences
from mcp_server.core.memory_parts import DAY, Kind
from mcp_server.core.ports import Embedded
from mcp_server.core.search import confidence, ranking
from mcp_server.core.search.boosts import AskedFor
from mcp_server.core.search.query import (
    Bar,
    Confidence,
    Query,
    Sort,
)
from mcp_server.core.search.ranking import Score
from mcp_server.core.text.words import query_terms
from mcp_server.core.worth import ratings
from mcp_server.store import Store

CLOSE = 15  # candidates looked at closely, at least: three times a usual answer
CLOSE_OF_PART = 10  # the same for each part of a query
MOST_OF_PROMPT = 15  # of these, the most relevant to a prompt, whose words are counted: .1 ms each


@dataclass(slots=True)
class ScoredMemory:
    """One memory under consideration; the rest is filled in when it is known."""

    row: Row
    evidence: Evidence
    boosts: tuple[tuple[str, float], ...] = ()
    score: Score | None = None
    confidence: Confidence = Confidence.NONE
    bars: tuple[Bar, ...] = ()  # that its confidence was measured by
    answer: Contribution | None = None  # what a conversation that asks the same question adds


@dataclass(frozen=True, slots=True)
class Shelf:
    """The candidates that one shelf shows, and those whose files are looked at again."""

    candidates: Sequence[ScoredMemory] = ()
    looked_at: Sequence[ScoredMemory] = ()
    questions: Sequence[Embedded] = ()  # the text as embedded by the model
    semantic: bool = False


def shelf_of(
    store: Store,
    db: sqlite3.Connection,
    query: Query,
    text: str,
    vaults: Sequence[str],
    hidden: Collection[int],
    *,
    occurrences: Occurrences,
    questions: Sequence[Embedded] | None = None,
) -> Shelf:
    """
    Return one shelf; *questions* are those by which another shelf was searched, None for the first.

    *occurrences* are those of words in *db*, the same for all shelves.
    """
    gathered = gather(
        store, db, query, text, vaults, occurrences=occurrences, without=hidden, questions=questions
    )
    asked_for = AskedFor.of(query, text, clock=store.clock(), now=store.now())
    within_reach = _within_reach(query, gathered.evidence, asked_for)
    rows = memories.by_rows(db, [evidence.number for evidence in within_reach])
    candidates = [
        ScoredMemory(rows[evidence.number], evidence) for evidence in within_reach if evidence.number in rows
    ]
    _boost(db, text, candidates, asked_for)
    candidates = _closest(db, gathered, query, candidates)
    is_judged = query.of_prompt and gathered.model == confidence.MEASURED  # by what is known of prompts
    bearings: dict[int, float] = {}
    if is_judged:
        candidates = heapq.nlargest(MOST_OF_PROMPT, candidates, key=_lifted)
        bearings = _bearings(db, gathered, text, candidates)
    _score(store, db, query, candidates, bearings)
    candidates.sort(key=lambda candidate: (-_total(candidate), candidate.row.id))
    best = candidates[: max(query.examined, query.limit) if query.only_confident else query.limit]
    margin = confidence.PART_MARGIN if query.parts else 0.0
    if is_judged:
        # Slow to import, and a search by words needs none.
        from mcp_server.adapters.kinds.prompt_kind import calling

        _rely_in_prompt(best, calling(text, gathered.questions[0].vector), margin)
    else:
        _rely(best, gathered.model, margin, terms=() if query.of_prompt else query_terms(text))
    top = best
    if query.only_confident:
        top = [candidate for candidate in best if candidate.confidence is not Confidence.NONE]
    top = top[: query.limit]
    looked_at = {candidate.row.row: candidate for candidate in (*best[: query.limit], *top)}
    return Shelf(top, [*looked_at.values()], gathered.questions, bool(gathered.model))


def _within_reach(query: Query, evidence: Sequence[Evidence], asked_for: AskedFor) -> list[Evidence]:
    """
    Return those of *evidence*, best first, that boosts may raise among the closest of their question.

    The others need not be read.
    """
    most = _closest_of_each(query)
    kinds = query.filter.kinds
    weakened = 1.0 if kinds and Kind.CONVERSATION not in kinds else ranking.ECHO_LEAST
    relevances: dict[int, list[float]] = {}
    for item in evidence:
        relevances.setdefault(item.question, []).append(item.relevance)
    least = {
        question: of_question[most - 1] * weakened / asked_for.most
        for question, of_question in relevances.items()
        if len(of_question) > most
    }
    return [item for item in evidence if item.relevance >= least.get(item.question, 0.0)]


def _closest_of_each(query: Query) -> int:
    """Return how many candidates of each question of *query* are looked at closely."""
    most = max(CLOSE, 3 * query.limit)
    return max(CLOSE_OF_PART, most // len(query.parts)) if query.parts else most


def _boost(
    db: sqlite3.Connection, text: str, candidates: Sequence[ScoredMemory], asked_for: AskedFor
) -> None:
    """Fill in what raises each candidate beyond its relevance, and what a conversation answers."""
    talks = [candidate.evidence for candidate in candidates if candidate.row.kind is Kind.CONVERSATION]
    answers = answering(db, text, talks) if talks else {}
    for candidate in candidates:
        row = candidate.row
        of_candidate = asked_for.boosts(
            title=row.title,
            text=row.text,
            tags=row.tags,
            touches=row.touches,
            created=row.created_at,
            updated=row.updated_at,
        )
        candidate.answer = answer = answers.get(candidate.row.row)
        candidate.boosts = (
            (*of_candidate, ("echo", ranking.echo_factor(answer.share, answer.telling_share)))
            if answer
            else of_candidate
        )


def _closest(
    db: sqlite3.Connection, gathered: Gathered, query: Query, candidates: Sequence[ScoredMemory]
) -> list[ScoredMemory]:
    """Return the candidates that are likely to be shown, with what their tokens say."""
    most = _closest_of_each(query)
    by_question: dict[int, list[ScoredMemory]] = {}
    for candidate in sorted(candidates, key=lambda candidate: -_lifted(candidate)):
        of_question = by_question.setdefault(candidate.evidence.question, [])
        if len(of_question) < most:
            of_question.append(candidate)
    close = [candidate for of_question in by_question.values() for candidate in of_question]
    evidence = looked_at_closely(db, gathered, [candidate.evidence for candidate in close])
    for candidate, closer_evidence in zip(close, evidence, strict=True):
        candidate.evidence = closer_evidence
    return close


def _bearings(
    db: sqlite3.Connection, gathered: Gathered, prompt: str, candidates: Sequence[ScoredMemory]
) -> dict[int, float]:
    """Return row number → how far it bears on *prompt*, of those of *candidates* that have a vector."""
    # Slow to import, and a search by words needs none.
    from mcp_server.adapters.kinds.bearing import bearing

    texts = {candidate.row.row: f"{candidate.row.title}\n{candidate.row.text}" for candidate in candidates}
    beginnings = vectors.of_beginnings(db, gathered.model, texts)
    known = [(texts[row], vector) for row, vector in beginnings.items()]
    values = bearing(prompt, gathered.questions[0].vector, known)
    return dict(zip(beginnings, values, strict=True))


def _score(
    store: Store,
    db: sqlite3.Connection,
    query: Query,
    candidates: Sequence[ScoredMemory],
    bearings: Mapping[int, float],
) -> None:
    """Fill in the score of every candidate; *bearings* tells how far it bears on a prompt."""
    usages = usage.usage_of(db, [candidate.row.ref for candidate in candidates])
    now = store.now()
    for candidate in candidates:
        row, evidence = candidate.row, candidate.evidence
        usage_of_row = usages.get(row.ref, UNUSED)
        recency = ranking.recency((now - row.updated) / DAY)
        usage_share = ranking.usage(usage_of_row.accesses)
        trust = usage.trust_of(row, usage_of_row, now)
        helpfulness = ratings.helpfulness(usage_of_row.used, usage_of_row.retrieved)
        total = lifted = _lifted(candidate)
        if query.sort is Sort.COMPOSITE:
            total = ranking.composite(
                relevance=lifted, recency=recency, usage=usage_share, trust=trust, helpfulness=helpfulness
            )
        candidate.score = Score(
            words=evidence.words,
            near=evidence.near,
            cosine=evidence.cosine,
            mean=evidence.mean,
            maxsim=evidence.maxsim,
            coverage=0.0,
            relevance=evidence.relevance,
            boosts=candidate.boosts,
            recency=recency,
            usage=usage_share,
            trust=trust,
            helpfulness=helpfulness,
            total=total + ranking.BEARING * bearings.get(row.row, 0.0),
        )


def _rely(candidates: Sequence[ScoredMemory], model: str, margin: float, *, terms: Sequence[str]) -> None:
    """
    Fill in how far each of *candidates* can be relied on, best first, by thresholds higher by *margin*.

    *terms* are those of a question, of which one memory may have all that it asks for.
    """
    for candidate in candidates:
        _weigh(candidate, model, margin, terms)
    answered_questions = {
        candidate.evidence.question for candidate in candidates if candidate.confidence is not Confidence.NONE
    }
    for candidate in candidates[: confidence.COMPANIONS]:
        if candidate.confidence is Confidence.NONE and candidate.evidence.question in answered_questions:
            _weigh(candidate, model, margin - confidence.COMPANION_MARGIN, terms)


def _rely_in_prompt(candidates: Sequence[ScoredMemory], called: float, margin: float) -> None:
    """Fill in how far each of *candidates*, best first, is what a prompt calls for, as `_rely` does."""
    for candidate in candidates:
        _weigh(candidate, confidence.MEASURED, margin)
    evidence = [
        confidence.PromptEvidence(
            _total(candidate),
            candidate.evidence.cosine,
            candidate.evidence.maxsim,
            candidate.confidence is Confidence.HIGH,
        )
        for candidate in candidates
    ]
    for candidate, (verdict, bars) in zip(candidates, confidence.in_prompt(evidence, called), strict=True):
        candidate.confidence, candidate.bars = verdict, bars


def _weigh(candidate: ScoredMemory, model: str, margin: float, terms: Sequence[str] = ()) -> None:
    """
    Fill in how far *candidate* can be relied on, by thresholds that are higher by *margin*.

    *terms* are those of a question that it may answer by having them all.
    """
    assert candidate.score
    matches = candidate.evidence.matches
    if candidate.answer:
        candidate.score = replace(candidate.score, coverage=candidate.answer.share)
        candidate.confidence = weighed(candidate.answer, len(matches.weights), margin)
        return
    present = matches.terms_of(candidate.row.row)
    coverage = ranking.coverage(present, matches.weights)
    candidate.score = replace(candidate.score, coverage=coverage)
    candidate.confidence, candidate.bars = confidence.weigh(
        cosine=candidate.score.cosine,
        maxsim=candidate.score.maxsim,
        coverage=coverage,
        words_matched=len(present),
        words_asked=len(matches.weights),
        near=candidate.score.near,
        surprise=ranking.surprise(present, matches.weights, matches.searched),
        model=model,
        margin=margin,
    )
    if candidate.confidence is Confidence.NONE and confidence.asks_only_for(
        terms, tags=candidate.row.tags, present=present
    ):
        candidate.confidence = Confidence.MEDIUM


def _lifted(candidate: ScoredMemory) -> float:
    return ranking.boosted(candidate.evidence.relevance, candidate.boosts)


def _total(candidate: ScoredMemory) -> float:
    assert candidate.score
    return candidate.score.total
