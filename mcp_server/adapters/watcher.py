"""
Watching folders: what changed, in batches.

Only writes, moves and deletions count: reading a file raises events, too, and reacting to them
would never end.
"""

import contextlib
import logging
import queue
import stat
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

log = logging.getLogger(__name__)
# The library warns when a folder appears while the one above it is being watched; nothing is lost.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")

QUIET = 0.1  # seconds without another event after which a batch is complete
LONGEST = 0.5  # seconds after which a batch is yielded although events still come
LOOK = 1.0  # seconds between two checks whether a folder came, went or was replaced
MANY = 1000  # events after which some may have been lost: the system keeps 16,384
CALM = 1.0  # seconds without an event after which the storm is over
# Opening and reading are not requested: a search through all files would bury a change.
TELLING: list[type[FileSystemEvent]] = [
    FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
    DirCreatedEvent, DirDeletedEvent, DirMovedEvent,
]  # fmt: skip


class _Collector(FileSystemEventHandler):
    def __init__(self, matters: Callable[[str], bool]) -> None:
        self.paths: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wanted = matters

    def dispatch(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            name = path.decode() if isinstance(path, bytes) else path
            # A folder that was moved or deleted raises no event for each of its files.
            if name and (event.is_directory or self._wanted(name)):
                self.paths.put(name)


def watch(
    folders: Callable[[], Iterable[Path]],
    *,
    wanted: Callable[[str], bool],
    idle: Callable[[], float],
    goes_on: Callable[[], bool] = lambda: True,
    look: float = LOOK,
) -> Iterator[set[Path]]:
    """
    Yield the paths that changed below *folders*, batch by batch, for as long as *goes_on* says.

    An empty batch means that anything may have changed: it comes when a folder starts to be watched, or
    is gone, after a storm of changes, and after *idle* seconds without one. *folders* is read again
    before each wait and whenever one of them comes or goes; *wanted* tells which file names matter. The end
    is noticed within *look* seconds.
    """
    collector = _Collector(wanted)
    observer: BaseObserver = Observer()
    observer.start()
    watched: dict[tuple[Path, int], ObservedWatch] = {}
    event_count = 0  # events since the last empty batch
    try:
        while goes_on():
            roots = list(folders())
            current = _places(roots)
            added, removed = current - watched.keys(), watched.keys() - current
            for place in removed:
                with contextlib.suppress(KeyError, OSError):
                    observer.unschedule(watched[place])
                del watched[place]
            for place in sorted(added):
                try:
                    watched[place] = _schedule(observer, collector, place[0])
                except OSError as error:
                    # Too many watches for this system: check the files every second instead.
                    log.warning("watching by polling, because %s: %s", place[0], error)
                    observer.stop()
                    observer = PollingObserver(timeout=1)
                    observer.start()
                    watched = {place: _schedule(observer, collector, place[0]) for place in current}
                    break
            if added or removed:
                event_count = 0
                yield set()
            end = time.monotonic() + (CALM if event_count > MANY else idle())
            batch: set[Path] = set()
            while not batch and _places(roots) == current and (remaining := end - time.monotonic()) > 0:
                if not goes_on():
                    return
                batch, events = _batch(collector.paths, min(look, remaining))
                event_count += events
            if batch or time.monotonic() >= end:
                event_count = event_count if batch else 0
                yield batch
    finally:
        observer.stop()
        observer.join()


def _places(folders: Iterable[Path]) -> set[tuple[Path, int]]:
    """Return the existing folders with their identity: the watch of a replaced folder no longer works."""
    places = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            status = folder.stat()
            if stat.S_ISDIR(status.st_mode):
                places.add((folder, status.st_ino))
    return places


def _schedule(observer: BaseObserver, collector: _Collector, folder: Path) -> ObservedWatch:
    return observer.schedule(collector, str(folder), recursive=True, event_filter=TELLING)


def _batch(paths: "queue.SimpleQueue[str]", idle: float) -> tuple[set[Path], int]:
    """Return (changed paths until it is quiet, number of events), empty when none comes in *idle* seconds."""
    try:
        batch = {Path(paths.get(timeout=idle))}
    except queue.Empty:
        return set(), 0
    events = 1
    end = time.monotonic() + LONGEST
    while (remaining := end - time.monotonic()) > 0:
        try:
            batch.add(Path(paths.get(timeout=min(QUIET, remaining))))
        except queue.Empty:
            break
        events += 1
    return batch, events
