"""
pieces: which part of this project's transcripts a model reads next, so that each call is worth its price.

A piece is as much of one transcript as a call may hold. The last, shorter part of a transcript is its rest:
it waits while the session goes on, and is sent with the rests of other sessions when the session has ended.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.judge.started_by_claude import asked_by_claude
from mcp_server.actions.recall.nearby import near_sentences
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import spending, transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.digests import text_digest
from mcp_server.core.search.query import Hit
from mcp_server.core.sessions.chunks import SIZE, Chunk, chunks, render
from mcp_server.core.sessions.transcript import Condenser
from mcp_server.store import Store

AT_ONCE = 6  # while a day has fewer answers about sessions, a rest is sent as soon as its session has ended
ENOUGH = SIZE * 3 // 4  # characters of rests that are worth a call at any time; fewer wait for tomorrow


@dataclass(frozen=True, slots=True)
class Part:
    """
    A chunk of one transcript without the turns that were learned elsewhere.

    `transcript.learned` is where the chunk begins. A rest ends where its transcript does.
    """

    transcript: Transcript
    chunk: Chunk
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """What one call is about: a part of a transcript, or the rests of several, and the memories near it."""

    parts: tuple[Part, ...]
    neighbours: tuple[Hit, ...]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(part.chunk for part in self.parts)

    @property
    def digest(self) -> str:
        """32 hexadecimal characters by which the piece is known: the same in a copy of its transcripts."""
        if len(self.parts) == 1:
            return self.parts[0].chunk.digest
        return text_digest("\n".join(chunk.digest for chunk in self.chunks))

    @property
    def sessions(self) -> Mapping[str, float]:
        """Session id → its share of the piece's characters, 0 to 1."""
        lengths: dict[str, int] = {}
        for part in self.parts:
            session = part.transcript.session
            lengths[session] = lengths.get(session, 0) + len(part.chunk.text)
        return {session: length / sum(lengths.values()) for session, length in lengths.items() if session}


def piece_of(store: Store, parts: Sequence[Part]) -> Piece:
    """Return the piece made of *parts*, with the memories near it."""
    utterances = [utterance for part in parts for utterance in part.chunk.utterances]
    return Piece(tuple(parts), tuple(near_sentences(store, utterances)))


def parts_of(store: Store, transcript: Transcript, start: int) -> Iterator[Part]:
    """
    Yield the parts of *transcript* after byte *start*, with only those turns that no model read, in any copy.

    The last part is a rest unless it has no such turn; lines that hold no turn may follow it.
    """
    path = Path(transcript.path)
    condenser = Condenser(subagent=asked_by_claude(store, path))
    lines = transcript_file.lines(path, start, end=transcript.kept)
    follows = False  # whether all of the previous chunk was unread; only then its end is shown again
    coming = chunks(condenser.read(lines))
    following = next(coming, None)
    reached = start
    while chunk := following:
        following = next(coming, None)
        keys = [utterance.key for utterance in chunk.utterances]
        with store.database.read() as db:
            unlearned = transcripts.unlearned_keys(db, transcript.path, keys)
        new = tuple(utterance for utterance in chunk.utterances if utterance.key in unlearned)
        before = (chunk.overlap, chunk.before) if follows else ("", ())
        is_rest = following is None and bool(new)
        end = transcript.kept if is_rest else chunk.end
        unread_chunk = replace(
            chunk, utterances=new, text=render(new), overlap=before[0], before=before[1], end=end
        )
        yield Part(transcript._replace(learned=reached), unread_chunk, is_rest)
        follows = len(new) == len(chunk.utterances)
        reached = end


def together(rests: Iterable[Part]) -> list[list[Part]]:
    """Return *rests* in groups that are no longer than a piece, in their order."""
    groups: list[list[Part]] = []
    for part in rests:
        if groups and _length([*groups[-1], part]) <= SIZE:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def is_worth_a_call(store: Store, rests: Sequence[Part]) -> bool:
    """Tell whether *rests* of ended sessions are worth a call now, or wait for more until tomorrow."""
    if _length(rests) >= ENOUGH:
        return True
    with store.database.read() as db:
        return spending.learned_today(db, store.now()) < AT_ONCE


def _length(parts: Iterable[Part]) -> int:
    return sum(len(part.chunk.text) for part in parts)
