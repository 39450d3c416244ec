"""
learn: from the raw tier's transcripts to memories, by a model that the person agreed to.

Each piece of a transcript is one question. Its answer is on the disk before anything of it is stored, with
the range it is about, and a line in the ledger ends the piece: a process that is killed asks nothing twice
and stores nothing twice, even when the transcript goes on meanwhile.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mcp_server.actions.candidate import propose
from mcp_server.actions.capture import conversation_id, is_kept_here, is_subagent
from mcp_server.actions.model_call import call_model
from mcp_server.actions.nearby import near_sentences
from mcp_server.actions.origins import judge_session
from mcp_server.actions.settle import settle
from mcp_server.actions.settled import Settled
from mcp_server.actions.sync import catch_up, sync
from mcp_server.adapters import files, places, transcript_file
from mcp_server.adapters.index import transcripts
from mcp_server.adapters.index.transcripts import Transcript
from mcp_server.adapters.prompts import prompt
from mcp_server.core.chunks import Chunk, chunks, render
from mcp_server.core.dials import BASE_TRUST
from mcp_server.core.errors import ModelUnavailable, Rejected
from mcp_server.core.extraction import ANSWER_TOKENS, Proposal, proposal, proposals, request
from mcp_server.core.journal import MODEL
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


@dataclass(frozen=True, slots=True)
class _Learned:
    """One proposal with the id of what it takes the place of."""

    proposal: Proposal
    supersedes: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was learned from a piece, as it waits on the disk: the piece's byte range and its turns."""

    start: int
    end: int
    keys: tuple[str, ...]
    found: tuple[_Learned, ...]


def learn(store: Store, transcript: Transcript) -> list[Settled]:
    """
    Ask the model about what it did not read of *transcript*, and store what it proposes.

    Raises ModelUnavailable when the budget, the person or the service says no: what is left stays pending.
    """
    settled: list[Settled] = []
    if not is_kept_here(store, transcript):
        _note_read(store, transcript, transcript.kept)  # the person forgot the conversation
        return settled
    if answer := _spooled(_spool(store, transcript)):
        sync(store)  # a process was killed here, perhaps before the index had what it stored
        settled += _take(store, transcript, answer)
        transcript = replace(transcript, learned=_end(transcript, answer))
    reached = transcript.paid_start
    for chunk in _unlearned_chunks(store, transcript, transcript.paid_start):
        if len(chunk.text) < WORTH_A_CALL and not transcript.ended and chunk.end >= transcript.kept:
            break
        if chunk.utterances:
            settled += _learn_chunk(store, transcript, chunk, reached)
        else:
            _note_learned(store, transcript, chunk)
        reached = chunk.end
    else:
        _note_read(store, transcript, transcript.kept)
    return settled


def sweep_answers(store: Store) -> None:
    """Delete the answers whose pieces are learned: a process was killed before it could."""
    with store.database.read() as db:
        waiting = {_spool(store, each) for each in transcripts.unlearned(db, paid=True)}
    for path in (store.home / places.WORK).glob("learn-*.json"):
        if path not in waiting:
            files.delete(path)


def next_piece(store: Store) -> Piece | None:
    """Return the first piece of this project's sessions that no model read, None when there is none."""
    catch_up(store)
    with store.database.read() as db:
        waiting = transcripts.unlearned(db, paid=False)
    for transcript in waiting:
        if is_kept_here(store, transcript) and (piece := _first_piece(store, transcript)):
            return piece
    return None


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


def _first_piece(store: Store, transcript: Transcript) -> Piece | None:
    for chunk in _unlearned_chunks(store, transcript, transcript.learned):
        if chunk.utterances:
            return Piece(transcript, chunk, tuple(near_sentences(store, chunk)))
        _note_learned(store, transcript, chunk)
    _note_read(store, transcript, transcript.kept)
    return None


def _unlearned_chunks(store: Store, transcript: Transcript, start: int) -> Iterator[Chunk]:
    """Yield the chunks behind byte *start* with only those turns that no model read, in no copy of them."""
    path = Path(transcript.path)
    condenser = Condenser(subagent=is_subagent(path))
    lines = transcript_file.lines(path, start, end=transcript.kept)
    follows = False  # whether all of the chunk before was to be read; only then its end is told again
    for chunk in chunks(condenser.read(lines)):
        keys = [each.key for each in chunk.utterances]
        with store.database.read() as db:
            unlearned = transcripts.unlearned_keys(db, transcript.path, keys)
        new = tuple(each for each in chunk.utterances if each.key in unlearned)
        before = (chunk.overlap, chunk.before) if follows else ("", ())
        yield replace(chunk, utterances=new, text=render(new), overlap=before[0], before=before[1])
        follows = len(new) == len(chunk.utterances)


def _learn_chunk(store: Store, transcript: Transcript, chunk: Chunk, start: int) -> list[Settled]:
    neighbours = near_sentences(store, chunk)
    try:
        found = _resolved(_ask(store, chunk, neighbours), neighbours)
    except ModelUnavailable as error:
        if error.later:
            raise
        found = []  # given up: the raw tier has it, and status says so
    answer = _Answer(start, chunk.end, tuple(each.key for each in chunk.utterances), tuple(found))
    files.write_new(_spool(store, transcript), json.dumps(asdict(answer)).encode("ascii"))
    return _take(store, replace(transcript, learned=start), answer)


def _take(store: Store, transcript: Transcript, answer: _Answer) -> list[Settled]:
    """Store what *answer* proposes, and note its piece as learned."""
    settled = _store(store, transcript, answer.found)
    _note_read(store, transcript, _end(transcript, answer), answer.keys)
    files.delete(_spool(store, transcript))
    return settled


def _end(transcript: Transcript, answer: _Answer) -> int:
    """Return up to where *transcript* is learned with *answer*; no further when it was written anew since."""
    return answer.end if transcript.paid_start == answer.start else transcript.learned


def _spool(store: Store, transcript: Transcript) -> Path:
    """Return where the answer about a piece of *transcript* waits."""
    name = files.digest(transcript.path.encode("utf-8", "surrogatepass"))
    return store.home / places.WORK / f"learn-{name}.json"


def _ask(store: Store, chunk: Chunk, neighbours: Sequence[Hit]) -> list[Proposal]:
    known = [(hit.type, hit.title, hit.text) for hit in neighbours]
    asked = request(chunk, known, today=f"{store.clock():%Y-%m-%d}")
    while True:
        reply = call_model(
            store, item=chunk.digest, system=prompt("extract"), prompt=asked, most_tokens=ANSWER_TOKENS
        )
        found = proposals(reply.text, chunk, neighbours=len(neighbours))
        if found is not None:
            return found
        if reply.stop_reason == "refusal":
            return []


def _resolved(found: Sequence[Proposal], neighbours: Sequence[Hit]) -> list[_Learned]:
    """Return *found*, each with the id that it names by a number, without tags that are secrets."""
    return [
        _Learned(
            replace(each, tags=tuple(tag for tag in each.tags if not find_secrets(tag))),
            neighbours[each.supersedes - 1].id if each.supersedes else "",
        )
        for each in found
    ]


def _spooled(path: Path) -> _Answer | None:
    """Return the answer that a killed process left behind, None when there is none."""
    try:
        said = json.loads(files.read(path))
        found = [
            _Learned(
                Proposal(**{**each["proposal"], "tags": tuple(each["proposal"]["tags"])}), each["supersedes"]
            )
            for each in said["found"]
        ]
        return _Answer(int(said["start"]), int(said["end"]), tuple(said["keys"]), tuple(found))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        files.delete(path)
        return None


def _store(store: Store, transcript: Transcript, found: Sequence[_Learned]) -> list[Settled]:
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
