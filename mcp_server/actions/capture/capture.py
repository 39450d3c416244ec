"""
capture: from the transcript of a session to the raw tier, where past work is found again without any model.

The hooks only note how far a transcript has grown (`actions/capture/note.py`). The worker reads what is new,
leaves out private text and secrets, and appends the rest to the session's conversation. After each piece it
writes a ledger event. After a kill, the worker repeats the last piece and skips the turns already written.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import takewhile
from pathlib import Path

from mcp_server.actions.capture.note import note_seen
from mcp_server.actions.capture.settling import judge_of
from mcp_server.actions.files.load import load
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.judge.candidate import promote, propose_mined
from mcp_server.actions.judge.remember_marker import is_stored, store_marked
from mcp_server.actions.judge.started_by_claude import asked_by_claude
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.transcript_file import Marks
from mcp_server.adapters.vault import Vault, kind_of, stamp
from mcp_server.core.capture.mining import mine
from mcp_server.core.errors import Conflict, NotFound, Rejected, Unreadable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, moment_in, slug
from mcp_server.core.provenance.provenance import TRANSCRIPT
from mcp_server.core.sessions.chunks import Chunk, chunks
from mcp_server.core.sessions.conversation import parse_turns, render_turns, turns_said, without_said
from mcp_server.core.sessions.marked_prompt import marked
from mcp_server.core.sessions.transcript import Condenser, Speaker, Utterance
from mcp_server.core.text.titles import title_of
from mcp_server.store import Store

PART = 48_000  # characters after which a conversation goes on in another file: each addition reads it whole
TRIES = 3  # attempts to add to a conversation that someone edits at the same moment

Progress = Callable[[int], None]


def with_subagents(store: Store, transcript: Transcript) -> list[Transcript]:
    """Return *transcript* and its subagents' transcripts that grew or end with it: no hook reports those."""
    family = [transcript]
    for path in transcript_file.subagents(Path(transcript.path)):
        size = transcript_file.size(path)
        with store.database.read() as db:
            agent_transcript = transcripts.known(db, str(path))
        ends = agent_transcript is not None and transcript.ended and not agent_transcript.ended
        if size and (agent_transcript is None or agent_transcript.seen != size or ends):
            # Without an earlier event, it is unknown whether this agent worked before the person agreed.
            begun = 0 if agent_transcript is None else transcript.seen
            note_seen(
                store.in_session(transcript.session),
                path,
                size,
                folder=transcript.folder,
                ended=transcript.ended,
                backfill=transcript.paid_from > 0 and transcript.paid_from >= begun,
            )
            catch_up(store)
            with store.database.read() as db:
                agent_transcript = transcripts.known(db, str(path))
            if agent_transcript:
                family.append(agent_transcript)
    return family


def keep(store: Store, transcript: Transcript, *, progress: Progress | None = None) -> int:
    """
    Take what is new in *transcript* into the raw tier, and note candidates when no model will read it.

    Return how many utterances were new. Raises OSError when the disk refuses; Unreadable when the transcript
    is no regular file.
    """
    path = Path(transcript.path)
    size = transcript_file.size(path)
    start = transcript.kept
    marks = Marks(path, start)
    if size and (start > size or marks.at_start != transcript.before):
        start, marks = 0, Marks(path, 0)  # the file was rewritten; turns it still has are known by their keys
        _note_kept(store, transcript, 0, marks)
    read_to = start

    def lines() -> Iterator[tuple[bytes, int, int]]:
        nonlocal read_to
        for line, begin, end in marks.noting(transcript_file.lines(path, start)):
            yield line, begin, end
            read_to = end

    condenser = Condenser(skipping=transcript.skipping and start > 0, subagent=asked_by_claude(store, path))
    utterance_count, reached = 0, start
    for chunk in chunks(condenser.read(lines())):
        utterance_count += _keep_chunk(
            store, transcript, chunk, marks, first_words=condenser.first_words or condenser.command
        )
        if progress:
            progress(chunk.end - reached)
        reached = chunk.end
    _note_kept(store, transcript, read_to, marks, skipping=condenser.skipping, whole=True)
    if progress:
        progress(read_to - reached)
    return utterance_count


def is_kept_here(store: Store, transcript: Transcript) -> bool:
    """Tell whether the conversation of *transcript* belongs to this project."""
    own = _vault(store)
    # A project that got a remote meanwhile has the vault of the time before, too.
    vaults = [
        vault for vault in store.vaults if vault.level is own.level and Kind.CONVERSATION in vault.kinds
    ]
    return any(_lies_at(store, vault, conversation_id(transcript)) for vault in vaults)


def conversation_id(transcript: Transcript, part: int = 1) -> str:
    """Return the id of the conversation that holds a part of *transcript*."""
    name = slug(transcript.session) or "session"
    if transcript_file.is_subagent(Path(transcript.path)):
        name = f"{name[:44]}-{slug(Path(transcript.path).stem)}"
    name = re.sub(r"[^a-z0-9-]", "", name)[:72].strip("-")
    return name if part == 1 else f"{name}-{part}"


def _keep_chunk(store: Store, transcript: Transcript, chunk: Chunk, marks: Marks, *, first_words: str) -> int:
    with store.database.read() as db:
        fresh = transcripts.fresh_keys(db, [utterance.key for utterance in chunk.utterances])
    new = [utterance for utterance in chunk.utterances if utterance.key in fresh]
    before = [] if store.settings.model_reads or not new else _last_said(store, transcript)
    conversation = _add_to_conversation(store, transcript, new, first_words=first_words) if new else ""
    sighted: list[str] = []
    if not store.settings.model_reads:
        turns = [(utterance.speaker.value, utterance.words) for utterance in new]
        facts = mine(turns, before=before, judge=judge_of(store))
        sighted = propose_mined(store, facts, session=transcript.session, conversation=conversation)
    for utterance in new:
        if utterance.forced:
            _take_marked(store, transcript, utterance, conversation)
    _note_kept(
        store, transcript, chunk.end, marks, turns=[utterance.key for utterance in new], sighted=sighted
    )
    promote(store, sighted)
    return len(new)


def _last_said(store: Store, transcript: Transcript) -> list[str]:
    """Return what Claude said and ran last in the conversation of *transcript*: a person may correct it."""
    try:
        text, _ = _read_part(_vault(store), _last_part(store, _vault(store), transcript)[1])
    except Conflict:
        return []
    turns = takewhile(lambda turn: turn.speaker != Speaker.USER, reversed(parse_turns(text)))
    return [turn.words for turn in turns][::-1]


def _take_marked(store: Store, transcript: Transcript, utterance: Utterance, conversation: str) -> None:
    """Store what the person marked with #remember, unless the hook for that prompt stored it."""
    store = store.in_session(transcript.session)
    if marked(utterance.words) == "" or is_stored(store, utterance.words):
        return
    with contextlib.suppress(Rejected):  # nothing is left of it
        store_marked(store, utterance.words, conversation=conversation)


def _note_kept(
    store: Store,
    transcript: Transcript,
    end: int,
    marks: Marks,
    *,
    skipping: bool = False,
    whole: bool = False,
    turns: Iterable[str] = (),
    sighted: Iterable[str] = (),
) -> None:
    """
    Note that the transcript is kept up to byte *end*.

    *whole*: no complete line follows *end* in what the transcript held when the reading began.
    """
    particulars = {"turns": list(turns), "sighted": list(sighted), "skipping": skipping}
    details = {name: value for name, value in particulars.items() if value}
    if whole:
        details["whole"] = transcript.seen
    store.record(
        "transcript_kept",
        path=transcript.path,
        session=transcript.session,
        end=end,
        before=marks.before(end),
        **details,
    )
    catch_up(store)


def _add_to_conversation(
    store: Store, transcript: Transcript, new: list[Utterance], *, first_words: str
) -> str:
    """Append *new* to the conversation of *transcript*; return the id of the part that holds them."""
    vault = _vault(store)
    if transcript.kept and not _lies_at(store, vault, conversation_id(transcript)):
        sync(store)  # a person may have renamed it
    for _ in range(TRIES):
        part, path = _last_part(store, vault, transcript)
        with contextlib.suppress(Conflict, NotFound):
            return _add_to_part(store, transcript, new, vault, part, path, first_words)
    raise Conflict(f"{path.name} is being edited.")


def _add_to_part(
    store: Store,
    transcript: Transcript,
    new: list[Utterance],
    vault: Vault,
    part: int,
    path: Path,
    first_words: str,
) -> str:
    """
    Append what of *new* is not in the part at *path* yet, or begin the next part; return the id of either.

    Raises Conflict and NotFound when the file changes meanwhile.
    """
    subagent = asked_by_claude(store, Path(transcript.path))
    text, digest = _read_part(vault, path)
    unsaid = without_said(new, parse_turns(text))
    if len(unsaid) < len(new):
        sync(store)  # a process was killed here, perhaps before it indexed what it wrote
    added = render_turns(turns_said(unsaid, subagent=subagent))
    if text and len(text) + len(added) > PART:
        part, text = part + 1, ""
    memory_id = conversation_id(transcript, part)
    if not unsaid:
        return memory_id
    period = _period(store, unsaid)
    if text:
        take_in(store, vault, path)
        revision = Revision(text=f"{text}\n\n{added}", updated=period[1])
        revise(store, memory_id, revision, version=digest, keep_secrets=True)
        return memory_id
    opening = first_words or unsaid[0].words
    title = title_of(opening) or "Conversation"
    draft = Draft(
        f"{title} (part {part})" if part > 1 else title,
        added,
        id=memory_id,
        kind=Kind.CONVERSATION,
        source=TRANSCRIPT,
        session=transcript.session,
        level=vault.level,
    )
    remember(store, draft, keep_secrets=True, period=period)
    return memory_id


def _period(store: Store, utterances: Iterable[Utterance]) -> tuple[datetime, datetime]:
    """Return from when to when *utterances* were said, as far as the transcript tells; else now."""
    now = store.moment()
    moments = [min(moment_in(utterance.time) or now, now) for utterance in utterances]
    return min(moments), max(moments)


def _vault(store: Store) -> Vault:
    return store.vault_for(Kind.CONVERSATION, Level.PROJECT if store.project else Level.USER)


def _last_part(store: Store, vault: Vault, transcript: Transcript) -> tuple[int, Path]:
    """Return the number and the path of the part that was written last, or of the first one to write."""
    part = 1
    while _lies_at(store, vault, conversation_id(transcript, part + 1)):
        part += 1
    path = _lies_at(store, vault, conversation_id(transcript, part))
    if path and kind_of(vault, path) == (Kind.CONVERSATION, False):
        return part, path
    while _lies_at(store, vault, conversation_id(transcript, part)):
        part += 1  # archived: it stays as it is
    return part, vault.path_for(conversation_id(transcript, part), Kind.CONVERSATION)


def _lies_at(store: Store, vault: Vault, memory_id: str) -> Path | None:
    """Return the path of the conversation with that id, whatever its file name; None when there is none."""
    for archived in (False, True):
        path = vault.path_for(memory_id, Kind.CONVERSATION, archived=archived)
        if path.exists():
            return path
    with store.database.read() as db:
        row = selections.with_id(db, [vault.key], memory_id)
    return Path(row.path) if row and stamp(Path(row.path)) else None


def _read_part(vault: Vault, path: Path) -> tuple[str, str]:
    """Return the text of the conversation at *path* and its file's digest; both are '' without a file."""
    try:
        file = load(vault, path)
    except FileNotFoundError:
        return "", ""
    except Unreadable as error:
        raise Conflict(str(error)) from error
    return file.memory.text, file.digest
