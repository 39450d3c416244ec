"""
learn: from the raw tier's transcripts to memories, by a model that the person agreed to.

`learn` asks it with the person's key; who asks it otherwise takes the next piece and brings what was said.
Each piece of a transcript is one question. Its answer is on the disk before anything of it is stored, with
the range it is about, and a line in the ledger ends the piece: a process that is killed asks nothing twice
and stores nothing twice, even when the transcript goes on meanwhile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.answered import Answer, Learned, forget_spooled, spool, spooled
from mcp_server.actions.by_claude import asked_by_claude
from mcp_server.actions.candidate import propose
from mcp_server.actions.capture import conversation_id, is_kept_here
from mcp_server.actions.model_call import call_model
from mcp_server.actions.nearby import near_sentences
from mcp_server.actions.origins import judge_session
from mcp_server.actions.settle import settle
from mcp_server.actions.settled import Settled
from mcp_server.actions.sync import catch_up, sync
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index import transcripts
from mcp_server.adapters.index.transcripts import Transcript
from mcp_server.adapters.prompts import prompt
from mcp_server.core.authors import MODEL
from mcp_server.core.chunks import Chunk, chunks, render
from mcp_server.core.dials import BASE_TRUST
from mcp_server.core.errors import ModelUnavailable, Rejected
from mcp_server.core.extraction import ANSWER_TOKENS, Proposal, proposal, proposals, request
from mcp_server.core.memory import Draft
from mcp_server.core.mining import Mined
from mcp_server.core.query import Hit
from mcp_server.core.redaction import find_secrets
from mcp_server.core.transcript import Condenser
from mcp_server.store import Store

WORTH_A_CALL = 600  # characters of a last piece; a shorter one waits for more, or for the session's end


@dataclass(frozen=True, slots=True)
class Piece:
    """What a model reads next: a chunk without what was learned elsewhere, and the memories near it."""

    transcript: Transcript
    chunk: Chunk
    neighbours: tuple[Hit, ...]


def learn(store: Store, transcript: Transcript) -> list[Settled]:
    """
    Ask the model about what it did not read of *transcript*, and store what it proposes.

    Raises ModelUnavailable when the budget, the person or the service says no: what is left stays pending.
    """
    settled: list[Settled] = []
    if not is_kept_here(store, transcript):
        _note_read(store, transcript, transcript.kept)  # the person forgot the conversation
        return settled
    if answer := spooled(store, transcript):
        settled += _take_spooled(store, transcript, answer)
        transcript = transcript._replace(learned=_end(transcript, answer))
    reached = transcript.paid_start
    for chunk, last in _unlearned_chunks(store, transcript, transcript.paid_start):
        if last and _waits_for_more(transcript, chunk):
            break
        if chunk.utterances:
            settled += _learn_chunk(store, transcript, chunk, reached)
        else:
            _note_learned(store, transcript, chunk)
        reached = chunk.end
    else:
        _note_read(store, transcript, transcript.kept)
    return settled


def next_piece(store: Store, *, worth_a_call: bool = False) -> Piece | None:
    """
    Return the first piece of this project's sessions that no model read, None when there is none.

    Of a session that goes on, a short rest is none that is *worth_a_call*.
    """
    for transcript in _waiting_here(store):
        if piece := _first_piece(store, transcript, worth_a_call=worth_a_call):
            return piece
    return None


def take_left_behind(store: Store) -> None:
    """Store what was answered about this project's sessions when a process was killed."""
    for transcript in _waiting_here(store):
        if answer := spooled(store, transcript):
            _take_spooled(store, transcript, answer)


def question(store: Store, piece: Piece) -> str:
    """Return what a model is asked about *piece*, beside the prompt `extract`."""
    known = [(hit.type, hit.title, hit.text) for hit in piece.neighbours]
    return request(piece.chunk, known, today=f"{store.clock():%Y-%m-%d}")


def take_answer(store: Store, piece: Piece, found: Sequence[Proposal]) -> list[Settled]:
    """Store what a model was believed of its answer about *piece*, which is learned then; [] gives it up."""
    start = piece.transcript.learned
    keys = tuple(each.key for each in piece.chunk.utterances)
    answer = Answer(start, piece.chunk.end, keys, tuple(_resolved(found, piece.neighbours)))
    spool(store, piece.transcript, answer)
    return _take(store, piece.transcript, answer)


def take_proposals(store: Store, piece: Piece, said: Sequence[object]) -> tuple[list[Settled], int]:
    """
    Store what an agent proposes for *piece*, checked like a model's answer; the piece is learned then.

    Return what was done, and how many proposals were refused.
    """
    checked = [proposal(each, piece.chunk, neighbours=len(piece.neighbours)) for each in said]
    found = [each for each in checked if each]
    settled = _store(store, piece.transcript, _resolved(found, piece.neighbours))
    _note_learned(store, piece.transcript, piece.chunk)
    return settled, len(said) - len(found)


def _waiting_here(store: Store) -> list[Transcript]:
    """Return the transcripts of this project that hold what no model read."""
    catch_up(store)
    with store.database.read() as db:
        waiting = transcripts.unlearned(db, paid=False)
    return [each for each in waiting if is_kept_here(store, each)]


def _waits_for_more(transcript: Transcript, chunk: Chunk) -> bool:
    """Tell whether the last *chunk* is too short for a call: what follows it may be more of the same."""
    return len(chunk.text) < WORTH_A_CALL and not transcript.ended


def _first_piece(store: Store, transcript: Transcript, *, worth_a_call: bool) -> Piece | None:
    for chunk, last in _unlearned_chunks(store, transcript, transcript.learned):
        if worth_a_call and last and _waits_for_more(transcript, chunk):
            return None
        if chunk.utterances:
            return Piece(transcript, chunk, tuple(near_sentences(store, chunk)))
        _note_learned(store, transcript, chunk)
        transcript = transcript._replace(learned=chunk.end)
    _note_read(store, transcript, transcript.kept)
    return None


def _unlearned_chunks(store: Store, transcript: Transcript, start: int) -> Iterator[tuple[Chunk, bool]]:
    """
    Yield the chunks behind byte *start* with only those turns that no model read, in no copy of them.

    With each goes whether it is the last; lines that are nobody's words may follow it.
    """
    path = Path(transcript.path)
    condenser = Condenser(subagent=asked_by_claude(store, path))
    lines = transcript_file.lines(path, start, end=transcript.kept)
    follows = False  # whether all of the chunk before was to be read; only then its end is told again
    coming = chunks(condenser.read(lines))
    following = next(coming, None)
    while chunk := following:
        following = next(coming, None)
        keys = [each.key for each in chunk.utterances]
        with store.database.read() as db:
            unlearned = transcripts.unlearned_keys(db, transcript.path, keys)
        new = tuple(each for each in chunk.utterances if each.key in unlearned)
        before = (chunk.overlap, chunk.before) if follows else ("", ())
        shown = replace(chunk, utterances=new, text=render(new), overlap=before[0], before=before[1])
        yield shown, following is None
        follows = len(new) == len(chunk.utterances)


def _learn_chunk(store: Store, transcript: Transcript, chunk: Chunk, start: int) -> list[Settled]:
    piece = Piece(transcript._replace(learned=start), chunk, tuple(near_sentences(store, chunk)))
    try:
        found = _ask(store, piece)
    except ModelUnavailable as error:
        if error.later:
            raise
        found = []  # given up: the raw tier has it, and status says so
    return take_answer(store, piece, found)


def _take_spooled(store: Store, transcript: Transcript, answer: Answer) -> list[Settled]:
    sync(store)  # a process was killed here, perhaps before the index had what it stored
    return _take(store, transcript, answer)


def _take(store: Store, transcript: Transcript, answer: Answer) -> list[Settled]:
    """Store what *answer* proposes, and note its piece as learned."""
    settled = _store(store, transcript, answer.found)
    _note_read(store, transcript, _end(transcript, answer), answer.keys)
    forget_spooled(store, transcript)
    return settled


def _end(transcript: Transcript, answer: Answer) -> int:
    """Return up to where *transcript* is learned with *answer*; no further when it was written anew since."""
    follows = answer.start in (transcript.learned, transcript.paid_start)
    return answer.end if follows else transcript.learned


def _ask(store: Store, piece: Piece) -> list[Proposal]:
    asked, item = question(store, piece), piece.chunk.digest
    while True:
        reply = call_model(
            store, item=item, system=prompt("extract"), prompt=asked, most_tokens=ANSWER_TOKENS
        )
        found = proposals(reply.text, piece.chunk, neighbours=len(piece.neighbours))
        if found is not None:
            return found
        if reply.stop_reason == "refusal":
            return []


def _resolved(found: Sequence[Proposal], neighbours: Sequence[Hit]) -> list[Learned]:
    """Return *found*, each with the id that it names by a number, without tags that are secrets."""
    return [
        Learned(
            replace(each, tags=tuple(tag for tag in each.tags if not find_secrets(tag))),
            neighbours[each.supersedes - 1].id if each.supersedes else "",
        )
        for each in found
    ]


def _store(store: Store, transcript: Transcript, found: Sequence[Learned]) -> list[Settled]:
    settled = []
    store = replace(store, by=lambda: MODEL)
    for each in found:
        made = each.proposal
        draft = Draft(
            made.title,
            made.text,
            type=made.type,
            tags=made.tags,
            source=made.source,
            session=transcript.session,
            conversation=conversation_id(transcript),
            evidence=made.evidence,
        )
        try:
            if store.settings.capture == "suggest":
                _suggest(store, draft, each.supersedes)
            else:
                settled.append(settle(store, draft, supersedes=each.supersedes))
        except Rejected:
            continue  # a secret in it, or nothing left of it: the turn is in the raw tier, masked
    if settled:
        path = transcript_file.session_file(Path(transcript.path))
        judge_session(store, transcript.session, path, orders_wait=True)
    return settled


def _suggest(store: Store, draft: Draft, supersedes: str) -> None:
    """Put *draft* among the candidates, as the person asked for."""
    draft = replace(draft, supersedes=(supersedes,) if supersedes else ())
    key = Mined(draft.type, draft.title, draft.text, 0.0, False).key
    confidence = BASE_TRUST[draft.source]
    propose(store, draft, key=key, confidence=confidence, why="waits for you, as you asked")


def _note_learned(store: Store, transcript: Transcript, chunk: Chunk) -> None:
    _note_read(store, transcript, chunk.end, [each.key for each in chunk.utterances])


def _note_read(store: Store, transcript: Transcript, end: int, keys: Sequence[str] = ()) -> None:
    particulars = {"turns": list(keys)} if keys else {}
    store.ledger.append(
        "transcript_learned",
        store.clock(),
        path=transcript.path,
        session=transcript.session,
        end=end,
        **particulars,
    )
    catch_up(store)
