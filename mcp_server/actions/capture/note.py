"""note: put a transcript into the worker's queue; runs in hooks, so it does next to nothing."""

import contextlib
import os
from pathlib import Path

from mcp_server.adapters import places
from mcp_server.adapters.index.events import sessions, transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.errors import IndexUnavailable
from mcp_server.store import Store

STOP_LINES = 3  # new lines that a transcript must have after an answer to be noted: A-10 in docs/features.md
WORTH_STARTING = 20_000  # unread bytes from which a worker is started before the session ends


def note_seen(
    store: Store,
    path: Path,
    size: int,
    *,
    folder: str,
    ended: bool,
    backfill: bool = False,
    since: int = 0,
    until: int = 0,
) -> None:
    """
    Write the event that says how far (*size*, in bytes) a transcript has grown; needs no index.

    *ended*: no more turns are expected soon. *backfill*: an old transcript, taken in only for search, whose
    turns were from *since* to *until*, in Unix seconds, 0 where that is not known. Neither a backfilled
    transcript nor turns from before the person agreed are sent to a model.
    Raises OSError when the disk refuses.
    """
    flags = {"ended": ended, "unsent": backfill or not store.settings.model_calls}
    store.record(
        "transcript_seen",
        path=str(path),
        end=size,
        folder=folder,
        **{name: True for name, is_set in flags.items() if is_set},
        **({"since": since} if since else {}),
        **({"until": until} if until else {}),
    )


def lasting(store: Store, folder: Path) -> str:
    """
    Return the folder by which a worker finds the project of a session that works in *folder*.

    A worktree may be gone by then: in a repository it is the main one.
    """
    return str(store.project.root if store.project else folder)


def noted_folder(store: Store, transcript: Transcript) -> Path | None:
    """
    Return the folder by which the project of a session is found, None where that is not known.

    A folder may have been gone before the end of the session could be noted: a worktree is removed then. The
    start of the session named the project.
    """
    folder = Path(transcript.folder) if transcript.folder else None
    if folder and not os.path.lexists(folder):
        with store.database.read() as db:
            session = sessions.with_id(db, transcript.session)
        root = Path(str(places.project_notes(store.home, session.vault).get("root") if session else ""))
        return root if root.is_absolute() and root.is_dir() else folder
    return folder


def note_answer(store: Store, path: Path, *, folder: str) -> bool:
    """
    Note the transcript after an answer, when at least three lines are new.

    Return whether enough of it is unread for a worker to be started. Raises OSError, IndexUnavailable.
    """
    if not captures(store, path):
        return False
    from mcp_server.adapters import transcript_file  # slow to load, so the start of a session does without

    with store.database.read() as db:
        transcript = transcripts.known(db, str(path))
    seen_to, kept_to = (transcript.seen, transcript.kept) if transcript else (0, 0)
    size = transcript_file.size(path)
    if size < seen_to:
        seen_to = kept_to = 0  # the file was rewritten
    if transcript_file.count_lines(path, seen_to, most=STOP_LINES) < STOP_LINES:
        return False
    note_seen(store, path, size, folder=folder, ended=False)
    return size - kept_to >= WORTH_STARTING


def note_ended(store: Store, path: Path, *, folder: str) -> None:
    """
    Note that the transcript at *path* is to be read to its end, before its turns leave Claude's context.

    Needs no index. Raises OSError when the disk refuses.
    """
    from mcp_server.adapters import transcript_file

    note_seen(store, path, transcript_file.size(path), folder=folder, ended=True)


def note_session(store: Store, *, folder: str) -> None:
    """
    Note once that this session works in *folder*, and under which short name it is known; never raises.

    Only reads the index: without one the name is the first eight characters of the id.
    """
    if not store.session or store.settings.capture == "manual":
        return
    short = store.session[:8]
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        session_row = sessions.with_id(db, store.session)
        if session_row and session_row.folder and not session_row.ended:
            return
        short = sessions.short_of(db, store.session)
    vault = store.project.key if store.project else ""
    store.try_record("session_started", short=short, folder=folder, vault=vault)


def note_fork(store: Store, path: Path, *, silent_for: object) -> None:
    """
    Note that this session, a fork with its transcript at *path*, was shown what its parent session was shown.

    The parent is the session whose last answer is *silent_for* seconds old: Claude Code says no more of it.
    When none is found, nothing is noted: showing the fork a memory twice costs less than omitting it.
    Raises IndexUnavailable.
    """
    from mcp_server.adapters import transcript_file  # most sessions are no fork
    from mcp_server.adapters.index.events import receipts, usage

    if not store.session or not isinstance(silent_for, int | float):
        return
    parent = transcript_file.answered_at(
        path.parent, store.clock().timestamp() - silent_for, but=store.session
    )
    with store.database.read() as db:
        injected = sorted(usage.injected(db, parent)) if parent else []
        pointers = sorted(usage.pointed(db, parent)) if parent else []
    if injected or pointers:
        refs, digests = [ref for ref, _ in injected], [digest for _, digest in injected]
        detail = {"refs": refs, "digests": digests, "tokens": [], "pointers": pointers}
        store.try_record("injected", why=receipts.START, **detail)


def upkeep_is_due(store: Store) -> bool:
    """Tell whether the memories of this project are due for tidying, also when no session is captured."""
    from mcp_server.adapters.index.events import tidying

    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        scope = tidying.scope_of(store.private)
        return tidying.is_due(db, scope, store.now(), captures=store.settings.capture != "manual")
    return False


def captures(store: Store, path: Path) -> bool:
    """Tell whether the transcript at *path* is to be noted at all."""
    return store.settings.capture != "manual" and path.suffix == ".jsonl" and path.is_absolute()
