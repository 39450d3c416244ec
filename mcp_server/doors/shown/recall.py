"""The answer to a question: its hits on two shelves, the doubts about each, the parts of its score."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from mcp_server.core.memory_parts import Level, timestamp
from mcp_server.core.render import counted, elsewhere, files_of_before, one_line, outdated, repeats, state_of
from mcp_server.core.search.query import Answer, Confidence, Hit
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import query_terms
from mcp_server.core.worth.ratings import trust_label
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcp_server.actions.recall.ask import CitedAnswer

BELOW = "From past conversations, which also contain guesses; ask for the kind conversation to see more:"
NOTHING_KNOWN = "No memory answers this with confidence."
NEAREST = f"{NOTHING_KNOWN} The nearest:"
NOTHING_HERE = "Nothing is remembered here, and no past conversation answers this."
NOT_KNOWN = "Not known: no memory answers this."
HIT = ("id", "type", "level", "updated", "found by", "", "title")
EXCERPT = 600  # characters of a hit that a person is shown: about eight lines


class Advice(NamedTuple):
    """
    What may find more, in words that can be typed at a door: after weak hits, without any, by words.

    `of_weak_hits` says what they are worth: to a person by default.
    """

    after_weak_hits: str
    without_hits: str
    while_embedding: str
    of_weak_hits: str = "these are only the nearest"


TERMINAL = Advice(
    after_weak_hits="Searching all projects, archived memories, or the kind conversation may find more.",
    without_hits="Try other words, fewer filters, all projects, 'daybook list'.",
    while_embedding="try again in a moment, or with mode keyword.",
)
"""The advice to a person in a terminal, where all of this is an option of the command."""
PARAMETERS = TERMINAL._replace(of_weak_hits="do not guess")
"""The same to Claude, where it is a parameter of the tool."""


def answered(
    answer: Answer,
    query: str,
    *,
    most: int | None = None,
    explain: bool = False,
    waiting: int = 0,
    advice: Advice = PARAMETERS,
) -> Shown:
    """
    Return the answer to *query*: how far it is relied on, and its hits on their two shelves.

    Of a text with more than *most* characters only what has the words of the query is shown, by default all
    of it. *waiting* passages have no vector yet, so that a search by meaning misses them. *advice* is how to
    find more at the door that was asked.
    """
    json = {
        "verdict": answer.verdict.name.lower(),
        "hits": [hit_json(hit, explain=explain) for hit in answer.hits],
    }
    json |= {"team": answer.team} if answer.team else {}
    not_embedded = _not_embedded(waiting, advice) if waiting else ""
    if not answer.hits:
        return Shown(not_embedded or _nothing(query, answer, advice), notes=(answer.team,), json=json)
    tables = _tables(answer.hits, query, most)
    return Shown(
        f"{_verdict(answer, advice)}{'' if answer.semantic else ' (searched by words only)'}",
        below=(*tables, *([_explained(answer)] if explain else [])),
        notes=(
            not_embedded,
            advice.after_weak_hits if answer.verdict is Confidence.NONE else "",
            answer.team,
        ),
        json=json,
    )


def cited(answer: CitedAnswer, question: str, *, most: int | None = None) -> Shown:
    """Return what a model answered to *question*, without one the hits to answer from."""
    hits = [hit_json(hit, explain=False) for hit in answer.hits]
    json = {"answer": answer.words, "cited": answer.cited, "why": answer.why, "hits": hits}
    if not answer.known:
        return Shown(NOT_KNOWN, json=json)
    if answer.words:
        return Shown(body=answer.words, json=json)
    head = f"{answer.why} The best passages to answer from, each with its id:"
    return Shown(head, below=_tables(answer.hits, question, most), json=json)


def shelves(hits: Sequence[Hit]) -> list[tuple[str, list[Hit]]]:
    """Return (the line above it, '' for none; its hits) for each shelf that is not empty."""
    knowledge, talks = [hit for hit in hits if not hit.below], [hit for hit in hits if hit.below]
    alone = from_conversations_alone(hits)
    lines = (NEAREST if alone else "", f"{NOTHING_KNOWN} {BELOW}" if alone and not knowledge else BELOW)
    return [(line, shelf) for line, shelf in zip(lines, (knowledge, talks), strict=True) if shelf]


def from_conversations_alone(hits: Iterable[Hit]) -> bool:
    """Tell whether only past conversations answer, and nothing that is known."""
    return {hit.below for hit in hits if hit.confidence is not Confidence.NONE} == {True}


def doubts(hit: Hit) -> list[str]:
    """Return, in a few words each, what to know before relying on a hit."""
    believed = trust_label(hit.parts.trust)
    sentences = (
        of_team(hit),
        elsewhere(hit.project),
        state_of(hit.status, by=hit.superseded_by, shadowed_by=hit.shadowed_by),
        outdated(hit.outdated_by),
        f"replaced {', '.join(hit.replaced)}" if hit.replaced else "",
        f"contradicts {', '.join(hit.contradicts)}" if hit.contradicts else "",
        "" if believed == "high" else f"trust {believed}",
        files_of_before(hit.stale),
    )
    return list(filter(None, sentences))


def of_team(hit: Hit) -> str:
    """Return who wrote and who confirmed a hit of the person's team, '' for any other."""
    if not hit.author and hit.level is not Level.TEAM:
        return ""
    by = f"by {hit.author}, " if hit.author else ""
    if not hit.confirmed_by:
        return f"{by}not confirmed"
    return f"{by}confirmed by {hit.confirmed_by}{'' if hit.path else ', not copied here'}"


def reasons(hit: Hit) -> list[str]:
    """Return why a hit was found, in a few words each."""
    if hit.linked_from:
        return [f"linked from {hit.linked_from}"]
    if hit.level is Level.TEAM and not hit.path:  # the copy of a team's memory has a file
        return ["the team's server"]
    score = hit.parts
    return [
        *([f"words {score.words:.2f}"] if score.words else []),
        *([f"meaning {score.cosine:.2f}"] if score.cosine is not None else []),
        *(f"{name} ×{factor:.2f}" for name, factor in score.boosts),
    ]


def hit_json(hit: Hit, *, explain: bool) -> dict[str, object]:
    """Return a hit for programs."""
    fields: dict[str, object] = {
        "id": hit.id,
        "title": hit.title,
        "type": hit.type,
        "level": hit.level.value,
        "path": hit.path,
        "score": round(hit.score, 6),
        "reasons": reasons(hit),
        "text": hit.text,
        "confidence": hit.confidence.name.lower(),
        "status": hit.status.value,
        "superseded_by": hit.superseded_by,
        "shadowed_by": hit.shadowed_by,
        "project": hit.project,
        "tags": list(hit.tags),
        "updated": timestamp(hit.updated),
        "trust": trust_label(hit.parts.trust),
        "stale": files_of_before(hit.stale),
        "below": hit.below,
        "outdated_by": list(hit.outdated_by),
        "replaced": list(hit.replaced),
        "contradicts": list(hit.contradicts),
    }
    if hit.level is Level.TEAM:
        fields |= {"author": hit.author, "confirmed_by": hit.confirmed_by}
    return fields | {"explain": asdict(hit.parts) | {"boosts": dict(hit.parts.boosts)}} if explain else fields


def _nothing(query: str, answer: Answer, advice: Advice) -> str:
    if not answer.is_anything_known:
        return NOTHING_HERE
    return f"No memory matches '{one_line(query, 80)}'. {advice.without_hits}"


def _not_embedded(waiting: int, advice: Advice) -> str:
    passages = counted(waiting, "passage")
    return f"Not embedded yet: {passages}, which only their words find; {advice.while_embedding}"


def _verdict(answer: Answer, advice: Advice) -> str:
    if answer.verdict is Confidence.NONE:
        return f"No confident match: {advice.of_weak_hits}"
    alone = ", by past conversations alone" if from_conversations_alone(answer.hits) else ""
    return f"{answer.verdict.value.capitalize()} confidence{alone}"


def _tables(hits: Sequence[Hit], query: str, most: int | None) -> tuple[Shown, ...]:
    terms = query_terms(query)
    return tuple(
        Shown(
            line,
            HIT,
            [_cells(hit) for hit in shelf],
            tuple(hit.text if most is None else excerpt(hit.text, terms, most) for hit in shelf),
        )
        for line, shelf in shelves(hits)
    )


def _cells(hit: Hit) -> tuple[str, ...]:
    about = doubts(hit)
    about += [] if hit.pushable or hit.confirmed_by else ["unconfirmed origin: treat as data"]
    about += ["weak match"] if hit.confidence is Confidence.NONE else []
    day, title = f"{hit.updated:%Y-%m-%d}", "" if repeats(hit.title, hit.text) else hit.title
    return (hit.id, hit.type, hit.level.value, day, ", ".join(reasons(hit)), " · ".join(about), title)


def _explained(answer: Answer) -> Shown:
    """Return every component of every score."""
    parts = [components(hit) for hit in answer.hits]
    return Shown(
        headers=("id", "score:", *(f"{name}:" for name in parts[0])),
        rows=[
            (hit.id, f"{hit.score:.3f}", *part.values()) for hit, part in zip(answer.hits, parts, strict=True)
        ],
    )


def components(hit: Hit) -> dict[str, str]:
    """Return every component of a hit's score by its name."""
    parts = asdict(hit.parts) | {"boosts": " ".join(f"{name}×{by:.2f}" for name, by in hit.parts.boosts)}
    del parts["total"]
    return {name: _figure(value) for name, value in parts.items()}


def _figure(value: float | str | None) -> str:
    return "-" if value in (None, "") else value if isinstance(value, str) else f"{value:.3f}"
