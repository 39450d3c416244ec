"""Tools for what Daybook learns by itself: ask, the work of the memory-extractor, candidates, mining."""

from dataclasses import replace
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions import candidate, learn, mine
from mcp_server.actions.ask import NOT_KNOWN
from mcp_server.actions.ask import ask as ask_question
from mcp_server.actions.repository import trust
from mcp_server.actions.tidy import tidy
from mcp_server.adapters.prompts import prompt
from mcp_server.core.errors import Conflict, PersonNeeded, Rejected
from mcp_server.core.extraction import request
from mcp_server.core.memory import split_list
from mcp_server.doors.server import curation_replies, replies
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import MOST_PARTS, YES_OR_NO, Dialog, fits
from mcp_server.store import Store

Ids = Annotated[list[str] | str, Field(description="ids of candidates; 'all' for all that wait")]


def register(application: Application) -> None:
    """Add the learning tools to *application*."""
    session = application.session
    tool = application.tool
    store = application.opened.store
    shown: list[learn.Piece] = []  # the one that next_transcript_chunk gave last

    @tool()
    def ask(question: Annotated[str, Field(description="in the person's own words")]) -> str:
        """
        Answer a question from everything remembered, citing ids, or say that it is not known. May use the
        person's API budget if they allowed that; otherwise gives the best passages to answer from.
        """
        asked = ask_question(store(), question, session=session.id)
        if not asked.known:
            return NOT_KNOWN
        return asked.words or replies.passages(asked.hits)

    @tool(reads=True)
    def next_transcript_chunk() -> str:
        """
        Return the next piece of this project's past sessions that nothing was learned from, the memories
        near it, and what to propose. For the memory-extractor; follow with submit_candidates.
        """
        piece = learn.next_piece(store())
        if piece is None:
            return "Nothing is left to learn from."
        shown[:] = [piece]
        known = [(hit.type, hit.title, hit.text) for hit in piece.neighbours]
        asked = request(piece.chunk, known, today=f"{store().clock():%Y-%m-%d}")
        return f"chunk {piece.chunk.digest}\n\n{prompt('extract')}\n\n{asked}"

    @tool()
    def submit_candidates(
        chunk: Annotated[str, Field(description="the id that next_transcript_chunk gave")],
        candidates: Annotated[
            list[dict[str, Any]],
            Field(description="objects with type, title, content, tags, supersedes, evidence; [] for none"),
        ],
    ) -> str:
        """
        Propose memories for the piece that next_transcript_chunk gave; each is checked against it, then
        stored, merged or refused. An empty list is the usual answer.
        """
        here = store()
        piece = learn.next_piece(here)
        if piece is None or piece.chunk.digest != chunk.strip():
            raise Rejected("That piece is not the next one any more.", "Call next_transcript_chunk again.")
        if shown and shown[0].chunk.digest == piece.chunk.digest:
            piece = replace(piece, neighbours=shown[0].neighbours)  # they were named by these numbers
        settled, refused = learn.take_proposals(here, piece, candidates)
        return replies.proposals("Done", settled, refused=refused)

    @tool(reads=True)
    def review_candidates(
        type: Annotated[str, Field(description="only this type")] = "",
        min_times: Annotated[int, Field(description="only those seen that often")] = 0,
    ) -> str:
        """List the memories that were proposed and wait for more sightings or for the person."""
        return replies.candidates(candidate.review_candidates(store(), type=type, min_times=min_times))

    @tool()
    def log_output(
        content: Annotated[str, Field(description="what a program printed, at most 64 KiB")],
    ) -> str:
        """Log output that may show how this project works (versions, commands, configuration); secrets are
        masked, it is kept for a week, and run_mining finds what recurs in it."""
        return curation_replies.logged(mine.log_output(store(), content, session=session.id))

    @tool()
    def run_mining(
        hours: Annotated[float, Field(description="how far to look back, at most 168")] = 24,
    ) -> str:
        """Look for recurring facts, decisions, commands and versions in what was logged and said lately; they
        become candidates, or memories when they were seen often enough."""
        return curation_replies.mined(mine.run_mining(store(), hours=hours))

    @tool(reads=True)
    def mining_status() -> str:
        """Tell how large the output log is, how many candidates wait, and what the last runs found."""
        return curation_replies.mining(mine.mining_status(store()))

    @tool()
    def consolidate(
        apply: Annotated[bool, Field(description="carry the plan out; without, it is only shown")] = False,
        with_model: Annotated[bool, Field(description="let a plan ask the model too, which costs")] = False,
    ) -> str:
        """
        Show what tidying would do (join equal memories, list what may differ, archive what shows no life), or
        with apply do it. Reversible with 'daybook tidy --undo'. Apply only when the person asked for it.
        """
        return replies.tidied(tidy(store(), dry_run=not apply, with_model=apply or with_model))

    @tool()
    def approve_candidate(context: Context[Any, Any], ids: Ids) -> str:
        """Store candidates as memories, after the person said so in a dialog of theirs."""
        here = store()
        keys = _agreed(Dialog(context), here, _named(here, ids), "Store as a memory", "--approve")
        stored = candidate.approve(here, keys)
        trust(here, tuple(each.id for each in stored))  # the person said so
        return replies.proposals("Stored", stored)

    @tool(destroys=True)
    def reject_candidate(context: Context[Any, Any], ids: Ids) -> str:
        """Delete candidates for good, after the person said so in a dialog of theirs."""
        here = store()
        keys = _agreed(Dialog(context), here, _named(here, ids), "Delete for good", "--reject")
        candidate.reject(here, keys)
        return f"{len(keys)} rejected."


def _agreed(dialog: Dialog, store: Store, keys: list[str], what: str, option: str) -> list[str]:
    """Return those of *keys* of which the person was shown every word, and said yes; raises PersonNeeded."""
    act, typed = "settling what was proposed", f"candidates {option} {' '.join(keys)}"
    waiting = {key: candidate.expected(store, key).memory for key in keys}
    questions = {
        key: f"{what}? {memory.type} “{memory.title}”: {memory.text}" for key, memory in waiting.items()
    }
    parts = [fits(question) for question in questions.values()]
    if not all(parts) or sum(parts) > MOST_PARTS:
        raise PersonNeeded(act, typed, why="this is too much for a dialog")
    answers = {
        key: dialog.demand(question, YES_OR_NO, act=act, typed=typed) for key, question in questions.items()
    }
    agreed = [key for key, answer in answers.items() if answer == "yes"]
    if any(candidate.expected(store, key).memory != waiting[key] for key in agreed):
        raise Conflict("A candidate changed while the person was asked; nothing was done.")
    return agreed


def _named(store: Store, ids: list[str] | str) -> list[str]:
    named = list(split_list(ids))
    return [each.memory.id for each in candidate.review_candidates(store)] if named == ["all"] else named
