"""
How many memories a team has, how long they are, and which words are common among them.

PostgreSQL counts the common words by itself, from a sample, whenever ANALYZE runs: autovacuum does so in the
background. Nothing is counted when a memory is saved, so writers do not wait for each other.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from mcp_server.adapters.team.connections import Connection
from mcp_server.core.text.languages import STEMMED, mark

Connect = Callable[[], AbstractContextManager[Connection]]

SMALL = 20_000  # memories up to which all are counted
FRESH, FRESH_OF_SMALL = 60.0, 2.0  # seconds until all is counted again
SAMPLE = 10_000  # memories from which the mean length is estimated


@dataclass(frozen=True, slots=True)
class Counted:
    """
    Statistics of all memories; `common` is word → the share of memories that have it.

    `uncommon` is the least share in `common`: a word that is not there is rarer.
    """

    memories: int = 0
    mean_length: float = 1.0
    passages_length: float = 1.0
    common: Mapping[str, float] = field(default_factory=dict)
    uncommon: float = 0.0
    languages: tuple[str, ...] = ()


class Statistics:
    """The last counts, renewed when they are too old; for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted = Counted()
        self._until = 0.0

    def of(self, connect: Connect) -> Counted:
        """Return the counts; if they are too old, count first, on a connection of the server's own login."""
        if time.monotonic() < self._until or not self._lock.acquire(blocking=self._until == 0.0):
            return self._counted
        try:
            if time.monotonic() >= self._until:
                with connect() as db:
                    self._counted = _count(db)
                small = self._counted.memories <= SMALL
                self._until = time.monotonic() + (FRESH_OF_SMALL if small else FRESH)
        finally:
            self._lock.release()
        return self._counted


def _count(db: Connection) -> Counted:
    (guess,) = db.execute(
        "SELECT reltuples::bigint FROM pg_class WHERE oid = 'daybook.searched'::regclass"
    ).fetchall()[0]
    sample = f"TABLESAMPLE SYSTEM ({100 * SAMPLE / guess})" if guess > SMALL else ""
    number, length = db.execute(
        f"SELECT count(*), coalesce(avg(length), 1)::float8 FROM daybook.searched {sample}"
    ).fetchall()[0]
    (passages_length,) = db.execute(
        f"SELECT coalesce(avg(length), 1)::float8 FROM daybook.passages {sample}"
    ).fetchall()[0]
    common = db.execute(
        "SELECT word, share FROM pg_stats, unnest(most_common_elems::text::text[],"
        " most_common_elem_freqs[:cardinality(most_common_elems::text::text[])]) AS of_words (word, share)"
        " WHERE schemaname = 'daybook' AND tablename = 'searched' AND attname = 'lexemes'"
    ).fetchall()
    written_in = db.execute(
        "SELECT language FROM unnest(%s::text[], %s::text[]) AS asked (language, mark)"
        " WHERE EXISTS (SELECT FROM daybook.searched WHERE lexemes @@ mark::tsquery)",
        ([*STEMMED], [f"'{mark(language).lower()}'" for language in STEMMED]),
    ).fetchall()
    return Counted(
        memories=guess if sample else number,
        mean_length=length,
        passages_length=passages_length,
        common=dict(common),
        uncommon=min((share for _, share in common), default=0.0),
        languages=tuple(language for language in STEMMED if (language,) in written_in),
    )
