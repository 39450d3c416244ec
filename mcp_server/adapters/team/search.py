"""
Search in a team's database: candidates by words and by meaning, in the order of Daybook's own formula.

A team counts no accesses, so a memory's score has no usage in it. A curator's confirmation adds to its trust.
The parts of a prompt are not searched for one by one, and links are not followed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from mcp_server.adapters.index.search.maxsim import Match, answered
from mcp_server.adapters.team import places, vectors, words
from mcp_server.adapters.team.connections import Connection, array
from mcp_server.adapters.team.filters import Condition, condition_of
from mcp_server.adapters.team.rows import COLUMNS, stored_of
from mcp_server.adapters.team.statistics import Counted, Statistics
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.memory_parts import DAY, OCCASIONS
from mcp_server.core.ports import Embedded, Embedder
from mcp_server.core.search import confidence, ranking
from mcp_server.core.search.boosts import AskedFor, Boosts
from mcp_server.core.search.matches import Matches
from mcp_server.core.search.query import MAX_QUERY, Confidence, Mode, Query, Sort
from mcp_server.core.search.ranking import Cosines, Score
from mcp_server.core.storage.port import Result, Results, Stored
from mcp_server.core.text.words import query_terms
from mcp_server.core.worth import ratings

SHORTLIST = 60  # most relevant memories whose boosts are computed, as in `actions/recall/evidence.py`
CLOSE = 15  # of these, compared by tokens, as in `actions/recall/candidates.py`
PATIENCE = 3.0  # seconds that a search waits for an embedder that another program runs
NOBODY = Cosines(0.0, 0.0, ())


@dataclass(frozen=True, slots=True)
class Searching:
    """What a search needs besides the database; without an *embedder* it goes by words."""

    embedder: Embedder | None = None
    statistics: Statistics = field(default_factory=Statistics)

    def embedded(self, query: Query) -> Embedded | None:
        """Return the embedding of the question, None when meaning is not searched."""
        text = query.text[:MAX_QUERY]
        if not self.embedder or query.mode is Mode.KEYWORD or not text.strip():
            return None
        try:
            return self.embedder.embed_queries([text], patience=PATIENCE)[0]
        except EmbedderUnavailable:  # `embedder.problem` says why
            return None


def _relevance(words: float, near: float, cosines: Cosines | None, maxsim: float | None = None) -> float:
    best, mean, _ = cosines or (None, None, ())
    return ranking.relevance(words=words, near=near, cosine=best, mean=mean, maxsim=maxsim)


class _Evidence(NamedTuple):
    """What speaks for one memory, see `ranking.Score`."""

    stored: Stored
    words: float
    near: float
    cosines: Cosines | None
    boosts: Boosts
    maxsim: float | None = None
    passage: int = 0

    @property
    def relevance(self) -> float:
        return _relevance(self.words, self.near, self.cosines, self.maxsim)

    @property
    def lifted(self) -> float:
        return ranking.boosted(self.relevance, self.boosts)


def search(db: Connection, query: Query, embedded: Embedded | None, counted: Counted, model: str) -> Results:
    """
    Return what answers *query*; *db* is a member's transaction.

    *embedded* is the question's embedding by *model*; with None, words alone answer.
    """
    text = query.text[:MAX_QUERY].replace("\0", " ")
    condition = condition_of(query.filter)
    few = _few(db, condition)
    searched = counted.memories if few is None else len(few)
    most = max(words.WEIGHED, 3 * query.limit)
    shortlist = words.find(db, text, condition, counted, searched, most=most)
    near_rows = vectors.nearest(db, embedded.vector, condition, few) if embedded else []
    matches = places.weigh(db, shortlist, counted)
    by_words = (
        matches if query.mode is not Mode.SEMANTIC or not embedded else replace(matches, memories={}, near={})
    )
    cosines = vectors.cosines(db, embedded.vector, {*by_words.memories, *near_rows}) if embedded else {}
    best = _most_relevant(by_words, cosines, max(SHORTLIST, 3 * query.limit))
    close = _close(db, query, text, best)
    looked = _closely(db, shortlist, embedded, close, counted)
    scored = sorted(
        ((row, evidence, _score(query, evidence)) for row, evidence in looked.items()),
        key=lambda entry: (-entry[2].total, entry[1].stored.memory.id),
    )
    shown = [row for row, *_ in scored[: max(query.examined, query.limit)]]
    of_meaning = places.terms_of(db, shortlist, [row for row in shown if row not in matches.memories])
    terms = {row: of_meaning.get(row) or matches.terms_of(row) for row in shown}
    results = _relied_on(scored, matches, terms, query, text, model if embedded else "")
    return Results(_with_passages(db, looked, results), semantic=bool(embedded))


def _few(db: Connection, condition: Condition) -> list[int] | None:
    """Return the memories that *condition* lets through, None when they are many or nearly all."""
    if condition.simple:
        return None
    rows = db.execute(
        f"SELECT memory FROM daybook.searched WHERE {condition.sql} LIMIT %s",
        (*condition.values, vectors.FEW + 1),
        binary=True,
    ).fetchall()
    return [row for (row,) in rows] if len(rows) <= vectors.FEW else None


def _most_relevant(
    matches: Matches, cosines: Mapping[int, Cosines], most: int
) -> dict[int, tuple[float, float, Cosines | None]]:
    """Return row → words, near and cosines of the *most* relevant memories, best first."""
    by_words = ranking.normalised(matches.memories, matches.best_coverage())
    every = {
        row: (by_words.get(row, 0.0), matches.near.get(row, 0.0), cosines.get(row))
        for row in by_words.keys() | cosines.keys()
    }
    best = sorted(every, key=lambda row: (-_relevance(*every[row]), -row))
    return {row: every[row] for row in best[:most]}


def _close(
    db: Connection, query: Query, text: str, best: Mapping[int, tuple[float, float, Cosines | None]]
) -> dict[int, _Evidence]:
    """Return the evidence for those of *best* that are compared by tokens: the best with their boosts."""
    most = max(CLOSE, 3 * query.limit)
    moment = _now()
    asked_for = AskedFor.of(query, text, clock=moment, now=moment.timestamp())
    relevances = {row: _relevance(*of_row) for row, of_row in best.items()}
    # A memory that no boost can raise above the last of these need not be read.
    least = min([*relevances.values()][:most], default=0.0) / asked_for.most
    wanted = [row for row, relevance in relevances.items() if relevance >= least]
    rows = db.execute(
        f"SELECT row, {COLUMNS} FROM daybook.memories WHERE row = ANY(%s::bigint[]) AND forgotten_at IS NULL",
        (array(wanted),),
        binary=True,
    ).fetchall()
    evidence = {}
    for row, *columns in rows:
        stored = stored_of(columns)
        memory = stored.memory
        boosts = asked_for.boosts(
            title=memory.title,
            text=memory.text,
            tags=memory.tags,
            touches=memory.touches,
            created=memory.created,
            updated=memory.updated,
        )
        evidence[row] = _Evidence(stored, *best[row], boosts)
    return dict(sorted(evidence.items(), key=lambda entry: -entry[1].lifted)[:most])


def _closely(
    db: Connection,
    shortlist: words.Shortlist,
    embedded: Embedded | None,
    close: Mapping[int, _Evidence],
    counted: Counted,
) -> dict[int, _Evidence]:
    """Return *close* with `maxsim`, where there are token vectors, and the passage that answers best."""
    matching = places.matching_passages(db, shortlist, close, counted)
    if not embedded:
        return {row: evidence._replace(passage=matching.get(row, 0)) for row, evidence in close.items()}
    passages = {
        row: [*dict.fromkeys((*(evidence.cosines or NOBODY).passages, *filter(None, (matching.get(row),))))]
        for row, evidence in close.items()
    }
    kept = vectors.signs(db, [passage for of_row in passages.values() for passage in of_row])
    answers = answered(embedded, passages, kept)

    def compared(row: int, evidence: _Evidence) -> _Evidence:
        maxsim, passage = answers.get(row, _UNSEEN)
        nearest = next(iter(passages[row]), 0)
        return evidence._replace(
            maxsim=None if passage == 0 else maxsim, passage=passage or matching.get(row, 0) or nearest
        )

    return {row: compared(row, evidence) for row, evidence in close.items()}


_UNSEEN = Match(0.0, 0)


def _score(query: Query, evidence: _Evidence) -> Score:
    """Return the score of a memory with that *evidence*, as of now."""
    memory, now = evidence.stored.memory, _now()
    recency = ranking.recency((now - memory.updated).total_seconds() / DAY)
    base = ratings.base_trust(memory.trust, memory.source)
    if evidence.stored.confirmed_by:
        base = min(1.0, base + ratings.TRUST_EVENTS["confirmed"])
    since = max(memory.updated, memory.verified or memory.updated)
    trust = ratings.trust(memory.type, base, (now - since).total_seconds() / DAY)
    helpfulness = ratings.helpfulness(0, 0)
    total = evidence.lifted
    if query.sort is Sort.COMPOSITE:
        total = ranking.composite(
            relevance=total, recency=recency, usage=0.0, trust=trust, helpfulness=helpfulness
        )
    best, mean, _ = evidence.cosines or (None, None, ())
    return Score(
        words=evidence.words,
        near=evidence.near,
        cosine=best,
        mean=mean,
        maxsim=evidence.maxsim,
        coverage=0.0,
        relevance=evidence.relevance,
        boosts=evidence.boosts,
        recency=recency,
        usage=0.0,
        trust=trust,
        helpfulness=helpfulness,
        total=total,
    )


def _relied_on(
    scored: list[tuple[int, _Evidence, Score]],
    matches: Matches,
    terms_of: Mapping[int, frozenset[str]],
    query: Query,
    text: str,
    model: str,
) -> list[tuple[int, Result]]:
    """Return the best of *scored* as results, each with its confidence."""
    terms = query_terms(text)
    best = scored[: max(query.examined, query.limit) if query.only_confident else query.limit]

    def weigh(row: int, evidence: _Evidence, score: Score, margin: float) -> Result:
        of_row = terms_of[row]
        coverage = ranking.coverage(of_row, matches.weights)
        weighed = confidence.weigh(
            cosine=score.cosine,
            maxsim=score.maxsim,
            coverage=coverage,
            words_matched=len(of_row),
            words_asked=len(matches.weights),
            near=score.near,
            surprise=ranking.surprise(of_row, matches.weights, matches.searched),
            model=model or confidence.MEASURED,
            margin=margin,
        )
        verdict = weighed.verdict
        tags = evidence.stored.memory.tags
        if verdict is Confidence.NONE and confidence.asks_only_for(terms, tags=tags, present=of_row):
            verdict = Confidence.MEDIUM
        return Result(evidence.stored, "", replace(score, coverage=coverage), verdict)

    results = [(row, weigh(row, evidence, score, 0.0)) for row, evidence, score in best]
    if any(result.confidence is not Confidence.NONE for _, result in results):
        for at, (row, result) in enumerate(results[: confidence.COMPANIONS]):
            if result.confidence is Confidence.NONE:
                results[at] = (row, weigh(*best[at], -confidence.COMPANION_MARGIN))
    if query.only_confident:
        results = [(row, result) for row, result in results if result.confidence is not Confidence.NONE]
    return results[: query.limit]


def _with_passages(
    db: Connection, looked: Mapping[int, _Evidence], results: Collection[tuple[int, Result]]
) -> tuple[Result, ...]:
    """Return *results*, each with the text of its best passage; the first for none and for its occasions."""
    wanted = [looked[row].passage for row, _ in results]
    texts: dict[int, str] = dict(
        db.execute(
            "SELECT DISTINCT ON (memory) memory, text FROM daybook.passages WHERE memory = ANY(%s::bigint[])"
            f" AND position != {OCCASIONS} ORDER BY memory, row <> ALL(%s::bigint[]), position",
            (array(row for row, _ in results), array(wanted)),
            binary=True,
        ).fetchall()
    )
    return tuple(replace(result, passage=texts.get(row, "")) for row, result in results)


def _now() -> datetime:
    return datetime.now(UTC)
