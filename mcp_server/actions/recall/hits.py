"""Hits: how a found memory is shown, how far it is trusted, and what it links to."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_server.actions.recall.staleness import Staleness, staleness
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import UNUSED, Usage
from mcp_server.adapters.index.memories import memories, relations, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.shadows import Shadow
from mcp_server.core.memory import DAY, Level, type_or_kind
from mcp_server.core.provenance.provenance import may_be_pushed
from mcp_server.core.search import ranking
from mcp_server.core.search.query import Confidence, Hit
from mcp_server.core.search.ranking import Score
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.sessions.passages import without_head
from mcp_server.core.worth import ratings
from mcp_server.store import Store

WHOLE_TEXT = 1200  # characters up to which a hit shows its whole text instead of its best passage


def trust_of(row: Row, used: Usage, now: int) -> float:
    """Return the trust in a memory now, 0 to 1."""
    base = ratings.base_trust(row.trust, row.source)
    since = max(row.verified, used.last_confirmed, row.updated)
    return ratings.trust(row.type, used.moved.of(base), (now - since) / DAY)


def as_hit(
    store: Store,
    row: Row,
    *,
    text: str,
    score: Score,
    confidence: Confidence,
    accepted: bool,
    stale: Staleness,
    linked: str = "",
    shadow: Shadow | None = None,
    below: bool = False,
) -> Hit:
    """
    Return *row* as a hit; *text* is its best passage, secrets in it are masked once more.

    A short memory is shown whole, unless it is shown *below* the knowledge.
    """
    vault = store.vault(row.vault)
    whole = not text or (len(row.text) <= WHOLE_TEXT and not below)
    shown = row.text if whole else without_head(text, row.title)
    return Hit(
        id=row.id,
        ref=row.ref,
        digest=row.digest,
        title=redact(row.title),
        kind=row.kind,
        type=type_or_kind(row.kind, row.type),
        level=vault.level if vault else Level.PROJECT,
        status=row.status,
        path=row.path,
        text=redact(shown),
        score=score.total,
        confidence=confidence,
        parts=score,
        reasons=(f"linked from {linked}",) if linked else _reasons(score),
        tags=row.tags,
        updated=row.updated_at,
        pushable=may_be_pushed(
            source=row.source,
            in_repository=vault is None or vault.in_repository,
            accepted=accepted,
            instructing=row.instructing,
        ),
        superseded_by=row.superseded_by,
        shadowed_by=shadow.id if shadow else "",
        stale=redact(stale.label) if stale.label else "",
        gone=stale.gone,
        below=below,
    )


def linked(
    store: Store,
    db: sqlite3.Connection,
    hits: Sequence[Hit],
    vaults: Sequence[str],
    shadows: Mapping[int, Shadow],
) -> list[Hit]:
    """Return what the hits link to, one hop, each memory replaced by what shadows or superseded it here."""
    known = {hit.ref for hit in hits}
    added: list[Hit] = []
    for hit in hits:
        taken = 0
        for row in selections.linked_from(db, hit.path, vaults):
            target = successor(db, row, shadows)
            if taken == ranking.EXPANSION_MOST or target.ref in known:
                continue
            known.add(target.ref)
            taken += 1
            used = usage.usage_of(db, [target.ref]).get(target.ref, UNUSED)
            trust = trust_of(target, used, store.now())
            score = replace(hit.parts, total=hit.score * ranking.EXPANSION_DECAY, trust=trust)
            accepted = bool(usage.accepted_digests(db, [target.digest]))
            added.append(
                as_hit(
                    store,
                    target,
                    text="",
                    score=score,
                    confidence=hit.confidence,
                    accepted=accepted,
                    stale=staleness(store, db, [target])[target.ref],
                    linked=hit.id,
                )
            )
    return added


def flagged(
    store: Store, db: sqlite3.Connection, hits: Sequence[Hit], vaults: Sequence[str]
) -> tuple[Hit, ...]:
    """Return *hits*, each with the ids of the active memories that contradict it."""
    opponents: dict[str, list[str]] = {}
    for one, other in relations.contradicting(db, vaults, private=store.private) if hits else ():
        opponents.setdefault(one.ref, []).append(other.id)
        opponents.setdefault(other.ref, []).append(one.id)
    if not opponents:
        return tuple(hits)
    return tuple(replace(hit, contradicts=tuple(dict.fromkeys(opponents.get(hit.ref, ())))) for hit in hits)


def successor(db: sqlite3.Connection, row: Row, shadows: Mapping[int, Shadow]) -> Row:
    """Return the memory that takes the place of *row* here; *row* itself when none does."""
    seen = {row.id}
    while row.superseded_by and row.superseded_by not in seen:
        seen.add(row.superseded_by)
        successor = selections.with_id(db, [row.vault], row.superseded_by)
        if successor is None:
            break
        row = successor
    shadow = shadows.get(row.row)
    return memories.by_rows(db, [shadow.row]).get(shadow.row, row) if shadow else row


def _reasons(score: Score) -> tuple[str, ...]:
    said = []
    if score.words:
        said.append(f"words {score.words:.2f}")
    if score.cosine is not None:
        said.append(f"meaning {score.cosine:.2f}")
    said += [f"{name} ×{factor:.2f}" for name, factor in score.boosts]
    return tuple(said)
