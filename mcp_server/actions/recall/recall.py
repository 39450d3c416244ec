"""recall: find the memories that answer a question best, with the reasons for their rank."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcp_server.actions.files.shadows import out_of_sight, shadowed, visible
from mcp_server.actions.files.sync import ensure_synced, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.recall.candidates import ScoredMemory, Shelf, shelf_of
from mcp_server.actions.recall.hits import as_hit, flagged, linked
from mcp_server.actions.recall.outdated import outdated
from mcp_server.actions.recall.shelves import ROOM, as_sure, lower, upper
from mcp_server.actions.recall.staleness import staleness
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.memories import memories
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.shadows import Shadow
from mcp_server.adapters.index.search import lexical
from mcp_server.adapters.vault import Vault, stamp
from mcp_server.core.render import estimated_tokens
from mcp_server.core.search import confidence
from mcp_server.core.search.query import (
    MAX_QUERY,
    Answer,
    Confidence,
    Hit,
    Query,
    check_limit,
    covers_all,
)
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store


@self_healing
def recall(store: Store, query: Query, *, session: str = "", told: bool = False) -> Answer:
    """
    Return the memories that answer *query* best.

    With a *session* the hits count as given to the model: an event says so, and which of them are sure.
    *told*: the session has them in its context already, so no later prompt shows them again.
    Without an embedder, or while it loads, the answer rests on words alone.
    Raises Rejected for a bad limit, IndexUnavailable.
    """
    check_limit(query.limit)
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
    if session and answer.hits:
        from mcp_server.core.secrets.redaction import redact  # slow to load, and only sessions need it

        store.ledger.try_append(
            "recalled",
            store.clock(),
            refs=[hit.ref for hit in answer.hits],
            **({"digests": [hit.digest for hit in answer.hits]} if told else {}),
            confident=[hit.ref for hit in answer.hits if hit.confidence is not Confidence.NONE],
            scores=[round(hit.score, 3) for hit in answer.hits],
            tokens=[estimated_tokens(hit.title + hit.text) for hit in answer.hits],
            query=redact(query.text[:200]),
            session=session,
        )
    return answer


def note_found(store: Store, answer: Answer) -> None:
    """Note, for a door without a session, what was found with confidence: it is a sign of life."""
    sure = [hit.ref for hit in answer.hits if hit.confidence is not Confidence.NONE]
    if sure:
        store.ledger.try_append("found", store.clock(), refs=sure)


def _answer(store: Store, db: sqlite3.Connection, query: Query) -> tuple[Answer, list[tuple[Vault, Path]]]:
    """Return the answer, and those of its files that changed after the index took them in."""
    text = query.text[:MAX_QUERY]
    vaults = visible(store, db, query.filter)
    shadows = shadowed(store, db)
    hidden = frozenset() if covers_all(query.filter) else out_of_sight(shadows, as_of=query.filter.as_of)
    known = shelf_of(store, db, upper(query), text, vaults, hidden)
    hits = _hits(store, db, known.shown, shadows)
    verdict = _best(hits)
    below = lower(db, query, vaults)
    talks = Shelf()
    if below:
        talks = shelf_of(store, db, below, text, vaults, hidden, questions=known.questions)
    sure = [each for each in talks.shown if as_sure(each.confidence, verdict)]
    if query.expand:
        hits += linked(store, db, hits, vaults, shadows)
    hits += _hits(store, db, sure, shadows, below=text)
    rows = {each.row.ref: each.row for each in (*known.looked_at, *talks.looked_at)}
    hits = outdated(store, db, hits, rows, vaults, shadows)
    answer = Answer(
        verdict=verdict if verdict is not Confidence.NONE else _best(hits),
        hits=flagged(store, db, hits, vaults),
        semantic=known.semantic or talks.semantic,
    )
    return answer, _changed(store, db, [*rows.values()])


def _best(hits: Sequence[Hit]) -> Confidence:
    """Return the highest confidence among *hits*."""
    return max((hit.confidence for hit in hits), key=confidence.ORDER.index, default=Confidence.NONE)


def _changed(store: Store, db: sqlite3.Connection, rows: Sequence[Row]) -> list[tuple[Vault, Path]]:
    """Return the files of *rows* that were written or deleted since they were taken in."""
    known = memories.stamps_of(db, [row.row for row in rows])
    changed = []
    for row in rows:
        vault, there = store.vault(row.vault), stamp(Path(row.path))
        if vault and (there is None or there.mtime_ns != known.get(row.row)):
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
            as_hit(
                store,
                candidate.row,
                text=_told(candidate, texts.get(candidate.evidence.best_passage, ""), below),
                score=candidate.score,
                confidence=candidate.confidence,
                accepted=candidate.row.digest in accepted,
                stale=stale[candidate.row.ref],
                shadow=shadows.get(candidate.row.row),
                below=bool(below),
            )
        )
    return hits


def _told(candidate: ScoredMemory, passage: str, below: str) -> str:
    """Return the text shown of a memory whose best passage is *passage*."""
    if not below:
        return passage
    return excerpt(candidate.answer.text if candidate.answer else passage, query_terms(below), ROOM)
