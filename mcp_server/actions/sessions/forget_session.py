"""
forget_session: forget everything learned in one session, and bring it back in one command.

Its memories, candidates and conversation move to the trash as one run of the journal; the memories that they
had superseded are active again. Nothing more is learned from what its transcript holds by then.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from mcp_server.actions.capture.capture import with_subagents
from mcp_server.actions.files import journal
from mcp_server.actions.files.journal import Undone
from mcp_server.actions.files.read import Found, look_up, read_row
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.judge.candidate import FOLDER
from mcp_server.actions.review.everywhere import seen_everywhere
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.actions.upkeep.work import LOCK
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import audit, episodes, tidying, transcripts
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import DaybookError, NotFound, Rejected, Unreadable
from mcp_server.core.journal import Change, JournalEntry, change
from mcp_server.core.memory import Memory, Status, type_or_kind
from mcp_server.store import Store

READING = "reading transcripts"
MOST_DEEDS = 1000  # deeds of a session that are searched for those that cannot be taken back


@dataclass(slots=True)
class ForgottenSession:
    """
    What was forgotten of a session, or would be: the entries of the journal, and what stays unchanged.

    `left` has a sentence for each memory that the session changed and that was there before.
    """

    session: str
    dry_run: bool
    run: str = ""
    entries: list[JournalEntry] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def forget_session(store: Store, name: str, *, dry_run: bool) -> ForgottenSession:
    """
    Move what was learned in the session with that id (or short id) to the trash, in all its projects.

    Raises Rejected when no session is called so, Conflict when a worker is reading transcripts, OSError.
    """
    store = seen_everywhere(store)
    sync(store)
    session = find_session(store, name).id
    if dry_run:
        return _plan(store, session, ForgottenSession(session, True))
    with journal.alone(store), journal.alone(store, LOCK, act=READING):
        done = ForgottenSession(session, False, journal.new_run(store))
        cursors = _cursors(store, session)
        store.ledger.append(
            "session_forgotten", store.clock(), session=session, run=done.run, cursors=cursors
        )
        for each in cursors:
            _note_read(store, session, each["path"], each["now"])
        catch_up(store)
        planned = _plan(store, session, ForgottenSession(session, True))
        done.left = planned.left
        for entry in planned.entries:
            try:
                failed = journal.perform(store, entry, done.run)
            except DaybookError as error:
                done.failed.append(f"{entry.reason}: {error}")
                continue
            done.failed += [f"{ref.rpartition('/')[2]}: {why}" for ref, why in failed.items()]
            done.entries.append(entry)
    return done


def undo_forget_session(store: Store, name: str) -> Undone:
    """
    Put everything back that was forgotten of a session; memories changed since are left alone.

    Raises Rejected when the session is not known or was not forgotten, Conflict.
    """
    store = seen_everywhere(store)
    sync(store)
    session = find_session(store, name).id
    with store.database.read() as db:
        deeds = audit.history(db, session=session, events=["session_forgotten"], limit=50)
        named = [str(deed.detail.get("run", "")) for deed in deeds]
        runs = [run for run in named if tidying.entries(db, run)]  # also those that an earlier undo left
    forgotten = list(takewhile(lambda deed: not deed.detail.get("undone"), deeds))
    if not (runs or forgotten):
        raise Rejected("Nothing of that session was forgotten.", "Look with 'daybook history --session'.")
    done = Undone((runs or named)[0])
    for run in runs:
        back = journal.undo(store, run)
        done.restored += back.restored
        done.skipped += back.skipped
    if not forgotten:
        return done
    with journal.alone(store, LOCK, act=READING):
        for deed in forgotten:
            for each in deed.detail.get("cursors") or []:
                _put_back(store, session, each)
        store.ledger.append("session_forgotten", store.clock(), session=session, undone=True)
        catch_up(store)
    return done


def _plan(store: Store, session: str, plan: ForgottenSession) -> ForgottenSession:
    found = _learned(store, session)
    gone = {each.memory.id for each in found.values()}
    for each in found.values():
        revived = list(_revived(store, each.memory, gone))
        line = f"{type_or_kind(each.memory.kind, each.memory.type)} [{each.memory.id}] goes to the trash"
        line += "".join(f"; [{one.id}] {_becomes(one)}" for one in revived)
        trashed = change(each.ref, each.memory, each.place, to=journal.trash_place(store, each))
        plan.entries.append(JournalEntry(tidying.FORGETTING, line, (*revived, trashed), each.memory.title))
    for each in _candidates(store, session):
        line = f"candidate [{each.memory.id}] goes to the trash"
        trashed = change(each.ref, each.memory, each.place, to=journal.trash_place(store, each))
        plan.entries.append(JournalEntry(tidying.FORGETTING, line, (trashed,), each.memory.title))
    settled = {each.ref for entry in plan.entries for each in entry.changes} - set(found)
    plan.left = _left(store, session, set(found), settled)
    return plan


def _learned(store: Store, session: str) -> dict[str, Found]:
    """Return ref → file of what was learned in *session*, and of memories merged from these."""
    adopted = store.adopted
    with store.database.read() as db:
        rows = {row.ref: row for row in episodes.memories_of(db, session) if row.vault in adopted}
        while made := [row for row in episodes.made_of(db, rows) if row.ref not in rows]:
            rows |= {row.ref: row for row in made}
    found = {}
    for ref, row in rows.items():
        with contextlib.suppress(NotFound, Unreadable):
            found[ref] = read_row(store, row)
    return found


def _candidates(store: Store, session: str) -> Iterator[Found]:
    """Yield the candidates from *session* that wait."""
    for vault in store.vaults:
        for path in sorted((vault.root / FOLDER).glob("*.md")) if not vault.in_repository else ():
            with contextlib.suppress(NotFound, Unreadable, Rejected):
                found = journal.load_at(store, vault, f"{FOLDER}/{path.name}")
                if found.memory.session == session:
                    yield found


def _revived(store: Store, memory: Memory, gone: set[str]) -> Iterator[Change]:
    """Yield changes of what *memory* superseded: to active, or to superseded by the memory's successor."""
    with store.database.read() as db:
        older = selections.superseded_by(db, memory.id, store.adopted)
    heir = _heir(store, memory, gone)
    for row in older:
        if row.id in gone:
            continue
        with contextlib.suppress(NotFound, Unreadable):
            found = read_row(store, row)
            fields: dict[str, Any] = {"superseded_by": heir}
            if not heir:
                fields |= {"status": Status.ACTIVE, "valid_to": None}
            yield change(found.ref, found.memory, found.place, **fields)


def _heir(store: Store, memory: Memory, gone: set[str]) -> str:
    """Return the id of the first memory that superseded *memory* later and stays, '' when there is none."""
    seen: set[str] = set()
    following = memory.superseded_by
    while following in gone and following not in seen:
        seen.add(following)
        row = look_up(store, following)
        following = row.superseded_by if row else ""
    return following if following and following not in gone and look_up(store, following) else ""


def _becomes(one: Change) -> str:
    heir = one.now.get("superseded_by")
    return f"is superseded by [{heir}] then" if heir else "is active again"


def _left(store: Store, session: str, gone: set[str], revived: set[str]) -> list[str]:
    """
    Return what the session did to memories that were there before.

    That it superseded those *revived* is taken back; what else it changed in them is not.
    """
    with store.database.read() as db:
        deeds = audit.history(db, session=session, events=["revised", "confirmed"], limit=MOST_DEEDS)
    changed: dict[str, set[str]] = {}
    for deed in deeds:
        if deed.event == "revised" and deed.ref in revived:
            revived = revived - {deed.ref}
        elif deed.ref and deed.ref not in gone:
            changed.setdefault(deed.id, set()).add(deed.event)
    return [
        f"[{memory_id}] was {' and '.join(sorted(events, reverse=True))} in it"
        + (f"; 'daybook history {memory_id}' has what it said before" if "revised" in events else "")
        for memory_id, events in sorted(changed.items())
    ]


def _cursors(store: Store, session: str) -> list[dict[str, Any]]:
    """Return for each transcript how far it was read, and `now`, the end of its last whole line."""
    with store.database.read() as db:
        known = transcripts.of_session(db, session)
    paths = {each.path: each for main in known for each in [main, *with_subagents(store, main)]}
    said = []
    for path, each in paths.items():
        if not transcript_file.size(Path(path)):
            continue  # Claude Code deleted it
        end = min(each.kept, transcript_file.size(Path(path)))
        with contextlib.suppress(Unreadable):
            for _, _, behind in transcript_file.lines(Path(path), end):
                end = behind
        was = {"kept": each.kept, "learned": each.learned, "before": each.before, "skipping": each.skipping}
        said.append({"path": path, "now": end, "seen": each.seen, **was})
    return said


def _note_read(store: Store, session: str, path: str, end: int) -> None:
    with store.database.read() as db:
        known = transcripts.known(db, path)
    store.ledger.append(
        "transcript_kept",
        store.clock(),
        path=path,
        session=session,
        end=end,
        before=transcript_file.mark(Path(path), end),
        whole=known.seen if known else end,
    )
    store.ledger.append("transcript_learned", store.clock(), path=path, session=session, end=end)


def _put_back(store: Store, session: str, said: dict[str, Any]) -> None:
    """Let a transcript be read on from where it was read to when its session was forgotten."""
    store.ledger.append(
        "transcript_kept",
        store.clock(),
        path=said["path"],
        session=session,
        end=said["kept"],
        before=said["before"],
        skipping=said["skipping"],
    )
    store.ledger.append(
        "transcript_learned", store.clock(), path=said["path"], session=session, end=said["learned"]
    )
