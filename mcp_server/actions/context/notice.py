"""notice: the one line that a person sees when a session starts and something needs them."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.actions.files.vanished_folders import tell_gone, untold_gone
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import transcripts, unread_reports
from mcp_server.adapters.index.events.unread_reports import PutAway
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import IndexUnavailable, Unreadable
from mcp_server.core.provenance.provenance import SETTLED_ONCE
from mcp_server.core.render import counted
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.adapters.missing_projects import Former

LATE = 3600  # seconds after which a transcript that a worker should have read shows that capture fails
SIZE_TOLD = "size-told-"  # an empty file in the folder `work`, named with the day: told once a day
AWAY_TOLD = "put-away-told-"  # an empty file in `work`, named with the last run: hooks do not write the index
GUESSES_TOLD = "guesses-taken-back"  # a file in `work` with how many links were: told once
SETTLED_TOLD = "settled-told-"  # an empty file in `work`, named with a vault: older candidates were told
LARGEST_CANDIDATE = 64 * 1024  # bytes
OFFERED = "offered"  # an empty file in the folder `work`: the offer is made once


@dataclass(frozen=True, slots=True)
class Need:
    """
    One thing that needs the person, as a sentence; '' when a look for it found nothing.

    `note` notes that they were told, or that there was a look; false when they are not to be told now: that
    cannot be noted, or another starting session tells it.
    """

    text: str
    note: Callable[[], bool] = lambda: True


def notice(store: Store, *, identity: str) -> str:
    """
    Return what needs the person, as one sentence, and note that they were told; '' for nothing.

    *identity* stands for the model's key in the person's environment, '' for none. The use of the key is
    offered once, and it is never used without a yes. Runs in a hook: only reads the index.
    """
    return next((need.text for need in _needs(store, identity) if need.note() and need.text), "")


def next_notice(store: Store, *, identity: str) -> str:
    """Return what `notice` would return now; nothing is noted."""
    return next((need.text for need in _needs(store, identity) if need.text), "")


def _needs(store: Store, identity: str) -> Iterator[Need]:
    """Yield what needs the person, the most urgent first."""
    if refusal := nothing_kept(store):
        yield Need(f"Daybook: {refusal}")
    try:
        with store.database.read() as db:
            late_count = transcripts.late(db, store.now() - LATE)
            refused = bool(store.settings.model_calls and identity) and _is_refused(store, db, identity)
            waiting_count, altered = _waiting(store, db)
            upkeep_record = unread_reports.untold(db, store.keys)
    except IndexUnavailable:
        return
    vanished = untold_gone(store.home)
    yield Need(f"Daybook: {' '.join(vanished)}" if vanished else "", lambda: bool(tell_gone(store.home)))
    if upkeep_record:
        yield Need(f"Daybook: {put_away(upkeep_record)}", lambda: _tell(store, upkeep_record))
    if late_count:
        yield Need(
            f"Daybook: not captured an hour after the session ended: {counted(late_count, 'session')};"
            " run 'daybook work', then 'daybook doctor' if this message comes again."
        )
    if refused:
        yield Need("Daybook: the model's service refuses the key or the account; 'daybook status' says more.")
    if store.settings.model_calls and not identity:
        yield Need("Daybook: you allowed model calls, but there is no API key; run 'daybook setup'.")
    yield from _of_team(store)
    yield from _crowded(store)
    if moved := offer(offered(store, thorough=False)):
        yield Need(f"Daybook: {moved}")
    if identity and not store.settings.model_reads and not _key_was_offered(store):
        yield Need(
            "Daybook: there is an API key in your environment. Daybook does not use it. 'daybook setup'"
            " lets Daybook learn from sessions with a model, for at most"
            f" ${store.settings.daily_usd:.2f} a day.",
            lambda: _wrote(store.home / places.WORK / OFFERED),
        )
    yield from _taken_back(store)
    yield from _settled(store)
    if waiting_count:
        changed = f", of which {altered} changed since you accepted them" if altered else ""
        asks = "shows what differs and asks you" if altered else "asks you"
        yield Need(
            f"Daybook: not shown unasked until you accept it: {counted(waiting_count, 'memory')}{changed};"
            f" 'daybook review' in a terminal, or /daybook:review here, {asks}."
        )


def nothing_kept(store: Store) -> str:
    """Return why nothing can be stored now, as a sentence; '' when nothing speaks against it."""
    refusal = files.refuses_writing(store.home)
    return f"{store.home} {refusal}, so nothing is remembered or captured." if refusal else ""


def put_away(record: PutAway) -> str:
    """Return what upkeep put away and the command that takes it back, as one sentence."""
    day = f"{datetime.fromtimestamp(record.since, UTC):%Y-%m-%d}"
    option = f"--run {record.runs[0]}" if len(record.runs) == 1 else f"--since {day}"
    when = "on" if len(record.runs) == 1 else "since"
    return (
        f"upkeep put {counted(record.memories, 'memory')} away {when} {day}, as aged or unused; "
        f"'daybook tidy --undo {option}' takes it back."
    )


def _tell(store: Store, record: PutAway) -> bool:
    """Note that the person is told about *record*; return False when another starting session tells it."""
    path = store.home / places.WORK / f"{AWAY_TOLD}{record.runs[-1]}"
    with contextlib.suppress(OSError):
        if path.exists():
            return False
        for earlier in path.parent.glob(f"{AWAY_TOLD}*"):
            files.delete(earlier)
        files.write_new(path, b"")
    store.ledger.try_append("upkeep_told", store.clock(), runs=record.runs)
    return True


def _waiting(store: Store, db: sqlite3.Connection) -> tuple[int, int]:
    """Return how many memories wait for the person, and for how many they accepted other bytes before."""
    shared = store.shared
    count = selections.count_not_accepted(db, store.own, shared)
    if not count or not shared:
        return count, 0
    from mcp_server.adapters.index.memories.accepted_bytes import (
        once_accepted,  # few projects have such a vault
    )

    refs = [row.ref for row in selections.not_accepted(db, shared, shared)]
    return count, len(once_accepted(db, refs))


def offered(store: Store, *, thorough: bool = True) -> "list[Former]":
    """
    Return the memories that this project may have had before its folder was renamed or moved.

    Unless *thorough*, a project that is noted already counts as having its own: enough for a session's start.
    """
    if not store.project:
        return []
    if not thorough and (store.home / places.PROJECTS / store.project.key / places.PROJECT_FILE).exists():
        return []
    from mcp_server.adapters.missing_projects import (
        may_be_former,  # slow to load, and few projects have moved
    )

    return may_be_former(store.home, store.project, thorough=thorough)


def offer(projects: "Sequence[Former]") -> str:
    """Return a sentence with the memories that may be this project's and the command to adopt them, or ''."""
    if not projects:
        return ""
    first = projects[0]
    others_note = f" ({len(projects) - 1} more: 'daybook where')" if len(projects) > 1 else ""
    if first.elsewhere:
        return (
            f"Memories of {first.root} from another of your machines may belong to this project: "
            f"'daybook adopt {first.key}' joins both{others_note}."
        )
    return (
        f"Memories of {first.root}, a folder that is gone, may belong to this project: 'daybook "
        f"adopt {first.key}' takes them over{others_note}."
    )


def _of_team(store: Store) -> Iterator[Need]:
    """Yield what the person's team refused, in each session until they decided about it."""
    if not store.of_team:
        return
    from mcp_server.adapters import team_membership  # most people have no team

    if not team_membership.is_anything_waiting(store.home):
        return
    refusals = [entry for _, entry in team_membership.waiting_of(store.home) if entry.get("refused")]
    if refusals:
        yield Need(
            f"Daybook: the team refused what you sent: {counted(len(refusals), 'memory')};"
            " 'daybook team status' says why."
        )


def _taken_back(store: Store) -> Iterator[Need]:
    """Yield, once, how many links guessed by earlier versions were taken back; usually nothing."""
    path = store.home / places.WORK / GUESSES_TOLD
    try:
        number = int(files.read(path))
    except (OSError, Unreadable, ValueError):
        return
    yield Need(
        f"Daybook: removed from your files: {counted(number, 'link')} 'contradicts' that an earlier "
        "version had guessed; 'daybook review' asks about pairs that may contradict each other.",
        lambda: _deleted([path]),
    )


def _settled(store: Store) -> Iterator[Need]:
    """Yield, once, how many sentences of the person became candidates since the person was last told so."""
    new = {vault.key: number for vault in store.private_vaults if (number := _settled_in(store, vault))}
    if new:
        markers = [store.home / places.WORK / f"{SETTLED_TOLD}{key}" for key in new]
        yield Need(
            f"Daybook: you said something that may be worth keeping:"
            f" {counted(sum(new.values()), 'sentence')}; 'daybook review' in a terminal, or "
            "/daybook:review here, asks you.",
            lambda: _deleted(markers) and all(map(_wrote, markers)),
        )


def _settled_in(store: Store, vault: Vault) -> int:
    marker = store.home / places.WORK / f"{SETTLED_TOLD}{vault.key}"
    try:
        since = marker.stat().st_mtime_ns if marker.exists() else 0
        paths = (vault.root / places.CANDIDATES).glob("*.md")
        new = [path for path in paths if path.stat().st_mtime_ns > since]
        return sum(SETTLED_ONCE.encode() in files.read(path, LARGEST_CANDIDATE) for path in new)
    except (OSError, Unreadable):
        return 0


def _crowded(store: Store) -> Iterator[Need]:
    """
    Yield what a starting session should say about the store's size, at most once a day; usually nothing.

    The index holds every text more than once, so while it takes less than a quarter of the limit only a full
    trash could exceed it, and `status` reports that.
    """
    limit = store.settings.max_memory_size_mb << 20
    folder = store.home / places.WORK
    today = folder / f"{SIZE_TOLD}{store.clock():%Y-%m-%d}"
    try:
        if not limit or 4 * store.database.path.stat().st_size < limit or today.exists():
            return
        from mcp_server.actions.files.size_limit import measure  # slow: it loads the code that reads files

        sentence = measure(store).sentence
    except OSError:
        return
    text = f"Daybook: {sentence}" if sentence else ""
    yield Need(text, lambda: _deleted(folder.glob(f"{SIZE_TOLD}*")) and _wrote(today))


def _is_refused(store: Store, db: sqlite3.Connection, identity: str) -> bool:
    from mcp_server.adapters.index.events import (
        spending,  # slow to load, and needed only with a key
    )
    from mcp_server.core.budget import settings_digest

    pause = spending.settings_pause(db, settings_digest(identity, store.settings), store.now())
    return pause is not None and not pause.until


def _key_was_offered(store: Store) -> bool:
    """Tell whether the use of a key was offered before; where nothing is captured it never is."""
    return store.settings.capture == "manual" or (store.home / places.WORK / OFFERED).exists()


def _deleted(paths: Iterable[Path]) -> bool:
    """Delete those files; return whether that was possible."""
    try:
        for path in paths:
            files.delete(path)
    except OSError:
        return False
    return True


def _wrote(path: Path) -> bool:
    """Write an empty file where none is; return whether that was possible."""
    try:
        files.write_new(path, b"")
    except OSError:
        return False
    return True
