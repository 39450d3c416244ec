"""The hits of an answer: their two shelves, the doubts about each, the parts of its score, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.memory import timestamp
from mcp_server.core.render import outdated, state_of
from mcp_server.core.search.query import Answer, Confidence, Hit
from mcp_server.core.worth.ratings import trust_label
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BELOW = "From past conversations, which hold guesses too; ask for the kind conversation to see more:"
NOTHING_KNOWN = "Nothing that is known answers this with confidence."
NEAREST = f"{NOTHING_KNOWN} The nearest:"


def shelves(hits: Sequence[Hit]) -> list[tuple[str, list[Hit]]]:
    """Return (the line above it, '' for none; its hits) for each shelf that is not empty."""
    known, talks = [hit for hit in hits if not hit.below], [hit for hit in hits if hit.below]
    alone = from_conversations_alone(hits)
    found = [
        (NEAREST if alone else "", known),
        (f"{NOTHING_KNOWN} {BELOW}" if alone and not known else BELOW, talks),
    ]
    return [(line, shelf) for line, shelf in found if shelf]


def from_conversations_alone(hits: Iterable[Hit]) -> bool:
    """Tell whether only past conversations answer, and nothing that is known."""
    return {hit.below for hit in hits if hit.confidence is not Confidence.NONE} == {True}


def doubts(hit: Hit) -> list[str]:
    """Return, in a few words each, what to know before relying on a hit."""
    believed = trust_label(hit.parts.trust)
    said = (
        state_of(hit.status, by=hit.superseded_by, here=hit.shadowed_by),
        outdated(hit.outdated_by),
        f"contradicts {', '.join(hit.contradicts)}" if hit.contradicts else "",
        "" if believed == "high" else f"trust {believed}",
        hit.stale,
    )
    return list(filter(None, said))


def components(hit: Hit) -> dict[str, str]:
    """Return every component of a hit's score by its name."""
    parts = asdict(hit.parts) | {"boosts": " ".join(f"{name}×{by:.2f}" for name, by in hit.parts.boosts)}
    del parts["total"]
    return {name: _figure(value) for name, value in parts.items()}


def explained(answer: Answer) -> Shown:
    """Return every component of every score."""
    parts = [components(hit) for hit in answer.hits]
    return Shown(
        headers=("id", "score:", *(f"{name}:" for name in parts[0])) if parts else (),
        rows=[
            (hit.id, f"{hit.score:.3f}", *each.values()) for hit, each in zip(answer.hits, parts, strict=True)
        ],
    )


def answer_json(answer: Answer, *, explain: bool) -> dict[str, object]:
    """Return an answer for programs, with the components of each score if *explain*."""
    return {
        "verdict": answer.verdict.name.lower(),
        "hits": [hit_json(hit, explain=explain) for hit in answer.hits],
    }


def hit_json(hit: Hit, *, explain: bool) -> dict[str, object]:
    """Return a hit for programs."""
    said: dict[str, object] = {
        "id": hit.id,
        "title": hit.title,
        "type": hit.type,
        "level": hit.level.value,
        "path": hit.path,
        "score": round(hit.score, 6),
        "reasons": list(hit.reasons),
        "text": hit.text,
        "confidence": hit.confidence.name.lower(),
        "status": hit.status.value,
        "superseded_by": hit.superseded_by,
        "shadowed_by": hit.shadowed_by,
        "tags": list(hit.tags),
        "updated": timestamp(hit.updated),
        "trust": trust_label(hit.parts.trust),
        "stale": hit.stale,
        "below": hit.below,
        "outdated_by": list(hit.outdated_by),
        "contradicts": list(hit.contradicts),
    }
    return said | {"explain": asdict(hit.parts) | {"boosts": dict(hit.parts.boosts)}} if explain else said


def _figure(value: float | str | None) -> str:
    return "-" if value in (None, "") else value if isinstance(value, str) else f"{value:.3f}"
