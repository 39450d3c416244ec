"""recall: find the memories that answer a question best, with the reasons for their rank."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.evidence import Evidence, Gathered, gather, looked_at_closely
from mcp_server.actions.hits import as_hit, flagged, linked, trust_of
from mcp_server.actions.shadows import out_of_sight, shadowed
from mcp_server.actions.staleness import staleness
from mcp_server.actions.sync import ensure_synced, if_free
from mcp_server.actions.take_in import take_in
from mcp_server.actions.unindexed import self_healing
from mcp_server.adapters.index import lexical, memories, selections, usage
from mcp_server.adapters.index.memories import Row
from mcp_server.adapters.index.shadows import Shadow
from mcp_server.adapters.index.usage import UNUSED
from mcp_server.adapters.vault import Vault, stamp
from mcp_server.core import dials, gate, ranking
from mcp_server.core.memory import Level
from mcp_server.core.query import (
    MAX_QUERY,
    Answer,
    Filter,
    Hit,
    Query,
    Sort,
    Verdict,
    asks_about_now,
    check_limit,
    covers_all,
    named_paths,
    quoted_phrases,
)
from mcp_server.core.ranking import Score
from mcp_server.core.redaction import redact
from mcp_server.core.render import estimated_tokens
from mcp_server.core.time_words import span_of
from mcp_server.core.words import query_terms, spelled, words
from mcp_server.store import Store

CLOSE = 15  # candidates that are looked at closely at least: three times a usual answer
CLOSE_OF_PART = 10  # the same for each part of a query


@dataclass(slots=True)
class _Candidate:
    """One memory under consideration; the rest is filled in when it is known."""

    row: Row
    evidence: Evidence
    boosts: tuple[tuple[str, float], ...] = ()
    score: Score | None = None
    confidence: Verdict = Verdict.NONE
    tagged: bool = False  # its tags are all that the question is about


@self_healing
def recall(store: Store, query: Query, *, session: str = "") -> Answer:
    """
    Return the memories that answer *query* best.

    With a *session* the hits count as given to the model, and the ledger says so, and which of them are sure.
    Without an embedder, or while it loads, the answer rests on words alone.
    Raises Rejected for a bad limit, IndexUnavailable.
    """
    check_limit(query.limit)
    ensure_synced(store)
    with store.database.read() as db:
        answer, changed = _answer(store, db, query)
    if changed:
        # An edit saved a moment ago, which the watcher has not told of yet.
        with if_free(store):
            for vault, path in changed:
                take_in(store, vault, path, by_hand=True)
        ensure_synced(store)
        with store.database.read() as db:
            answer, _ = _answer(store, db, query)
    if session and answer.hits:
        store.ledger.note(
            "recalled",
            store.clock(),
            refs=[hit.ref for hit in answer.hits],
            confident=[hit.ref for hit in answer.hits if hit.confidence is not Verdict.NONE],
            scores=[round(hit.score, 3) for hit in answer.hits],
            tokens=[estimated_tokens(hit.title + hit.text) for hit in answer.hits],
            query=redact(query.text[:200]),
            session=session,
        )
    return answer


def note_found(store: Store, answer: Answer) -> None:
    """Note for a door that is no session what was found with confidence: somebody still asks for it."""
    sure = [hit.ref for hit in answer.hits if hit.confidence is not Verdict.NONE]
    if sure:
        store.ledger.note("found", store.clock(), refs=sure)


def visible(store: Store, db: sqlite3.Connection, filter: Filter) -> list[str]:
    """Return the keys of the vaults to search: the person's and this project's, unless *filter* says more."""
    if filter.all_projects:
        found = selections.vaults_in_use(db)
        levels = {vault.key: vault.level for vault in store.vaults}
        return [key for key in found if filter.level in (None, levels.get(key, Level.PROJECT))]
    return [vault.key for vault in store.vaults if filter.level in (None, vault.level)]


def _answer(store: Store, db: sqlite3.Connection, query: Query) -> tuple[Answer, list[tuple[Vault, Path]]]:
    """Return the answer, and which files of it say something else by now than the index."""
    text = query.text[:MAX_QUERY]
    vaults = visible(store, db, query.filter)
    shadows = shadowed(store, db)
    hidden = frozenset() if covers_all(query.filter) else out_of_sight(shadows, as_of=query.filter.as_of)
    gathered = gather(store, db, query, text, vaults, without=hidden)
    rows = memories.by_rows(db, [each.number for each in gathered.evidence])
    candidates = [_Candidate(rows[each.number], each) for each in gathered.evidence if each.number in rows]
    _boost(store, query, text, candidates)
    candidates = _closest(db, gathered, query, candidates)
    _score(store, db, query, candidates)
    candidates.sort(key=lambda candidate: (-_total(candidate), candidate.row.id))
    best = candidates[: max(query.examined, query.limit) if query.only_confident else query.limit]
    _rely(best, gathered.model, gate.PART_MARGIN if query.parts else 0.0)
    shown = best
    if query.only_confident:
        shown = [candidate for candidate in best if candidate.confidence is not Verdict.NONE]
    hits = _hits(store, db, shown[: query.limit], shadows)
    verdict = max((hit.confidence for hit in hits), key=gate.ORDER.index, default=Verdict.NONE)
    if query.expand:
        hits += linked(store, db, hits, vaults, shadows)
    answer = Answer(verdict=verdict, hits=flagged(store, db, hits, vaults), semantic=bool(gathered.model))
    read = {each.row.row: each.row for each in (*best[: query.limit], *shown[: query.limit])}
    return answer, _changed(store, db, [*read.values()])


def _changed(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> list[tuple[Vault, Path]]:
    """Return the files of *rows* that were written or deleted since they were taken in."""
    known = memories.stamps_of(db, [row.row for row in rows])
    changed = []
    for row in rows:
        vault, there = store.vault(row.vault), stamp(Path(row.path))
        if vault and (there is None or there.mtime_ns != known.get(row.row)):
            changed.append((vault, Path(row.path)))
    return changed


def _boost(store: Store, query: Query, text: str, candidates: Sequence[_Candidate]) -> None:
    """Fill in what raises each candidate beyond its relevance."""
    phrases = quoted_phrases(text)
    paths = named_paths(text)
    asked = {
        *query_terms(text),
        *words(spelled(text)),
        *(said.strip(",;:!?") for said in text.lower().split()),
    }
    span = span_of(text, store.clock())
    terms = query_terms(text) if query.tags_answer else ()
    now = store.now()
    about_now = query.sort is Sort.COMPOSITE and not query.filter.as_of and asks_about_now(text)
    for candidate in candidates:
        row = candidate.row
        candidate.tagged = gate.asks_for_tag(terms, row.tags)
        candidate.boosts = (
            *([("now", ranking.now_boost(_recency(row, now)))] if about_now else []),
            *([("tag", ranking.TAG_BOOST)] if asked.intersection(map(_as_asked, row.tags)) else []),
            *([("phrase", ranking.PHRASE_BOOST)] if _has_phrase(row, phrases) else []),
            *([("path", ranking.PATH_BOOST)] if _touches(row, paths) else []),
            *([("time", ranking.TIME_BOOST)] if span and span.meets(row.created_at, row.updated_at) else []),
        )


def _closest(
    db: sqlite3.Connection, gathered: Gathered, query: Query, candidates: Sequence[_Candidate]
) -> list[_Candidate]:
    """Return the candidates that are likely to be shown, with what their tokens say."""
    most = max(CLOSE, 3 * query.limit)
    if query.parts:
        most = max(CLOSE_OF_PART, most // len(query.parts))
    taken: dict[int, list[_Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: -_lifted(candidate)):
        of_question = taken.setdefault(candidate.evidence.question, [])
        if len(of_question) < most:
            of_question.append(candidate)
    close = [candidate for of_question in taken.values() for candidate in of_question]
    evidence = looked_at_closely(db, gathered, [candidate.evidence for candidate in close])
    for candidate, seen in zip(close, evidence, strict=True):
        candidate.evidence = seen
    return close


def _score(store: Store, db: sqlite3.Connection, query: Query, candidates: Sequence[_Candidate]) -> None:
    """Fill in the score of every candidate."""
    used = usage.usage_of(db, [candidate.row.ref for candidate in candidates])
    now = store.now()
    for candidate in candidates:
        row, evidence = candidate.row, candidate.evidence
        usage_of_row = used.get(row.ref, UNUSED)
        recency = _recency(row, now)
        usage_share = ranking.usage(usage_of_row.accesses)
        trust = trust_of(row, usage_of_row, now)
        helpfulness = dials.helpfulness(usage_of_row.used, usage_of_row.retrieved)
        total = lifted = _lifted(candidate)
        if query.sort is Sort.COMPOSITE:
            total = ranking.composite(
                relevance=lifted, recency=recency, usage=usage_share, trust=trust, helpfulness=helpfulness
            )
        candidate.score = Score(
            words=evidence.words,
            passage=evidence.passage,
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
            total=total,
        )


def _rely(candidates: Sequence[_Candidate], model: str, margin: float) -> None:
    """Fill in how far each of *candidates* can be relied on, best first, by thresholds higher by *margin*."""
    for candidate in candidates:
        _weigh(candidate, model, margin)
    known = {each.evidence.question for each in candidates if each.confidence is not Verdict.NONE}
    for candidate in candidates[: gate.COMPANIONS]:
        if candidate.confidence is Verdict.NONE and candidate.evidence.question in known:
            _weigh(candidate, model, margin - gate.COMPANION_MARGIN)


def _weigh(candidate: _Candidate, model: str, margin: float) -> None:
    """Fill in how far *candidate* can be relied on, by thresholds that are higher by *margin*."""
    assert candidate.score
    said = candidate.evidence.said
    found = said.terms_of(candidate.row.row)
    coverage = ranking.coverage(found, said.weights)
    candidate.score = replace(candidate.score, coverage=coverage)
    candidate.confidence = gate.confidence(
        cosine=candidate.score.cosine,
        maxsim=candidate.score.maxsim,
        coverage=coverage,
        found=len(found),
        asked=len(said.weights),
        near=candidate.score.near,
        surprise=ranking.surprise(found, said.weights, said.searched),
        model=model,
        margin=margin,
    )
    if candidate.tagged and candidate.confidence is Verdict.NONE:
        candidate.confidence = Verdict.MEDIUM


def _hits(
    store: Store,
    db: sqlite3.Connection,
    candidates: Sequence[_Candidate],
    shadows: Mapping[int, Shadow],
) -> list[Hit]:
    texts = lexical.passage_texts(db, [candidate.evidence.best_passage for candidate in candidates])
    accepted = usage.accepted_digests(db, [candidate.row.digest for candidate in candidates])
    stale = staleness(store, db, [candidate.row for candidate in candidates])
    hits = []
    for candidate in candidates:
        assert candidate.score
        hits.append(
            as_hit(
                store,
                candidate.row,
                text=texts.get(candidate.evidence.best_passage, ""),
                score=candidate.score,
                confidence=candidate.confidence,
                accepted=candidate.row.digest in accepted,
                stale=stale[candidate.row.ref],
                shadow=shadows.get(candidate.row.row),
            )
        )
    return hits


def _lifted(candidate: _Candidate) -> float:
    return ranking.boosted(candidate.evidence.relevance, candidate.boosts)


def _recency(row: Row, now: int) -> float:
    return ranking.recency((now - row.updated) / dials.DAY)


def _total(candidate: _Candidate) -> float:
    assert candidate.score
    return candidate.score.total


def _as_asked(tag: str) -> str:
    """Return *tag* as a question has it among its words: `c#` as "csharp"."""
    return spelled(tag).strip()


def _has_phrase(row: Row, phrases: Sequence[str]) -> bool:
    said = f"{row.title}\n{row.text}".casefold() if phrases else ""
    return any(phrase in said for phrase in phrases)


def _touches(row: Row, paths: Sequence[str]) -> bool:
    return any(touched.partition(":")[0].endswith(path) for touched in row.touches for path in paths)
