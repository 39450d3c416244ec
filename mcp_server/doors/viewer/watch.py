"""watch: take in what is edited by hand while a page is open, in a thread beside the server."""

import logging
import threading
import time

from mcp_server.bootstrap import Opened
from mcp_server.doors import hand_edits

log = logging.getLogger(__name__)

LASTS = 5.0  # seconds without a look after which nothing is watched: pages look twice a second
LOOK = 0.2  # seconds after which the end is noticed
NAME = "edits by hand"  # of the thread
AT_END = 1.0  # seconds that the end of the viewer waits for what is just being taken in


class Following:
    """
    Watches the files of a store from the first `look` on, until there was none for *lasts* seconds.

    A session's server may watch them, too: the second one finds nothing to do.
    """

    def __init__(self, opened: Opened, *, lasts: float = LASTS) -> None:
        self._opened = opened
        self._lasts = lasts
        self._looked = 0.0
        self._ended = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Note that a page is open; may be called from any thread."""
        self._looked = time.monotonic()
        with self._lock:
            if not self._ended and not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._follow, name=NAME, daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Stop watching."""
        with self._lock:
            self._ended = True
        if self._thread:
            self._thread.join(AT_END)

    def _goes_on(self) -> bool:
        return not self._ended and time.monotonic() - self._looked <= self._lasts

    def _follow(self) -> None:
        try:
            for _ in hand_edits.taken_in(self._opened, deep=False, goes_on=self._goes_on, look=LOOK):
                pass
        except Exception:  # the pages answer all the same
            log.exception("edits made by hand show when a page is loaded again")
        finally:
            self._opened.database.close()
