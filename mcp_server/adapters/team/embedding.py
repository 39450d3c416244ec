"""A thread of a team's server that embeds the passages that wait for a vector."""

import logging
import threading

from mcp_server.adapters.team import vectors
from mcp_server.adapters.team.connections import Pool, connection
from mcp_server.core.errors import DaybookError
from mcp_server.core.ports import Embedder

log = logging.getLogger(__name__)

AT_ONCE = 16  # passages
EVERY = 60.0  # seconds between two looks for passages that another server left


class PassageEmbedding:
    """Embeds the passages that wait, whenever there are some; several servers share the work."""

    def __init__(self, pool: Pool, embedder: Embedder) -> None:
        self._pool = pool
        self._embedder = embedder
        self._work = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="embed-team", daemon=True)

    def start(self) -> None:
        self._work.set()
        self._thread.start()

    def wake(self) -> None:
        """Look for passages that wait, now."""
        self._work.set()

    def stop(self) -> None:
        """End after the passages that are being embedded."""
        self._ended = True
        self._work.set()
        self._thread.join()

    def _embed_some(self) -> bool:
        """Embed some of what waits, tell whether any did; raise EmbedderUnavailable, StorageUnavailable."""
        with connection(self._pool) as db:
            claimed = vectors.claim(db, AT_ONCE)
        if claimed:
            made = self._embedder.embed_passages([text for _, text in claimed])
            numbers = [number for number, _ in claimed]
            with connection(self._pool) as db:
                vectors.put(db, dict(zip(numbers, made, strict=True)))
        return bool(claimed)

    def _run(self) -> None:
        while not self._ended:
            self._work.wait(EVERY)
            self._work.clear()
            try:
                while not self._ended and self._embed_some():
                    pass
            except DaybookError as error:
                log.warning("the team's memories wait to be embedded: %s", error)
            except Exception:  # a background thread that fails is logged; answers go on by words
                log.exception("the team's memories wait to be embedded")
