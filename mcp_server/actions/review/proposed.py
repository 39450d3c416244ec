"""proposed: candidates as things that wait for the person."""

from collections.abc import Iterator
from dataclasses import replace

from mcp_server.actions.judge import candidate
from mcp_server.actions.review.entries import Became, Entry, Verdict, WaitingKind, about
from mcp_server.core.links import as_name
from mcp_server.core.memory import Level
from mcp_server.core.render import counted
from mcp_server.core.search.query import Filter, fits
from mcp_server.store import Store

CANDIDATE = "candidate"


def list_candidates(store: Store, filter: Filter, words: str = "") -> list[Entry]:
    """
    Return the candidates that *filter* lets through and that have all *words*, the most believable first.

    Those too that wait only to be seen more often. The filter's status counts for nothing.
    """
    wanted = as_name(words).split()
    own = store.user_vault.root / candidate.FOLDER
    return [
        _entry(each)
        for each in candidate.review_candidates(store)
        if fits(each.memory, Level.USER if each.path.parent == own else Level.PROJECT, filter, wanted)
    ]


def _listed(store: Store) -> tuple[int, Iterator[Entry]]:
    """List the candidates that only the person's word can make memories."""
    waiting = [each for each in candidate.review_candidates(store) if each.for_person]
    return len(waiting), (_entry(each) for each in waiting)


def _entry(waiting: candidate.Candidate) -> Entry:
    memory = waiting.memory
    seen = f"seen {counted(waiting.times, 'time')} in {counted(waiting.sessions, 'session')}"
    return Entry(
        kind=CANDIDATE,
        id=memory.id,
        ref="",
        type=memory.type,
        title=memory.title,
        text=memory.text,
        about=(*about(replace(memory, notes=())), seen),
        why=waiting.why,
        path=str(waiting.path),
        updated=memory.updated,
        digest=waiting.digest,
        answers=KIND.words,
    )


def _again(store: Store, entry: Entry) -> Entry | None:
    return next((each for each in list_candidates(store, Filter()) if each.id == entry.id), None)


def _approve(store: Store, entry: Entry, session: str) -> Became:
    del session
    candidate.approve(store, [entry.id])
    return Became.ACCEPTED


def _refuse(store: Store, entry: Entry, session: str) -> Became:
    del session
    candidate.reject(store, [entry.id])
    return Became.REJECTED


KIND = WaitingKind(_listed, _again, {Verdict.ACCEPT: _approve, Verdict.REJECT: _refuse})
