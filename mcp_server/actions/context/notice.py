"""notice: the one thing that a person is told when a session starts and something needs them."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcp_server.actions.context.offers import Offer, may_be_made, note_made
from mcp_server.actions.files.vanished_folders import losses, take_losses
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import transcripts, unread_reports
from mcp_server.adapters.index.events.unread_reports import PutAway
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import Vault, is_candidate_name
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import IndexUnavailable, Unreadable
from mcp_server.core.provenance.provenance import SETTLED_ONCE
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.actions.files.size_limit import Size
    from mcp_server.adapters.missing_projects import Former
    from mcp_server.core.remarks import Loss

LATE = 3600  # seconds after which a transcript that a worker should have read shows that capture fails
SIZE_TOLD = "size-told-"  # an empty file in the folder `work`, named with the day: told once a day
AWAY_TOLD = "put-away-told-"  # an empty file in `work`, named with the last run: hooks do not write the index
SETTLED_TOLD = "settled-told-"  # an empty file in `work`, named with a vault: older candidates were told
UNREAD_TOLD = "unread-told-"  # an empty file in `work`, named with a vault and a digest of its files: told
LARGEST_CANDIDATE = 64 * 1024  # bytes


class NeedKind(StrEnum):
    """What may need the person, where the number of things is all that there is to say of it."""

    LATE = auto()
    KEY_REFUSED = auto()
    NO_KEY = auto()
    TEAM_REFUSED = auto()
    TEAM_KEPT = auto()
    UNREAD = auto()
    SETTLED = auto()
    WAITING = auto()


class Numbered(NamedTuple):
    """
    What needs the person, and of how many things.

    `changed` is how many of the memories that wait were changed since the person accepted them.
    """

    kind: NeedKind
    number: int = 0
    changed: int = 0


class NothingKept(NamedTuple):
    """Why nothing can be written into the folder `home` now, as a clause about it."""

    home: Path
    refusal: str


class Vanished(NamedTuple):
    """Memories that are gone and that Daybook did not remove."""

    losses: "tuple[Loss, ...]"


class MayBeFormer(NamedTuple):
    """Projects whose memories may be this one's, the likeliest first."""

    projects: "tuple[Former, ...]"


class KeyOffered(NamedTuple):
    """The person's key may be used if they agree, for at most so many USD a day."""

    daily_usd: float


if TYPE_CHECKING:
    About = Numbered | NothingKept | Vanished | PutAway | MayBeFormer | KeyOffered | Size


class Need(NamedTuple):
    """
    One thing that needs the person; None when a look for it found nothing.

    `note` notes that they were told, or that there was a look; false when they are not to be told now: that
    cannot be noted, or another starting session tells it.
    """

    about: "About | None"
    note: Callable[[], bool] = lambda: True


def notice(store: Store, *, identity: str) -> "About | None":
    """
    Return what needs the person most, and note that they were told; None for nothing.

    *identity* stands for the model's key in the person's environment, '' for none. The use of the key is
    offered once, in a session without another offer, and it is never used without a yes. Runs in a hook:
    only reads the index.
    """
    return next((need.about for need in _needs(store, identity) if need.note() and need.about), None)


def next_notice(store: Store, *, identity: str) -> "About | None":
    """Return what `notice` would return now; nothing is noted."""
    return next((need.about for need in _needs(store, identity) if need.about), None)


def _needs(store: Store, identity: str) -> Iterator[Need]:
    """Yield what needs the person, the most urgent first."""
    if refusal := nothing_kept(store):
        yield Need(refusal)
    try:
        with store.database.read() as db:
            late_count = transcripts.late(db, store.now() - LATE)
            refused = bool(store.settings.model_calls and identity) and _is_refused(store, db, identity)
            waiting_count, altered = not_accepted(store, db)
            upkeep_record = unread_reports.untold(db, store.keys)
            unread_paths = selections.unread_paths(db, store.keys)
    except IndexUnavailable:
        return
    vanished = losses(store.home)
    yield Need(Vanished(tuple(vanished)) if vanished else None, lambda: bool(take_losses(store.home)))
    if upkeep_record:
        yield Need(upkeep_record, lambda: _tell(store, upkeep_record))
    if late_count:
        yield Need(Numbered(NeedKind.LATE, late_count))
    if refused:
        yield Need(Numbered(NeedKind.KEY_REFUSED))
    if store.settings.model_calls and not identity:
        yield Need(Numbered(NeedKind.NO_KEY))
    yield from _of_team(store)
    yield from _crowded(store)
    if projects := offered(store, thorough=False):
        yield Need(MayBeFormer(tuple(projects)))
    yield from _unread(store, unread_paths)
    if identity and _key_may_be_offered(store):
        yield Need(KeyOffered(store.settings.daily_usd), lambda: note_made(store, Offer.KEY))
    yield from _settled(store)
    if waiting_count:
        yield Need(Numbered(NeedKind.WAITING, waiting_count, altered))


def nothing_kept(store: Store) -> NothingKept | None:
    """Return why nothing can be stored now, None when nothing speaks against it."""
    refusal = files.refuses_writing(store.home)
    return NothingKept(store.home, refusal) if refusal else None


def _tell(store: Store, record: PutAway) -> bool:
    """Note that the person is told about *record*; return False when another starting session tells it."""
    path = store.home / places.WORK / f"{AWAY_TOLD}{record.runs[-1]}"
    with contextlib.suppress(OSError):
        if path.exists():
            return False
        for earlier in path.parent.glob(f"{AWAY_TOLD}*"):
            files.delete(earlier)
        files.write_new(path, b"")
    store.try_record("upkeep_told", runs=record.runs)
    return True


def not_accepted(store: Store, db: sqlite3.Connection) -> tuple[int, int]:
    """Return how many memories wait for the person, and for how many they accepted other bytes before."""
    shared = store.shared
    count = selections.count_not_accepted(db, store.own, shared)
    if not count or not shared:
        return count, 0
    # Few projects have such a vault.
    from mcp_server.adapters.index.memories.accepted_bytes import once_accepted

    refs = [row.ref for row in selections.not_accepted(db, shared, shared)]
    return count, len(once_accepted(db, refs))


def offered(store: Store, *, thorough: bool = True) -> "list[Former]":
    """
    Return the memories that this project may have had before its folder moved, or got another git remote.

    Unless *thorough*, a project that is noted already counts as having its own: enough for a session's start.
    But its repository may be one that the person knows at another place.
    """
    if not store.project:
        return []
    is_noted = (store.home / places.PROJECTS / store.project.key / places.PROJECT_FILE).exists()
    if not thorough and is_noted and not set(store.shared).difference(store.adopted):
        return []
    # Slow to load, and few projects have moved.
    from mcp_server.adapters.missing_projects import may_be_former

    return may_be_former(store.home, store.project)


def _of_team(store: Store) -> Iterator[Need]:
    """
    Yield what the person's team refused, in each session until they decided about it.

    And once, how many of its memories stayed that something sent in the background was to replace.
    """
    if not store.of_team:
        return
    from mcp_server.adapters import team_membership  # most people have no team

    if team_membership.is_anything_waiting(store.home):
        refusals = [entry for _, entry in team_membership.waiting_of(store.home) if entry.get("refused")]
        if refusals:
            yield Need(Numbered(NeedKind.TEAM_REFUSED, len(refusals)))
    untold = store.home / places.TEAM_KEY / team_membership.UNTOLD
    if untold.exists():
        stayed = len(team_membership.stayed_of(store.home))
        yield Need(Numbered(NeedKind.TEAM_KEPT, stayed), lambda: _deleted([untold]))


def _unread(store: Store, paths: Mapping[str, Sequence[str]]) -> Iterator[Need]:
    """Yield how many files could not be taken in, once for the same *paths*, those of each visible vault."""
    folder = store.home / places.WORK
    digests = {key: text_digest("\n".join(of_vault)) for key, of_vault in paths.items()}
    markers = {key: folder / f"{UNREAD_TOLD}{digest}-{key}" for key, digest in digests.items()}
    new = [key for key, marker in markers.items() if not marker.exists()]
    if new:
        earlier = (path for key in new for path in folder.glob(f"{UNREAD_TOLD}*-{key}"))
        yield Need(
            Numbered(NeedKind.UNREAD, sum(map(len, paths.values()))),
            lambda: _deleted(earlier) and all(_wrote(markers[key]) for key in new),
        )


def _settled(store: Store) -> Iterator[Need]:
    """Yield, once, how many sentences of the person became candidates since the person was last told so."""
    new = {vault.key: number for vault in store.private_vaults if (number := _settled_in(store, vault))}
    if new:
        markers = [store.home / places.WORK / f"{SETTLED_TOLD}{key}" for key in new]
        yield Need(
            Numbered(NeedKind.SETTLED, sum(new.values())),
            lambda: _deleted(markers) and all(map(_wrote, markers)),
        )


def _settled_in(store: Store, vault: Vault) -> int:
    marker = store.home / places.WORK / f"{SETTLED_TOLD}{vault.key}"
    try:
        since = marker.stat().st_mtime_ns if marker.exists() else 0
        paths = (vault.root / places.CANDIDATES).glob("*.md")
        new = [path for path in paths if is_candidate_name(path.name) and path.stat().st_mtime_ns > since]
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

        size = measure(store)
    except OSError:
        return
    yield Need(
        size if size.is_near else None, lambda: _deleted(folder.glob(f"{SIZE_TOLD}*")) and _wrote(today)
    )


def _is_refused(store: Store, db: sqlite3.Connection, identity: str) -> bool:
    # Slow to load, and needed only with a key.
    from mcp_server.adapters.index.events import spending
    from mcp_server.core.budget import settings_digest

    pause = spending.settings_pause(db, settings_digest(identity, store.settings), store.now())
    return pause is not None and not pause.until


def _key_may_be_offered(store: Store) -> bool:
    """Tell whether the use of a key may be offered; where nothing is captured it never is."""
    settings = store.settings
    return not settings.model_reads and settings.capture != "manual" and may_be_made(store, Offer.KEY)


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
