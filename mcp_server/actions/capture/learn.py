"""
learn: from the raw tier's transcripts to memories, by a model that the person agreed to.

`learn` asks the model with the person's key. A caller that reaches a model otherwise takes the next piece and
brings back the answer. The answer, with the byte ranges it is about, is on the disk before any of it is
stored, and a ledger event ends each part of the piece. So after a kill nothing is asked or stored twice,
even when a transcript has grown meanwhile.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp_server.actions.capture.capture import conversation_id, is_kept_here
from mcp_server.actions.capture.pending_answers import Learned, LearnedPiece, forget_spooled, spool, spooled
from mcp_server.actions.capture.pieces import Part, Piece, is_worth_a_call, parts_of, piece_of, together
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.judge.candidate import propose
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.judge.origins import judge_session
from mcp_server.actions.model.model_call import call_model
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.adapters.prompts import prompt
from mcp_server.core.authors import MODEL
from mcp_server.core.budget import Reply
from mcp_server.core.capture.extraction import ANSWER_TOKENS, Proposal, placed, proposals, request
from mcp_server.core.capture.mining import Mined
from mcp_server.core.errors import ModelUnavailable, Rejected, Unreadable
from mcp_server.core.memory import LISTS, Draft
from mcp_server.core.search.query import Hit
from mcp_server.core.secrets.redaction import without_secrets
from mcp_server.core.worth.ratings import BASE_TRUST
from mcp_server.store import Store


def learn_pieces(store: Store, transcript: Transcript, rests: list[Part]) -> Iterator[DraftOutcome]:
    """
    Ask the model about each whole piece of *transcript* that it did not read; yield what was stored of it.

    The rest of a session that ended is added to *rests*, to be learned with others.
    Raises ModelUnavailable when the budget, the person or the service says no: what is left stays pending.
    """
    if not is_kept_here(store, transcript):
        _note_read(store, transcript, transcript.kept)  # the person forgot the conversation
        return
    if answer := spooled(store, transcript):
        yield from _take_spooled(store, transcript, answer)
        transcript = transcript._replace(learned=_end(transcript, answer))
    for part in parts_of(store, transcript, transcript.paid_start):
        if part.is_rest:
            rests += [part] if transcript.ended else []
            return
        if part.chunk.utterances:
            yield from _learn_piece(store, [part])
        else:
            _note_learned(store, part)
    _note_read(store, transcript, transcript.kept)


def learn_rests(store: Store, rests: Sequence[Part]) -> Iterator[DraftOutcome]:
    """
    Ask the model about *rests* of this project's sessions, in as few calls as they fit in; yield like above.

    What is not worth a call yet stays pending. Raises ModelUnavailable like `learn_pieces`.
    """
    groups = [group for group in together(rests) if is_worth_a_call(store, group)]
    for group in groups:
        yield from _learn_piece(store, group)


def next_piece(store: Store, *, worth_a_call: bool = False) -> Piece | None:
    """
    Return the first piece of this project's sessions that no model read, None when there is none.

    With *worth_a_call*, the rest of a session that goes on is left out, and so are short rests of ended
    sessions once enough calls were made today.
    """
    rests: list[Part] = []
    for transcript in _waiting_here(store):
        for part in parts_of(store, transcript, transcript.learned):
            if part.is_rest:
                rests += [part] if transcript.ended or not worth_a_call else []
                break
            if part.chunk.utterances:
                return piece_of(store, [part])
            _note_learned(store, part)
        else:
            _note_read(store, transcript, transcript.kept)
    for group in together(rests):
        if not worth_a_call or is_worth_a_call(store, group):
            return piece_of(store, group)
    return None


def take_left_behind(store: Store) -> None:
    """Store the answers about this project's sessions that killed processes left on the disk."""
    for transcript in _waiting_here(store):
        if answer := spooled(store, transcript):
            _take_spooled(store, transcript, answer)


def question(store: Store, piece: Piece) -> str:
    """Return what a model is asked about *piece*, beside the prompt `extract`."""
    neighbours = [(hit.type, hit.title, hit.text) for hit in piece.neighbours]
    return request(piece.chunks, neighbours, today=f"{store.clock():%Y-%m-%d}")


def take_answer(
    store: Store, piece: Piece, proposals_by_part: Sequence[Sequence[Proposal]] = ()
) -> list[DraftOutcome]:
    """
    Store *proposals_by_part*: what was accepted of a model's answer, the proposals for each part of *piece*.

    The piece then counts as learned; without proposals it is given up.
    """
    answers = []
    for part, part_proposals in zip(piece.parts, proposals_by_part or [()] * len(piece.parts), strict=True):
        keys = tuple(utterance.key for utterance in part.chunk.utterances)
        learned = tuple(_resolved(part_proposals, piece.neighbours))
        answers.append((part, LearnedPiece(part.transcript.learned, part.chunk.end, keys, learned)))
    for part, answer in answers:  # write all before storing one, so that no call is lost
        spool(store, part.transcript, answer)
    return [outcome for part, answer in answers for outcome in _take(store, part.transcript, answer)]


def take_proposals(store: Store, piece: Piece, submitted: Sequence[object]) -> tuple[list[DraftOutcome], int]:
    """
    Store what an agent proposes for *piece*, checked like a model's answer; the piece then counts as learned.

    Return what was done, and how many proposals were refused.
    """
    accepted: list[list[Proposal]] = [[] for _ in piece.parts]
    for candidate in submitted:
        at, memory_proposal = placed(candidate, piece.chunks, neighbours=len(piece.neighbours))
        accepted[at] += [memory_proposal] if memory_proposal else []
    outcomes = []
    for part, proposed in zip(piece.parts, accepted, strict=True):
        outcomes += _store(store, part.transcript, _resolved(proposed, piece.neighbours))
        _note_learned(store, part)
    return outcomes, len(submitted) - sum(map(len, accepted))


def _waiting_here(store: Store) -> list[Transcript]:
    """Return the transcripts of this project that hold turns that no model read."""
    catch_up(store)
    with store.database.read() as db:
        unlearned = transcripts.unlearned(db, paid=False)
    return [transcript for transcript in unlearned if is_kept_here(store, transcript)]


def _learn_piece(store: Store, parts: Sequence[Part]) -> list[DraftOutcome]:
    store = store.as_set_now()  # what the person switches off between two calls is off at once
    if store.settings.capture == "manual":
        raise ModelUnavailable("Nothing is learned: capture is 'manual'.")
    piece = piece_of(store, parts)
    try:
        proposals_by_part = _ask(store, piece)
    except ModelUnavailable as error:
        if error.later:
            raise
        proposals_by_part = []  # given up: the raw tier has it, and status says so
    return take_answer(store, piece, proposals_by_part)


def _take_spooled(store: Store, transcript: Transcript, answer: LearnedPiece) -> list[DraftOutcome]:
    sync(store)  # a process was killed here, perhaps before it indexed what it stored
    return _take(store, transcript, answer)


def _take(store: Store, transcript: Transcript, answer: LearnedPiece) -> list[DraftOutcome]:
    """Store what *answer* proposes, and note its piece as learned."""
    outcomes = _store(store, transcript, answer.found)
    _note_read(store, transcript, _end(transcript, answer), answer.keys)
    forget_spooled(store, transcript)
    return outcomes


def _end(transcript: Transcript, answer: LearnedPiece) -> int:
    """Return up to which byte *transcript* is learned with *answer*; unchanged if it was rewritten since."""
    follows = answer.start in (transcript.learned, transcript.paid_start)
    return answer.end if follows else transcript.learned


def _ask(store: Store, piece: Piece) -> list[list[Proposal]]:
    prompt_text = question(store, piece)
    while True:
        reply = call_model(
            store,
            item=piece.digest,
            system=prompt("extract"),
            prompt=prompt_text,
            most_tokens=ANSWER_TOKENS,
            sessions=piece.sessions,
            is_usable=functools.partial(is_usable, piece),
        )
        proposals_by_part = proposed(piece, reply)
        if proposals_by_part is not None:
            return proposals_by_part


def proposed(piece: Piece, reply: Reply) -> list[list[Proposal]] | None:
    """Return what *reply* proposes for each part of *piece*, [] for a refusal, None if it cannot be used."""
    proposals_by_part = proposals(reply.text, piece.chunks, neighbours=len(piece.neighbours))
    return [] if proposals_by_part is None and reply.stop_reason == "refusal" else proposals_by_part


def is_usable(piece: Piece, reply: Reply) -> bool:
    """Tell whether *reply* answers what was asked about *piece*; one that proposes nothing does."""
    return proposed(piece, reply) is not None


def _resolved(proposals: Sequence[Proposal], neighbours: Sequence[Hit]) -> list[Learned]:
    """Return *proposals* without tags and the like that hold secrets; memories named by number get ids."""
    resolved = []
    for proposal in proposals:
        lists: dict[str, Any] = {name: without_secrets(texts) for name, texts in _lists(proposal).items()}
        supersedes = neighbours[proposal.supersedes - 1].id if proposal.supersedes else ""
        resolved.append(Learned(replace(proposal, **lists), supersedes))
    return resolved


def _lists(proposal: Proposal) -> dict[str, Any]:
    """Return name → texts of what *proposal* has of each list that a model may propose."""
    return {key.name: getattr(proposal, key.name) for key in LISTS if key.proposed}


def _store(store: Store, transcript: Transcript, lessons: Sequence[Learned]) -> list[DraftOutcome]:
    outcomes = []
    store = store.acting_as(MODEL)
    for lesson in lessons:
        proposal = lesson.proposal
        draft = Draft(
            proposal.title,
            proposal.text,
            type=proposal.type,
            **_lists(proposal),
            source=proposal.source,
            session=transcript.session,
            conversation=conversation_id(transcript),
            evidence=proposal.evidence,
        )
        try:
            if proposal.waits or store.settings.capture == "suggest":
                _suggest(store, draft, lesson.supersedes, proposal.waits or "waits for you, as you asked")
            else:
                outcomes.append(_compared(store, draft, lesson.supersedes))
        except Rejected:
            continue  # it holds a secret, or nothing is left of it: the raw tier has the turn, masked
    if outcomes:
        path = transcript_file.session_file(Path(transcript.path))
        judge_session(store.in_session(transcript.session), path, orders_wait=True)
    return outcomes


def _compared(store: Store, draft: Draft, supersedes: str) -> DraftOutcome:
    try:
        return compare_and_store(store, draft, supersedes=supersedes)
    except Unreadable:  # the file of the memory that it replaces: nothing was written, and both are kept
        return compare_and_store(store, draft)


def _suggest(store: Store, draft: Draft, supersedes: str, why: str) -> None:
    """Put *draft* among the candidates; *why* tells people what it waits for."""
    draft = replace(draft, supersedes=(supersedes,) if supersedes else ())
    key = Mined(draft.type, draft.title, draft.text, 0.0, False).key
    confidence = BASE_TRUST[draft.source]
    propose(store, draft, key=key, confidence=confidence, why=why)


def _note_learned(store: Store, part: Part) -> None:
    _note_read(store, part.transcript, part.chunk.end, [utterance.key for utterance in part.chunk.utterances])


def _note_read(store: Store, transcript: Transcript, end: int, keys: Sequence[str] = ()) -> None:
    particulars = {"turns": list(keys)} if keys else {}
    store.record(
        "transcript_learned", path=transcript.path, session=transcript.session, end=end, **particulars
    )
    catch_up(store)
