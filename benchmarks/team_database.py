"""A team's database for a benchmark: one that is named, or an empty one of the tests' PostgreSQL."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from mcp_server.adapters.team.database import PostgresTeam, open_database
from mcp_server.core.ports import Embedder


@contextmanager
def opened(database: str, embedder: Embedder | None) -> Iterator[tuple[str, PostgresTeam]]:
    """Give the URL of a database and the team in it: *database*, or an empty one that goes afterwards."""
    if database:
        with open_database(database, embedder=embedder) as team:
            yield database, team
        return
    from tests.postgres import empty_database, stop

    try:
        with empty_database() as url, open_database(url, embedder=embedder) as team:
            yield url, team
    finally:
        stop()


def wait_for_vectors(url: str) -> None:
    """Return when the thread of the team in the database *url* has embedded all that waits, to 10 ms."""
    with psycopg.connect(url, autocommit=True) as db:
        while db.execute("SELECT FROM daybook.unembedded LIMIT 1").fetchall():
            time.sleep(0.01)  # as exact as the figure need be, and the thread has the processor
