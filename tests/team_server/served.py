"""A team's server on loopback, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp_server.bootstrap import now
from mcp_server.core.team.team import TeamDatabase
from mcp_server.doors.team_server.serve import TeamServer
from tests.patience import PATIENCE


@contextmanager
def served(database: TeamDatabase, **more: Any) -> Iterator[str]:
    """Serve the team of *database*, and give the address."""
    server = TeamServer(database, bind="127.0.0.1", port=0, now=now, **more)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.address
    finally:
        server.end()
        thread.join(PATIENCE)
        assert not thread.is_alive()
