"""candidate_entries: candidates as things that wait for the person."""

from collections.abc import Iterator
from dataclasses import replace

from mcp_server.actions.judge import candidate
from mcp_server.actions.review.entries import Became, Entry, Sightings, Verdict, WaitingKind, about
from mcp_server.core.links import as_name
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Filter, fits
from mcp_server.store import Store

CANDIDATE = "candidate"


def list_candidates(store: Store, filter: Filter, words: str = "") -> list[Entry]:
    """
    Return the candidates that *filter* lets through and that have all *words*, the most believable first.

    Those too that wait only to be seen more often. The filter's status counts for nothing.
    """
    wanted_words = as_name(words).split()
    own = store.user_vault.root / candidate.FOLDER
    return [
        _entry(proposal)
        for proposal in candidate.review_candidates(store)
        if fits(
            proposal.memory,
            Level.USER if proposal.path.parent == own else Level.PROJECT,
            filter,
            wanted_words,
        )
    ]


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
        sightings=Sightings(proposal.times, proposal.sessions),
        why=proposal.why,
        path=str(proposal.path),
        updated=memory.updated,
        digest=proposal.digest,
        answers=KIND.words,
    )


def _again(store: Store, entry: Entry) -> Entry | None:
    return next((listed for listed in list_candidates(store, Filter()) if listed.id == entry.id), None)


def _approve(store: Store, entry: Entry) -> Became:
    candidate.approve(store, [entry.id])
    return Became.ACCEPTED


def _refuse(store: Store, entry: Entry) -> Became:
    candidate.reject(store, [entry.id])
    return Became.REJECTED


KIND = WaitingKind(_listed, _again, {Verdict.ACCEPT: _approve, Verdict.REJECT: _refuse})
