"""
backfill: take in the transcripts from before Daybook was installed, so that they can be searched.

They go into the raw tier of the project that each was recorded in. No model is called for them; an agent
may still learn from them on the person's own subscription.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.capture.capture import keep, with_subagents
from mcp_server.actions.capture.note import note_seen
from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.upkeep.work import LOCK, StoreFor
from mcp_server.adapters import files, transcript_file
from mcp_server.adapters.index.events import transcripts
from mcp_server.core.errors import DaybookError, Held, Unreadable
from mcp_server.core.sessions.transcript import Condenser
from mcp_server.store import Store

Progress = Callable[[int], None]
OPEN = 3600  # seconds after its last change in which a session may be one that goes on


@dataclass(slots=True)
class Backfilled:
    """What was taken in: transcripts and utterances, and why some could not be, by path."""

    transcripts: int = 0
    utterances: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def pending_transcripts(store: Store, folder: Path) -> list[Path]:
    """Return the transcripts below *folder* that have grown beyond what is known, oldest first."""
    catch_up(store)
    paths = []
    for path in transcript_file.transcripts(folder):
        with store.database.read() as db:
            transcript = transcripts.known(db, str(path))
        if transcript is None or transcript.kept < transcript_file.size(path):
            paths.append(path)
    return paths


def never_seen(store: Store, folder: Path) -> int:
    """Return how many transcripts below *folder* Daybook does not know; one of the last hour may go on."""
    before = store.now() - OPEN
    with store.database.read() as db:
        return sum(
            transcripts.known(db, str(path)) is None and transcript_file.changed(path) < before
            for path in transcript_file.transcripts(folder)
        )


def backfill(store_for: StoreFor, paths: list[Path], *, progress: Progress | None = None) -> Backfilled:
    """
    Take *paths* into the raw tier; *progress* is called with the number of bytes done.

    After a kill the next call goes on from there; the error for each failed transcript is collected.
    Raises Held while a worker reads transcripts.
    """
    backfilled = Backfilled()
    files.make_folder(store_for(None).home)
    for path in paths:
        try:
            _take_in(store_for, path, backfilled)
        except Held:
            raise  # a worker reads all of them
        except (DaybookError, OSError) as error:
            backfilled.failed[str(path)] = error.reason if isinstance(error, Unreadable) else str(error)
        if progress:
            progress(transcript_file.size(path))
    return backfilled


def _take_in(store_for: StoreFor, path: Path, backfilled: Backfilled) -> None:
    folder = recorded_in(path)
    store = store_for(Path(folder) if folder else None)
    with files.lock(store.home / LOCK):  # a worker reads the same transcripts
        size = transcript_file.size(path)
        since, until = transcript_file.first_turn_at(path), transcript_file.last_turn_at(path)
        session_store = store.in_session(path.stem)
        note_seen(
            session_store, path, size, folder=folder, ended=True, backfill=True, since=since, until=until
        )
        catch_up(store)
        with store.database.read() as db:
            transcript = transcripts.known(db, str(path))
        if transcript is None:
            return
        utterances = sum(keep(store, part) for part in with_subagents(store, transcript))
    backfilled.transcripts += utterances > 0
    backfilled.utterances += utterances


def recorded_in(path: Path) -> str:
    """
    Return the folder in which the session of a transcript was started, '' for one in which nothing was said.

    Raises Unreadable when it does not name the folder.
    """
    condenser = Condenser()
    is_empty = True
    for _ in condenser.read(transcript_file.lines(path)):
        is_empty = False
        if condenser.cwd:
            break
    if not condenser.cwd and not is_empty:
        raise Unreadable(
            str(path), 0, "it does not name the folder of the session, so its project is unknown"
        )
    return condenser.cwd
