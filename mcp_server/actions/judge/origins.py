"""
origins: find where in its session the words of a memory that Claude stored come from, and list what waits.

A memory stored by Claude is acknowledged first and waits. Then its words are looked up in the transcripts of
its session, and an event says that it may be shown unasked, or why it goes on waiting for the person.
"""

import functools
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_accepted, read, read_rows
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.judge.started_by_claude import asked_by_claude
from mcp_server.actions.memory.remember import reinstate, supersede
from mcp_server.adapters import git, places, transcript_file
from mcp_server.adapters.git import Git
from mcp_server.adapters.index.events import deeds
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.accepted_bytes import once_accepted
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.project import resolve_project
from mcp_server.adapters.vault import stamp
from mcp_server.core.changes import Stamp
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import fingerprint
from mcp_server.core.provenance.origins import Inquiry, OriginDoubt, OriginReason
from mcp_server.core.provenance.provenance import ASSISTANT, OUTPUT, SEEDED
from mcp_server.core.provenance.session_words import Hearing, SessionText, Voice
from mcp_server.store import Store

JUDGED = "judged_origin"
MOST_READ = 32 * 1024 * 1024  # bytes at the end of a session's transcripts that are looked at
AT_ONCE = 512 * 1024  # bytes that are looked at while an answer waits: 20 ms
MOST_PENDING = 50  # memories of one session that are looked up together
_ALONE = {OUTPUT: OriginDoubt.PRINTED, SEEDED: OriginDoubt.IN_DOCUMENT}
_FORMER_NO_TRANSCRIPT = "was stored in a session without a transcript"  # as earlier versions wrote it
_BROUGHT = frozenset("node_modules site-packages vendor .venv venv target dist build .git".split())


@dataclass(frozen=True, slots=True)
class WaitingOrigin:
    """A memory that is not shown unasked until the person accepts it, and why."""

    row: Row
    why: OriginReason


def waiting(store: Store) -> list[WaitingOrigin]:
    """
    Return the memories of all visible vaults that are not shown unasked until the person accepts them.

    Those that Claude stored come first, then the repository's, then those from programs and documents.
    Raises IndexUnavailable.
    """
    keys = store.own
    shared = store.shared
    with store.database.read() as db:
        rows = selections.not_accepted(db, keys, shared)
        accepted_refs = once_accepted(db, [row.ref for row in rows if row.vault in shared])
        alone = [row for row in selections.searched_alone(db, keys) if row.vault not in shared]
        origins = [
            WaitingOrigin(
                row,
                OriginReason(OriginDoubt.CHANGED)
                if row.ref in accepted_refs
                else _why(store, row, _judged(db, row)),
            )
            for row in rows
        ]
    origins.sort(key=lambda origin: origin.row.vault in shared)
    return [*origins, *(WaitingOrigin(row, OriginReason(_ALONE[row.source])) for row in alone)]


def judge(
    store: Store, memory_id: str, transcript: Path | None, *, prompt: str = "", call: str = "", was: str = ""
) -> OriginReason | None:
    """
    Look up in its session the memory that Claude just stored; return why it waits, None when it does not.

    *prompt* is the person's last turn, which the transcript may not have yet, and *call* the id of the tool
    call that stored it: while the transcript lacks that call, or is too long, `judge_session` judges later.
    *was* is what the memory said before, where that may be shown unasked.
    """
    file = read(store, memory_id)
    if file.memory.source != ASSISTANT or is_accepted(store, file):
        return None
    if transcript is None:
        why = OriginReason(OriginDoubt.NO_TRANSCRIPT)
        _note(store, file.ref, file.digest, why, file.memory)
        return why
    if sum(map(transcript_file.size, _transcripts(transcript))) > AT_ONCE:
        return OriginReason(OriginDoubt.NOT_JUDGED)
    session_texts = [SessionText(Voice.PERSON, prompt), SessionText(Voice.PROJECT, was)]
    (judged,), calls = inquire(store, transcript, [words_of(file.memory)], session_texts)
    if call and call not in calls:
        return OriginReason(OriginDoubt.NOT_JUDGED)
    _note(store, file.ref, file.digest, judged, file.memory)
    _settle(store, file, judged)
    return judged


def judge_session(store: Store, transcript: Path, *, prompt: str = "", orders_wait: bool = False) -> int:
    """
    Look up what Claude stored in this session and what is not judged yet; return their number.

    *orders_wait*: a model read the turns, and may have taken text that the person pasted for their wish.
    """
    if not store.session:
        return 0
    catch_up_if_free(store)
    with store.database.read() as db:
        rows = [
            row for row in selections.unjudged(db, store.private, store.session) if not _judged_now(db, row)
        ]
    rows = rows[:MOST_PENDING]
    if not rows:
        return 0
    texts = [_words(row.title, row.text) for row in rows]
    session_texts = [SessionText(Voice.PERSON, prompt)]
    reasons, _ = inquire(store, transcript, texts, session_texts, orders_wait=orders_wait)
    for row, why in zip(rows, reasons, strict=True):
        _note(store, row.ref, row.digest, why, row)
        for file in read_rows(store, [row]):  # not by its id, which another vault may have, too
            _settle(store, file, why)
    return len(rows)


def judge_words(store: Store, text: str, transcript: Path | None, *, prompt: str) -> None:
    """Look up Claude's summary of a session (*text*), and note whether it may be shown unasked."""
    if transcript and sum(map(transcript_file.size, _transcripts(transcript))) <= MOST_READ:
        (why,), _ = inquire(store, transcript, [text], [SessionText(Voice.PERSON, prompt)])
        _note(store, "", words_digest(text), why)


def words_digest(text: str) -> str:
    """Return the digest by which the ledger names words that are no memory."""
    return fingerprint("", text)


def words_of(memory: Memory) -> str:
    """Return the words of a memory that are looked up."""
    return "\n".join((_words(memory.title, memory.text), *memory.notes))


def _words(title: str, text: str) -> str:
    """Return title and text; a title that is only the clipped beginning of the text may end within a word."""
    return text if text.startswith(title.rstrip("…")) else f"{title}\n{text}"


def inquire(
    store: Store,
    transcript: Path,
    texts: Sequence[str],
    session_texts: Sequence[SessionText],
    *,
    orders_wait: bool = False,
) -> tuple[list[OriginReason | None], frozenset[str]]:
    """
    Return (why each of *texts* waits, None for what does not; the ids of the calls in the transcript).

    At most the last 32 MiB of the session's transcripts are read, those of its agents included.
    """
    inquiries = [Inquiry(text) for text in texts]
    paths = _transcripts(transcript)
    accepted = store.project is not None and places.is_accepted(store.home, store.project)
    own = _own(store)
    unread, bytes_left = not transcript_file.size(transcript), MOST_READ
    calls: set[str] = set()
    for utterance in session_texts:
        for inquiry in inquiries:
            inquiry.hear(utterance)
    for path in paths:
        begin = max(0, transcript_file.size(path) - bytes_left)
        bytes_left = max(0, bytes_left - transcript_file.size(path))
        agent = path != transcript or asked_by_claude(store, path)
        hearing = Hearing(own, accepted=accepted, agents_read=len(paths) > 1, agent=agent)
        for utterance in hearing.hear(transcript_file.whole_lines(path, begin)):
            for inquiry in inquiries:
                inquiry.hear(utterance)
        unread |= hearing.unread or begin > 0
        calls |= hearing.calls.keys()
    reasons = [inquiry.verdict(unread=unread, orders_wait=orders_wait) for inquiry in inquiries]
    return reasons, frozenset(calls)


def _transcripts(transcript: Path) -> list[Path]:
    """Return the transcript of a session and those of its agents that are regular files."""
    return [transcript, *transcript_file.subagents(transcript)]


def _own(store: Store) -> Callable[[str, str], bool]:
    """Return own(path, folder): whether *path*, relative to *folder*, is a project file that git tracks."""
    person = Path(os.path.expanduser("~"))

    @functools.cache
    def own(path: str, folder: str) -> bool:
        if not store.project or not path or "\0" in path or len(path) > 4096:
            return False
        whole = Path(os.path.realpath(os.path.join(folder or store.project.root, path)))
        root = next(
            (parent for parent in whole.parents if os.path.lexists(parent / ".git")), store.project.root
        )
        if root != store.project.root:
            project = resolve_project(root, home=person)
            if project is None or project.key != store.project.key:
                return False
        if not whole.is_relative_to(root):
            return False
        listed = (
            _tracked(store.git, root, stamp(root / ".git" / "index"))
            if os.path.lexists(root / ".git")
            else None
        )
        relative = whole.relative_to(root)
        return not _BROUGHT.intersection(relative.parts) if listed is None else relative.as_posix() in listed

    return own


@functools.lru_cache(maxsize=4)
def _tracked(persons: Git, root: Path, index: Stamp | None) -> frozenset[str]:
    """Return the files git tracks below *root*, cached by the stamp of git's index: asking runs a process."""
    return git.tracked(persons, root)


def _judged(db: sqlite3.Connection, row: Row) -> OriginReason | None:
    """Return why the memory waits by its last judgement with these words, None when there is none."""
    last = deeds.listed(db, ref=row.ref, events=(JUDGED,), limit=1)
    detail = last[0].detail if last else {}
    # A pin, tag or link changes the bytes, but nothing about where the words come from.
    is_same = detail.get("of") == row.digest or detail.get("words") == fingerprint(row.title, row.text)
    if not detail.get("why") or not is_same:
        return None
    return OriginReason(str(detail["why"]), str(detail.get("word", "")), str(detail.get("place", "")))


def _judged_now(db: sqlite3.Connection, row: Row) -> bool:
    why = _judged(db, row)
    return why is not None and why.doubt not in (OriginDoubt.NO_TRANSCRIPT, _FORMER_NO_TRANSCRIPT)


def _settle(store: Store, file: MemoryFile, why: OriginReason | None) -> None:
    """
    Let a memory supersede what its file says, or, when it waits (*why*), make those memories active again.

    This is part of the change that wrote the memory: taking back one takes back both.
    """
    memory = file.memory
    store = store.in_session(memory.session)
    with store.database.read() as db:
        wrote = deeds.last_change(db, [file.vault.key], refs=[file.ref]) if memory.supersedes else None
    with one_change(str(wrote.detail.get("change") or "") if wrote else ""):
        if why is None:
            supersede(store, file)
        for old in memory.supersedes if why else ():
            reinstate(store, old, by=memory.id)


def _why(store: Store, row: Row, judged: OriginReason | None) -> OriginReason:
    if judged and row.source == ASSISTANT:
        return judged
    if row.source != ASSISTANT and row.vault not in store.private:
        return OriginReason(OriginDoubt.FROM_REPOSITORY)
    if row.source != ASSISTANT or row.instructing:
        return OriginReason(OriginDoubt.INSTRUCTS)
    return OriginReason(OriginDoubt.NOT_JUDGED if row.session else OriginDoubt.NO_TRANSCRIPT)


def _note(
    store: Store, ref: str, digest: str, why: OriginReason | None, memory: Memory | Row | None = None
) -> None:
    refs = [ref] if ref else []
    reason = why or OriginReason("")
    store.try_record(
        JUDGED,
        refs=refs,
        digests=[] if why else [digest],
        of=digest,
        why=reason.doubt,
        words=fingerprint(memory.title, memory.text) if memory else "",
        **{name: value for name, value in (("word", reason.word), ("place", reason.place)) if value},
    )
    catch_up_if_free(store)
