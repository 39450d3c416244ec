"""side_by_side: ask the person's own memory and their team's at the same time."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_server.actions.files.read import read_or_none
from mcp_server.actions.files.shadows import superseding
from mcp_server.actions.files.touched import asked_of
from mcp_server.actions.recall.evidence import may_be_sent
from mcp_server.actions.recall.recall import WHOLE_TEXT, note_recalled, recall
from mcp_server.adapters import team_membership
from mcp_server.adapters.patient_call import PatientCall, StillRunning
from mcp_server.adapters.places import TEAM_KEY
from mcp_server.core.errors import DaybookError, StorageUnavailable
from mcp_server.core.memory_parts import Kind, Level, ref_of, type_or_kind
from mcp_server.core.search import confidence
from mcp_server.core.search.query import Answer, Confidence, Filter, Hit, Query, Sort, covers_all
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.storage.port import Result, Results
from mcp_server.core.team.team import JoinedTeam
from mcp_server.core.worth.ratings import base_trust
from mcp_server.store import Store

PATIENCE = 0.3  # seconds, from the question on, that a session waits for the team
NOT_SENT = "The team was not asked: the question contains a secret or something private."


def recall_side_by_side(store: Store, query: Query, *, given_to: str, patience: float | None) -> Answer:
    """Return the answer of `actions/team/recall.py`, where there is a team that may have one to *query*."""
    patience = PATIENCE if patience is None else patience
    team = store.team()
    if team is None:
        return recall(store, query, given_to=given_to)
    asking = _Asking(team, _query_for_team(store, query), patience) if may_be_sent(query.text) else None
    answer = _with_authors(store, recall(store, query))
    results, trouble = asking.result() if asking else (None, NOT_SENT)
    if results:
        answer = _joined(store, query, answer, results)
    note_recalled(store, query, answer, given_to=given_to, in_context=False)
    return replace(answer, team=trouble)


class _Asking:
    """A question that the team is asked in a thread of its own, which ends within *patience*."""

    def __init__(self, team: JoinedTeam, query: Query, patience: float) -> None:
        self._patience = patience
        self._until = time.monotonic() + patience
        self._call = PatientCall(lambda: team.search(query, patience=patience), name="ask-team")

    def result(self) -> tuple[Results | None, str]:
        """Return the results, or None and why there are none, as a sentence."""
        try:
            return self._call.result(self._until - time.monotonic()), ""
        except StillRunning:
            return None, f"The team's memory did not answer within {self._patience:g} seconds."
        except StorageUnavailable as error:  # its hint is no news: the next question asks again
            return None, f"Without the team's memory: {error}"
        except DaybookError as error:
            return None, f"Without the team's memory: {error.with_hint}"


def _query_for_team(store: Store, query: Query) -> Query:
    """Return *query* for the team, whose database is one level and knows no projects and no home folder."""
    filter = replace(query.filter, level=None, all_projects=False, kinds=(Kind.KNOWLEDGE,))
    return replace(query, filter=asked_of(store, filter), expand=False)


def _joined(store: Store, query: Query, answer: Answer, results: Results) -> Answer:
    """Return *answer* with the team's *results*: each memory once, none that a nearer one supersedes."""
    copied = team_membership.copied_of(store.home)
    own = [hit for hit in answer.hits if not hit.below]
    below = [hit for hit in answer.hits if hit.below]
    by_id = {result.stored.memory.id: result for result in results.results if _fits(result, query.filter)}
    nearer: Mapping[str, str] = {}
    if by_id and not covers_all(query.filter):
        with store.database.read() as db:
            nearer = superseding(store, db, [*by_id])
    own_by_id = {hit.id: hit for hit in own}
    hits = [
        hit
        for hit in map(_hit, by_id.values())
        if (hit.id not in nearer or (nearer[hit.id] == hit.id and _is_newer(store, by_id[hit.id])))
        and not ((other := own_by_id.get(hit.id)) and _is_same(other, hit, copied))
    ]
    newer = {hit.id for hit in hits}
    own = [hit for hit in own if hit.level is not Level.TEAM or hit.id not in newer]
    most = max(query.limit, len(own)) if query.expand else query.limit
    knowledge = _in_order([*own, *hits], query.sort)[:most]
    return replace(
        answer,
        verdict=confidence.highest(
            [answer.verdict if below else Confidence.NONE, *(hit.confidence for hit in knowledge)]
        ),
        hits=(*knowledge, *below),
    )


def _is_newer(store: Store, result: Result) -> bool:
    """Tell whether what the person gave to the team says other words there since their own last change."""
    theirs, own = result.stored.memory, read_or_none(store, result.stored.memory.id)
    return own is not None and (
        theirs.updated > own.memory.updated
        and (theirs.title, theirs.text) != (own.memory.title, own.memory.text)
    )


def _is_same(own: Hit, hit: Hit, copied: Mapping[str, team_membership.Copied]) -> bool:
    """Tell whether *hit* of the server says what *own* says: that is its copy, or the person shared it."""
    if own.level is Level.TEAM:
        copy = copied.get(own.id)
        return copy is not None and (copy.version, copy.digest) == (hit.digest, own.digest)
    return (own.title, own.text) == (hit.title, hit.text)


def _fits(result: Result, filter: Filter) -> bool:
    memory = result.stored.memory
    return memory.kind is Kind.KNOWLEDGE and (memory.status in filter.statuses or bool(filter.as_of))


def _with_authors(store: Store, answer: Answer) -> Answer:
    """
    Return *answer* with the author and the curator of each hit from the team's copy.

    The curator did not confirm what somebody edited here.
    """
    copied = team_membership.copied_of(store.home)

    def with_author(hit: Hit) -> Hit:
        copy = copied.get(hit.id) if hit.level is Level.TEAM else None
        if copy is None:
            return hit
        confirmed_by = copy.confirmed_by if copy.digest == hit.digest else ""
        return replace(hit, author=copy.author, confirmed_by=confirmed_by)

    return replace(answer, hits=tuple(map(with_author, answer.hits)))


def _hit(result: Result) -> Hit:
    """Return a result of the team's server as a hit, which is never shown unasked."""
    stored, memory = result.stored, result.stored.memory
    whole = not result.passage or len(memory.text) <= WHOLE_TEXT
    return Hit(
        id=memory.id,
        ref=ref_of(TEAM_KEY, memory.id),
        digest=stored.digest,
        title=redact(memory.title),
        kind=memory.kind,
        type=type_or_kind(memory.kind, memory.type),
        level=Level.TEAM,
        status=memory.status,
        path="",
        text=redact(memory.text if whole else result.passage),
        score=result.score.total,
        confidence=result.confidence,
        parts=replace(result.score, trust=result.score.trust or base_trust(None, memory.source)),
        tags=memory.tags,
        updated=memory.updated,
        pushable=False,
        superseded_by=memory.superseded_by,
        author=stored.author,
        confirmed_by=stored.confirmed_by,
    )


def _in_order(hits: Collection[Hit], sort: Sort) -> Sequence[Hit]:
    """Return *hits*, best first; hits that are only linked from others come last, in their order."""
    direct = [hit for hit in hits if not hit.linked_from]
    direct.sort(key=lambda hit: -(hit.parts.relevance if sort is Sort.RELEVANCE else hit.score))
    return [*direct, *(hit for hit in hits if hit.linked_from)]
