"""
forget_session: forget everything learned in one session, and bring it back in one command.

Its memories, candidates and conversation move to the trash as one run; the memories that they
had superseded are active again. Nothing more is learned from what its transcript holds by then.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from mcp_server.actions.capture.capture import with_subagents
from mcp_server.actions.files import runs
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import look_up, read_rows
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.judge.candidate import FOLDER
from mcp_server.actions.judge.persons_word import Turns, may_forget
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.actions.upkeep.work import LOCK
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import deeds, episodes, tidying, transcripts
from mcp_server.adapters.index.events.deeds import Deed
from mcp_server.adapters.index.memories import selections
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import NotFound, Rejected, Unreadable
from mcp_server.core.judge.whose_word import asks_to_forget
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Status, type_or_kind
from mcp_server.core.runs import Change, NotMade, Reason, RunEntry, Why, change
from mcp_server.store import Store

READING = "reading transcripts"
MOST_FORGETTINGS = 50  # times that one session was forgotten or brought back
MOST_DEEDS = 1000  # deeds of a session that are searched for those that cannot be taken back


@dataclass(slots=True)
class ForgottenSession:
    """
    What was forgotten of a session, or would be: the entries of the run, and what stays unchanged.

    `left` is id → what the session did to memories that were there before, the verbs of the ledger.
    """

    session: str
    dry_run: bool
    run: str = ""
    entries: list[RunEntry] = field(default_factory=list)
    left: dict[str, tuple[str, ...]] = field(default_factory=dict)
    failed: list[NotMade] = field(default_factory=list)


def forget_session(store: Store, name: str, *, dry_run: bool) -> ForgottenSession:
    """
    Move what was learned in the session with that id (or short id) to the trash, in all its projects.

    Raises Rejected when no session is called so, Conflict when a worker is reading transcripts, OSError.
    """
    store = store.everywhere()
    sync(store)
    session = find_session(store, name).id
    if dry_run:
        entries, left = _plan(store, session)
        return ForgottenSession(session, True, entries=entries, left=left)
    with runs.alone(store), runs.alone(store, LOCK, act=READING):
        forgotten = ForgottenSession(session, False, runs.new_run(store))
        cursors = _cursors(store, session)
        act = {"run": forgotten.run, "by": store.by()}
        store.record("session_forgotten", session=session, cursors=cursors, **act)
        for cursor in cursors:
            _note_read(store, session, cursor["path"], cursor["now"])
        catch_up(store)
        entries, forgotten.left = _plan(store, session)
        for entry in entries:
            if runs.attempt(store, entry, forgotten.run, forgotten.failed):
                forgotten.entries.append(entry)
    return forgotten


def kept_from_forgetting(store: Store, name: str, turns: Turns) -> list[str]:
    """
    Return the ids of what the person said in that session, unless they ask in their *turns* to forget it.

    Claude needs their word before it forgets these. Raises Rejected when no session is called so.
    """
    store = store.everywhere()
    session = find_session(store, name)
    learned = _learned(store, session.id).values()
    protected_ids = [file.memory.id for file in learned if not may_forget(file, turns)]
    is_asked = protected_ids and any(asks_to_forget(turn, session.short, "") for turn in turns())
    return [] if is_asked else protected_ids


def undo_forget_session(store: Store, name: str) -> Undone:
    """
    Put everything back that was forgotten of a session; memories changed since are left alone.

    Raises Rejected when the session is not known or was not forgotten, Conflict.
    """
    store = store.everywhere()
    sync(store)
    session = find_session(store, name).id
    with store.database.read() as db:
        forgettings = deeds.listed(db, session=session, events=["session_forgotten"], limit=MOST_FORGETTINGS)
        run_names = [str(deed.detail.get("run", "")) for deed in forgettings]
        # Also those that an earlier undo left.
        undoable = [run for run in run_names if tidying.entries(db, run)]
    forgotten = _until_undone(forgettings)
    if not (undoable or forgotten):
        raise Rejected("Nothing of that session was forgotten.", "Look with 'daybook history --session'.")
    undone = Undone((undoable or run_names)[0], session=session)
    for run in undoable:
        back = runs.undo(store, run)
        undone.restored += back.restored
        undone.skipped += back.skipped
    if not forgotten:
        return undone
    with runs.alone(store, LOCK, act=READING):
        for deed in forgotten:
            for cursor in deed.detail.get("cursors") or []:
                _put_back(store, session, cursor)
        store.record("session_forgotten", session=session, undone=True)
        catch_up(store)
    return undone


def is_persons(store: Store, name: str) -> bool:
    """
    Tell whether the person forgot that session, so that only they may bring it back.

    Raises Rejected when no session is called so.
    """
    store = store.everywhere()
    session = find_session(store, name).id
    with store.database.read() as db:
        forgettings = deeds.listed(db, session=session, events=["session_forgotten"], limit=MOST_FORGETTINGS)
    return any(deed.detail.get("by") == PERSON for deed in _until_undone(forgettings))


def _until_undone(forgettings: Sequence[Deed]) -> list[Deed]:
    """Return those of *forgettings*, the latest first, that were not undone since."""
    return list(takewhile(lambda deed: not deed.detail.get("undone"), forgettings))


def _plan(store: Store, session: str) -> tuple[list[RunEntry], dict[str, tuple[str, ...]]]:
    """Return the entries that forget what was learned in *session*, and what `ForgottenSession.left` is."""
    entries: list[RunEntry] = []
    memory_files = _learned(store, session)
    gone_ids = {file.memory.id for file in memory_files.values()}
    for file in memory_files.values():
        revived = list(_revived(store, file.memory, gone_ids))
        type_name = type_or_kind(file.memory.kind, file.memory.type)
        entries.append(_to_trash(store, file, type_name, revived))
    entries += [_to_trash(store, file, "candidate", ()) for file in _candidates(store, session)]
    settled = {ref for entry in entries for ref in entry.refs} - set(memory_files)
    return entries, _left(store, session, set(memory_files), settled)


def _to_trash(store: Store, file: MemoryFile, type_name: str, revived: Sequence[Change]) -> RunEntry:
    trashed = change(file.ref, file.memory, file.place, to=runs.trash_place(store, file))
    reason = Reason(Why.SESSION_FORGOTTEN, (file.memory.id,), word=type_name)
    return RunEntry(tidying.FORGETTING, reason, (*revived, trashed), file.memory.title)


def _learned(store: Store, session: str) -> dict[str, MemoryFile]:
    """Return ref → file of what was learned in *session*, and of memories merged from these."""
    adopted = store.adopted
    with store.database.read() as db:
        rows = {row.ref: row for row in episodes.memories_of(db, session) if row.vault in adopted}
        while merged_rows := [row for row in episodes.made_of(db, rows) if row.ref not in rows]:
            rows |= {row.ref: row for row in merged_rows}
    return {file.ref: file for file in read_rows(store, rows.values())}


def _candidates(store: Store, session: str) -> Iterator[MemoryFile]:
    """Yield the candidates from *session* that wait."""
    for vault in store.vaults:
        for path in sorted((vault.root / FOLDER).glob("*.md")) if not vault.in_repository else ():
            with contextlib.suppress(NotFound, Unreadable, Rejected):
                file = runs.load_at(store, vault, f"{FOLDER}/{path.name}")
                if file.memory.session == session:
                    yield file


def _revived(store: Store, memory: Memory, gone_ids: set[str]) -> Iterator[Change]:
    """Yield changes of what *memory* superseded: to active, or to superseded by the memory's successor."""
    with store.database.read() as db:
        older = selections.superseded_by(db, memory.id, store.adopted)
    heir = _heir(store, memory, gone_ids)
    fields: dict[str, Any] = {"superseded_by": heir}
    if not heir:
        fields |= {"status": Status.ACTIVE, "valid_to": None}
    for file in read_rows(store, [row for row in older if row.id not in gone_ids]):
        yield change(file.ref, file.memory, file.place, **fields)


def _heir(store: Store, memory: Memory, gone_ids: set[str]) -> str:
    """Return the id of the first memory that superseded *memory* later and stays, '' when there is none."""
    visited: set[str] = set()
    following = memory.superseded_by
    while following in gone_ids and following not in visited:
        visited.add(following)
        row = look_up(store, following)
        following = row.superseded_by if row else ""
    return following if following and following not in gone_ids and look_up(store, following) else ""


def _left(store: Store, session: str, gone_refs: set[str], revived: set[str]) -> dict[str, tuple[str, ...]]:
    """
    Return id → what the session did to memories that were there before, and are still.

    That it superseded those *revived* is taken back; what else it changed in them is not.
    """
    with store.database.read() as db:
        changes = deeds.listed(db, session=session, events=["revised", "confirmed"], limit=MOST_DEEDS)
        there = {deed.ref for deed in changes if deed.ref and selections.with_ref(db, deed.ref)}
    changed: dict[str, set[str]] = {}
    for deed in changes:
        if deed.event == "revised" and deed.ref in revived:
            revived = revived - {deed.ref}
        elif deed.ref in there - gone_refs:
            changed.setdefault(deed.id, set()).add(deed.event)
    return {memory_id: tuple(sorted(events, reverse=True)) for memory_id, events in sorted(changed.items())}


def _cursors(store: Store, session: str) -> list[dict[str, Any]]:
    """Return for each transcript how far it was read, and `now`, the end of its last whole line."""
    with store.database.read() as db:
        mains = transcripts.of_session(db, session)
    paths = {
        transcript.path: transcript for main in mains for transcript in [main, *with_subagents(store, main)]
    }
    cursors = []
    for path, transcript in paths.items():
        if not transcript_file.size(Path(path)):
            continue  # Claude Code deleted it
        end = min(transcript.kept, transcript_file.size(Path(path)))
        with contextlib.suppress(Unreadable):
            for _, _, line_end in transcript_file.lines(Path(path), end):
                end = line_end
        state = {
            "kept": transcript.kept,
            "learned": transcript.learned,
            "before": transcript.before,
            "skipping": transcript.skipping,
        }
        cursors.append({"path": path, "now": end, "seen": transcript.seen, **state})
    return cursors


def _note_read(store: Store, session: str, path: str, end: int) -> None:
    with store.database.read() as db:
        transcript = transcripts.known(db, path)
    store.record(
        "transcript_kept",
        path=path,
        session=session,
        end=end,
        before=transcript_file.mark(Path(path), end),
        whole=transcript.seen if transcript else end,
    )
    store.record("transcript_learned", path=path, session=session, end=end)


def _put_back(store: Store, session: str, cursor: dict[str, Any]) -> None:
    """Let a transcript be read on from where it was read to when its session was forgotten."""
    store.record(
        "transcript_kept",
        path=cursor["path"],
        session=session,
        end=cursor["kept"],
        before=cursor["before"],
        skipping=cursor["skipping"],
    )
    store.record("transcript_learned", path=cursor["path"], session=session, end=cursor["learned"])
