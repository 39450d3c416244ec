"""
Watching folders: what changed, in batches.

Only writes, moves and deletions count: reading a file raises events too, and reacting to those
would be a loop.
"""

import contextlib
import logging
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_CLOSED,
    EVENT_TYPE_CREATED,
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MODIFIED,
    EVENT_TYPE_MOVED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

log = logging.getLogger(__name__)

QUIET = 0.1  # seconds without another event after which a batch is complete
LONGEST = 0.5  # seconds after which a batch is given out although events still come
_TELLING = {
    EVENT_TYPE_CLOSED,
    EVENT_TYPE_CREATED,
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MODIFIED,
    EVENT_TYPE_MOVED,
}


class _Collector(FileSystemEventHandler):
    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self.paths: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wanted = wanted

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.event_type not in _TELLING:
            return
        for path in (event.src_path, event.dest_path):
            name = path.decode() if isinstance(path, bytes) else path
            # A folder that was moved or deleted takes its files along without an event for each.
            folder_went = event.is_directory and event.event_type != EVENT_TYPE_MODIFIED
            if name and (folder_went or (not event.is_directory and self._wanted(name))):
                self.paths.put(name)


def watch(
    folders: Callable[[], Iterable[Path]], *, wanted: Callable[[str], bool], idle: float
) -> Iterator[set[Path]]:
    """
    Yield the paths that changed below *folders*, batch by batch, without end.

    An empty batch comes after *idle* seconds without a change. *folders* is asked again before each
    wait, so that folders may come and go; *wanted* tells which file names matter.
    """
    collector = _Collector(wanted)
    observer: BaseObserver = Observer()
    observer.start()
    watched: dict[tuple[Path, int], ObservedWatch] = {}
    try:
        while True:
            # A folder deleted and made again is another folder: its old watch is deaf.
            current = {(folder, folder.stat().st_ino) for folder in folders() if folder.is_dir()}
            for gone in watched.keys() - current:
                with contextlib.suppress(KeyError, OSError):
                    observer.unschedule(watched[gone])
                del watched[gone]
            for place in sorted(current - watched.keys()):
                try:
                    watched[place] = observer.schedule(collector, str(place[0]), recursive=True)
                except OSError as error:
                    # Too many watches for this system: look at the files every second instead.
                    log.warning("watching by polling, because %s: %s", place[0], error)
                    observer.stop()
                    observer = PollingObserver(timeout=1)
                    observer.start()
                    watched = {
                        place: observer.schedule(collector, str(place[0]), recursive=True)
                        for place in current
                    }
                    break
            yield _batch(collector.paths, idle)
    finally:
        observer.stop()


def _batch(paths: "queue.SimpleQueue[str]", idle: float) -> set[Path]:
    """Return what comes in until it is quiet, nothing when nothing comes for *idle* seconds."""
    try:
        found = {Path(paths.get(timeout=idle))}
    except queue.Empty:
        return set()
    end = time.monotonic() + LONGEST
    while (left := end - time.monotonic()) > 0:
        try:
            found.add(Path(paths.get(timeout=min(QUIET, left))))
        except queue.Empty:
            break
    return found
