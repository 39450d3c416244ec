"""maintain: check, shrink or rebuild the index, and clean up."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mcp_server.actions.files import runs, trash
from mcp_server.actions.files.clock_check import old_before
from mcp_server.actions.files.size_limit import index_size
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.files.trash import Trashed
from mcp_server.actions.files.unfinished_files import look_for_litter
from mcp_server.actions.upkeep.tidy import Tidied, put_aged_away
from mcp_server.adapters.index.database import erase, integrity
from mcp_server.adapters.leftovers import STALE
from mcp_server.core.errors import Conflict, IndexBusy
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store

ACTIONS = ("check", "vacuum", "rebuild", "all")
STALE_LOG_DAYS = 30  # days after which a log that was put aside is of no use
ASIDE_DAYS = 7  # days after which an index that was put aside is


class Checked(NamedTuple):
    """Whether the index is whole."""

    sound: bool


class Rebuilt(NamedTuple):
    """How many memories were indexed again, and how many files cannot be read."""

    memories: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class MaintenanceStep:
    """
    One thing done to the index: its name, the result, bytes before and after, and how many seconds it took.

    Shrinking has no result but the bytes.
    """

    action: str
    result: Checked | Rebuilt | None
    before: int
    after: int
    seconds: float


@dataclass(slots=True)
class Cleaned:
    """
    What cleaning up did, or would do: aged memories and expired candidates, files in the trash, litter.

    `litter` are unfinished writes of killed processes, old logs and an index that was put aside; `kept`
    are files with edits saved while Daybook changed a memory: they stay until the person deletes them.
    """

    dry_run: bool
    tidied: Tidied
    trash: list[Trashed] = field(default_factory=list)
    litter: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)

    @property
    def freed(self) -> int:
        """Bytes of what is deleted from the trash."""
        return sum(trashed.size for trashed in self.trash)


def maintain(store: Store, action: str) -> list[MaintenanceStep]:
    """
    Do one of ACTIONS to the index and return what was done, step by step.

    `check` looks at all of it, `vacuum` shrinks the file, `rebuild` rebuilds it from the files, `all` checks,
    rebuilds a damaged index, and shrinks.
    Raises Conflict when another process is writing the index, IndexUnavailable.
    """
    store.database.require()
    steps = []
    if action in ("check", "all"):
        steps.append(_timed(store, "check", lambda: _check(store)))
        if action == "all" and steps[0].result == Checked(sound=False):
            steps.append(_timed(store, "rebuild", lambda: _rebuild(store)))
    if action == "rebuild":
        steps.append(_timed(store, "rebuild", lambda: _rebuild(store)))
    if action in ("vacuum", "all"):
        steps.append(_timed(store, "vacuum", lambda: _vacuum(store)))
    return steps


def clean_up(store: Store, *, dry_run: bool) -> Cleaned:
    """
    Put away aged memories and expired candidates; delete litter and what lay in the trash for 90 days.

    Everything but the last two can be taken back with the undo of tidying.
    Raises Conflict when another process is tidying, IndexUnavailable, OSError.
    """
    sync(store)
    cleaned = Cleaned(dry_run, Tidied(runs.new_run(store), dry_run))
    cleaned.trash = trash.late(store)  # before anything else goes there
    leftovers = look_for_litter(store)
    cleaned.litter, cleaned.kept = [*leftovers.litter, *_put_aside(store)], leftovers.kept
    if dry_run:
        put_aged_away(store, cleaned.tidied)
        return cleaned
    with runs.alone(store):
        put_aged_away(store, cleaned.tidied)
        trash.empty(store, cleaned.trash)
    for path in cleaned.litter:
        path.unlink(missing_ok=True)  # without a lock, whose file would stay in the person's folder
    return cleaned


def _check(store: Store) -> Checked:
    with store.database.alone() as db:
        return Checked(integrity.is_sound(db))


def _rebuild(store: Store) -> Rebuilt:
    report = rebuild(store, vaults=store.everywhere().vaults)
    store.database.delete_copies()
    return Rebuilt(report.added, len(report.unreadable))


def _vacuum(store: Store) -> None:
    try:
        erase.compact(store.database)
    except IndexBusy as error:
        raise Conflict(f"Another process is writing the index. {error}", "Try again in a minute.") from error


def _timed(store: Store, action: str, do: Callable[[], Checked | Rebuilt | None]) -> MaintenanceStep:
    before, begun = index_size(store), time.perf_counter()
    result = do()
    return MaintenanceStep(action, result, before, index_size(store), time.perf_counter() - begun)


def _put_aside(store: Store) -> Iterator[Path]:
    """Yield files that were put aside long ago, and those that a killed rebuild left."""
    now = store.now()
    yield from _older(store.home / "logs", "*.log.*", old_before(store, STALE_LOG_DAYS * DAY))
    yield from _older(store.database.rebuild_folder, "*", now - STALE)
    yield from _older(store.home, f"{store.database.path.name}.old*", old_before(store, ASIDE_DAYS * DAY))


def _older(folder: Path, pattern: str, before: float) -> Iterator[Path]:
    for path in sorted(folder.glob(pattern)):
        if path.is_file() and not path.is_symlink() and path.stat().st_mtime < before:
            yield path
