"""recall: find the memories that answer a question best, with the figures of their rank."""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcp_server.actions.files.shadows import is_pushable, out_of_sight, shadowed, visible
from mcp_server.actions.files.sync import ensure_synced, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.touched import asked_of
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.recall.candidates import ScoredMemory, Shelf, shelf_of
from mcp_server.actions.recall.outdated import outdated, successor
from mcp_server.actions.recall.shelves import KNOWN, ROOM, as_sure, lower, upper
from mcp_server.actions.recall.staleness import staleness
from mcp_server.adapters import places
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import UNUSED
from mcp_server.adapters.index.memories import memories, relations, scopes, selections, unasked
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.shadows import Shadow
from mcp_server.adapters.index.search import lexical
from mcp_server.adapters.vault import Vault, stamp
from mcp_server.core.memory import Staleness
from mcp_server.core.memory_parts import Level, type_or_kind
from mcp_server.core.render import estimated_tokens
from mcp_server.core.search import confidence, ranking
from mcp_server.core.search.query import (
    ANY_STATUS,
    MAX_QUERY,
    Answer,
    Bar,
    Confidence,
    Filter,
    Hit,
    Query,
    check_limit,
    covers_all,
)
from mcp_server.core.search.ranking import Score
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.sessions.passages import without_head
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store

WHOLE_TEXT = 1200  # characters up to which a hit shows its whole text instead of its best passage
KEPT = 1000  # texts that are kept as masked, at most 2 MB: the same memories answer again and again

_masked = functools.lru_cache(KEPT)(redact)


@self_healing
def recall(store: Store, query: Query, *, given_to: str = "", in_context: bool = False) -> Answer:
    """
    Return the memories that answer *query* best.

    *given_to*: the session whose model is given the hits, '' for none. An event says so, and which of them
    are sure. *in_context*: that session has them in its context already, so no later prompt shows them again.
    Without an embedder, or while it loads, the answer rests on words alone.
    Raises Rejected for a bad limit, IndexUnavailable.
    """
    check_limit(query.limit)
    query = replace(query, filter=asked_of(store, query.filter))
    ensure_synced(store)
    with store.database.read() as db:
        answer, changed = _answer(store, db, query)
    if changed:
        # An edit saved a moment ago, which the watcher has not reported yet.
        with if_free(store):
            for vault, path in changed:
                take_in(store, vault, path, by_hand=True)
        ensure_synced(store)
        with store.database.read() as db:
            answer, _ = _answer(store, db, query)
    note_recalled(store, query, answer, given_to=given_to, in_context=in_context)
    return answer


def note_recalled(store: Store, query: Query, answer: Answer, *, given_to: str, in_context: bool) -> None:
    """Note that the session *given_to* was given *answer*, if there is one and anything was found."""
    if given_to and answer.hits:
        store.try_record(
            "recalled",
            refs=[hit.ref for hit in answer.hits],
            **({"digests": [hit.digest for hit in answer.hits]} if in_context else {}),
            confident=[hit.ref for hit in answer.hits if hit.confidence is not Confidence.NONE],
            scores=[round(hit.score, 3) for hit in answer.hits],
            tokens=[estimated_tokens(hit.title + hit.text) for hit in answer.hits],
            query=redact(query.text[:1000])[:200],  # cut again once masked: a cut secret looks like none
            session=given_to,
        )


def note_found(store: Store, answer: Answer) -> None:
    """Note, for a door without a session, what was found with confidence: it is a sign of life."""
    sure = [hit.ref for hit in answer.hits if hit.confidence is not Confidence.NONE]
    if sure:
        store.try_record("found", refs=sure)


def _answer(store: Store, db: sqlite3.Connection, query: Query) -> tuple[Answer, list[tuple[Vault, Path]]]:
    """Return the answer, and those of its files that changed after the index took them in."""
    text = query.text[:MAX_QUERY]
    vaults = visible(store, db, query.filter)
    shadows = shadowed(store, db)
    hidden = frozenset() if covers_all(query.filter) else out_of_sight(shadows, as_of=query.filter.as_of)
    if query.unasked:
        vaults, hidden = _unasked(store, db, vaults, hidden)
    occurrences = lexical.Occurrences(db)
    knowledge = shelf_of(store, db, upper(query), text, vaults, hidden, occurrences=occurrences)
    hits = _hits(store, db, knowledge.candidates, shadows)
    believed = Shelf()
    strangers = {candidate.row.vault for candidate in knowledge.candidates}.difference(store.private)
    if strangers and not any(hit.pushable for hit in hits):
        # Enough memories of strangers would leave no place for what the person knows: it gets half of them.
        own, kept_back = _unasked(store, db, vaults, hidden)
        asked = knowledge.questions
        believed = shelf_of(
            store, db, upper(query), text, own, kept_back, occurrences=occurrences, questions=asked
        )
        own_hits = _hits(store, db, believed.candidates, shadows)
        sure_hits = [hit for hit in own_hits if hit.pushable and hit.confidence is not Confidence.NONE]
        sure_hits = sure_hits[: -(-query.limit // 2)]
        hits = [*hits[: query.limit - len(sure_hits)], *sure_hits]
    verdict = confidence.highest(hit.confidence for hit in hits)
    below = lower(db, query, vaults, in_context=_in_context(store))
    talks = Shelf()
    if below:
        asked = knowledge.questions
        talks = shelf_of(store, db, below, text, vaults, hidden, occurrences=occurrences, questions=asked)
    sure = [candidate for candidate in talks.candidates if as_sure(candidate.confidence, verdict)]
    if query.expand:
        hits += _linked(store, db, hits, vaults, shadows)
    hits += _hits(store, db, sure, shadows, below=text)
    looked_at = (*knowledge.looked_at, *believed.looked_at, *talks.looked_at)
    rows = {candidate.row.ref: candidate.row for candidate in looked_at}
    hits = outdated(store, db, hits, rows, vaults, shadows)
    answer = Answer(
        verdict=confidence.highest(hit.confidence for hit in hits) if verdict is Confidence.NONE else verdict,
        hits=_flagged(store, db, hits, vaults),
        semantic=knowledge.semantic or talks.semantic,
        is_anything_known=bool(hits) or _knows(db, visible(store, db, replace(query.filter, level=None))),
    )
    return answer, _changed(store, db, [*rows.values()])


def _unasked(
    store: Store, db: sqlite3.Connection, vaults: Sequence[str], hidden: frozenset[int]
) -> tuple[list[str], frozenset[int]]:
    """Return those of *vaults* that may answer unasked, and *hidden* with the rows that may not."""
    answering = unasked.answering(db, vaults, store.private)
    return answering, hidden | unasked.kept_back(db, answering, store.private)


def _knows(db: sqlite3.Connection, vaults: Sequence[str]) -> bool:
    return scopes.searched(db, Filter(kinds=KNOWN, statuses=ANY_STATUS), vaults).number > 0


def _in_context(store: Store) -> str:
    """Return the session that asks, '' where a compaction took out of its context what was said in it."""
    is_whole = store.session and not places.compaction(store.home, store.session).exists()
    return store.session if is_whole else ""


def _changed(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> list[tuple[Vault, Path]]:
    """Return the files of *rows* that were written or deleted since they were taken in."""
    indexed_mtimes = memories.stamps_of(db, [row.row for row in rows])
    changed = []
    for row in rows:
        vault, on_disk = store.vault(row.vault), stamp(Path(row.path))
        if vault and (on_disk is None or on_disk.mtime_ns != indexed_mtimes.get(row.row)):
            changed.append((vault, Path(row.path)))
    return changed


def _hits(
    store: Store,
    db: sqlite3.Connection,
    candidates: Sequence[ScoredMemory],
    shadows: Mapping[int, Shadow],
    *,
    below: str = "",
) -> list[Hit]:
    """Return *candidates* as hits; conversations shown *below* the knowledge are cut to an excerpt."""
    texts = lexical.passage_texts(db, [candidate.evidence.best_passage for candidate in candidates])
    accepted = usage.accepted_digests(db, [candidate.row.digest for candidate in candidates])
    stale = staleness(store, db, [candidate.row for candidate in candidates])
    hits = []
    for candidate in candidates:
        assert candidate.score
        hits.append(
            _hit(
                store,
                candidate.row,
                text=_shown_text(candidate, texts.get(candidate.evidence.best_passage, ""), below),
                score=candidate.score,
                confidence=candidate.confidence,
                accepted=candidate.row.digest in accepted,
                stale=stale[candidate.row.ref],
                shadow=shadows.get(candidate.row.row),
                below=bool(below),
                bars=candidate.bars,
            )
        )
    return hits


def _shown_text(candidate: ScoredMemory, passage: str, below: str) -> str:
    """Return the text shown of a memory whose best passage is *passage*."""
    if not below:
        return passage
    return excerpt(candidate.answer.text if candidate.answer else passage, query_terms(below), ROOM)


def _hit(
    store: Store,
    row: Row,
    *,
    text: str,
    score: Score,
    confidence: Confidence,
    accepted: bool,
    stale: Staleness,
    linked_from: str = "",
    shadow: Shadow | None = None,
    below: bool = False,
    bars: tuple[Bar, ...] = (),
) -> Hit:
    """
    Return *row* as a hit; *text* is its best passage, secrets in it are masked once more.

    A short memory is shown whole, unless it is shown *below* the knowledge.
    """
    vault = store.vault(row.vault)
    whole = not text or (len(row.text) <= WHOLE_TEXT and not below)
    shown_text = row.text if whole else without_head(text, row.title)
    return Hit(
        id=row.id,
        ref=row.ref,
        digest=row.digest,
        title=_masked(row.title),
        kind=row.kind,
        type=type_or_kind(row.kind, row.type),
        level=vault.level if vault else Level.PROJECT,
        status=row.status,
        path=row.path,
        text=_masked(shown_text),
        score=score.total,
        confidence=confidence,
        parts=score,
        tags=row.tags,
        updated=row.updated_at,
        pushable=is_pushable(row, store.private, accepted=accepted),
        linked_from=linked_from,
        superseded_by=row.superseded_by,
        shadowed_by=shadow.id if shadow else "",
        project="" if vault else row.vault,
        stale=_redacted(stale) if stale else stale,
        below=below,
        bars=bars,
    )


def _redacted(stale: Staleness) -> Staleness:
    return Staleness(tuple(map(redact, stale.changed)), tuple(map(redact, stale.missing)), stale.gone)


def _linked(
    store: Store,
    db: sqlite3.Connection,
    hits: Sequence[Hit],
    vaults: Sequence[str],
    shadows: Mapping[int, Shadow],
) -> list[Hit]:
    """Return what the hits link to, one hop, each memory replaced by what shadows or superseded it here."""
    listed_refs = {hit.ref for hit in hits}
    targets: list[tuple[Hit, Row]] = []
    for hit in hits:
        linked = [successor(db, row, shadows) for row in selections.linked_from(db, hit.path, vaults)]
        new_rows = {row.ref: row for row in linked if row.ref not in listed_refs}
        first_rows = [*new_rows.values()][: ranking.EXPANSION_MOST]
        listed_refs.update(row.ref for row in first_rows)
        targets += [(hit, row) for row in first_rows]
    rows = [row for _, row in targets]
    usages = usage.usage_of(db, [row.ref for row in rows])
    accepted = usage.accepted_digests(db, [row.digest for row in rows])
    stale = staleness(store, db, rows)
    return [
        _hit(
            store,
            row,
            text="",
            score=replace(
                hit.parts,
                total=hit.score * ranking.EXPANSION_DECAY,
                trust=usage.trust_of(row, usages.get(row.ref, UNUSED), store.now()),
            ),
            confidence=hit.confidence,
            accepted=row.digest in accepted,
            stale=stale[row.ref],
            linked_from=hit.id,
        )
        for hit, row in targets
    ]


def _flagged(
    store: Store, db: sqlite3.Connection, hits: Sequence[Hit], vaults: Sequence[str]
) -> tuple[Hit, ...]:
    """Return *hits*, each with the ids of the active memories that contradict it."""
    opponents: dict[str, list[str]] = {}
    for end, other in relations.contradicting(db, vaults, private=store.private) if hits else ():
        opponents.setdefault(end.ref, []).append(other.id)
        opponents.setdefault(other.ref, []).append(end.id)
    if not opponents:
        return tuple(hits)
    return tuple(replace(hit, contradicts=tuple(dict.fromkeys(opponents.get(hit.ref, ())))) for hit in hits)
