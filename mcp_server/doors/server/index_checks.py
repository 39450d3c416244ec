"""Checks of the index in parallel with answers, so that a wrong answer is not given twice."""

import threading

from mcp_server.bootstrap import Opened


class Look:
    """Checks the index of what is *opened*, one check at a time."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._looking = threading.Lock()

    def beside(self) -> None:
        """Start a check in a thread of its own when one is due."""
        if self._opened.look_is_due() and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, name="look", daemon=True).start()

    def _look(self) -> None:
        try:
            self._opened.finds_damage()
        finally:
            self._looking.release()
            self._opened.database.close()
