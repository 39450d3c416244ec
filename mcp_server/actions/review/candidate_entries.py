"""candidate_entries: candidates as things that wait for the person."""

from collections.abc import Iterator
from dataclasses import replace

from mcp_server.actions.judge import candidate
from mcp_server.actions.review.entries import Became, Entry, Sightings, Verdict, WaitingKind, about
from mcp_server.store import Store

CANDIDATE = "candidate"


def _listed(store: Store) -> tuple[int, Iterator[Entry]]:
    """List the candidates that only the person's word can make memories."""
    proposals = [proposal for proposal in candidate.review_candidates(store) if proposal.for_person]
    return len(proposals), (_entry(proposal) for proposal in proposals)


def _entry(proposal: candidate.Candidate) -> Entry:
    memory = proposal.memory
    return Entry(
        kind=CANDIDATE,
        id=memory.id,
        ref="",
        type=memory.type,
        title=memory.title,
        text=memory.text,
        about=about(replace(memory, notes=())),
        sightings=Sightings(proposal.times, proposal.sessions) if proposal.times else None,
        why=proposal.why,
        path=str(proposal.path),
        updated=memory.updated,
        digest=proposal.digest,
        answers=KIND.words,
    )


def _again(store: Store, entry: Entry) -> Entry | None:
    proposals = candidate.review_candidates(store)
    return next((_entry(proposal) for proposal in proposals if proposal.memory.id == entry.id), None)


def _approve(store: Store, entry: Entry) -> Became:
    candidate.approve(store, [entry.id])
    return Became.ACCEPTED


def _refuse(store: Store, entry: Entry) -> Became:
    candidate.reject(store, [entry.id])
    return Became.REJECTED


KIND = WaitingKind(_listed, _again, {Verdict.ACCEPT: _approve, Verdict.REJECT: _refuse})
