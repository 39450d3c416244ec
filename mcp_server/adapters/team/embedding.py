"""Embedding what a team remembers: a thread of the server gives each passage that waits its vector."""

import logging
import threading

from mcp_server.adapters.team import vectors
from mcp_server.adapters.team.connections import Pool, connection
from mcp_server.core.errors import DaybookError
from mcp_server.core.ports import Embedder

log = logging.getLogger(__name__)

AT_ONCE = 16  # passages
EVERY = 60.0  # seconds between two looks for what another server left


class PassageEmbedding:
    """Embeds the passages that wait, whenever there is work; several servers share it."""

    def __init__(self, pool: Pool, embedder: Embedder) -> None:
        self._pool = pool
        self._embedder = embedder
        self._work = threading.Event()
        self._one_at_a_time = threading.Lock()
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

    def embed_waiting(self) -> int:
        """Embed all that waits, return how many passages; raise EmbedderUnavailable, StorageUnavailable."""
        done = 0
        while not self._ended:
            with self._one_at_a_time:  # who returns may rely on it that nothing is under way
                embedded = self._embed_some()
            if not embedded:
                break
            done += embedded
        return done

    def _embed_some(self) -> int:
        with connection(self._pool) as db:
            claimed = vectors.claim(db, AT_ONCE)
        if claimed:
            made = self._embedder.embed_passages([text for _, text in claimed])
            numbers = [number for number, _ in claimed]
            with connection(self._pool) as db:
                vectors.put(db, dict(zip(numbers, made, strict=True)))
        return len(claimed)

    def _run(self) -> None:
        while not self._ended:
            self._work.wait(EVERY)
            self._work.clear()
            try:
                self.embed_waiting()
            except DaybookError as error:
                log.warning("what the team remembered waits to be embedded: %s", error)
            except Exception:  # a background thread that fails is logged; answers go on by words
                log.exception("what the team remembered waits to be embedded")
