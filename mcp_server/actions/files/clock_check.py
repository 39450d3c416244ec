"""
clock check: asked by every step that puts away or deletes something because of its age.

No such step computes with the clock itself: `tests/test_architecture.py` looks for steps that do.
"""

from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.adapters.index.events import episodes
from mcp_server.core.worth.steady_clock import Doubt, doubt_of, known_since
from mcp_server.store import Store

NEVER = -(1 << 62)
"""A Unix second before which nothing is dated."""


def clock_doubt(store: Store) -> Doubt | None:
    """Return why the clock is not trusted, None when it is. Raises IndexUnavailable."""
    catch_up_if_free(store)
    with store.database.read() as db:
        return doubt_of(store.now(), episodes.days_of_use(db))


def old_before(store: Store, seconds: float) -> int:
    """Return the Unix second before which something is *seconds* old; NEVER while the clock is in doubt."""
    return NEVER if clock_doubt(store) else store.now() - int(seconds)


def dated_from(store: Store) -> int:
    """Return the Unix second from which on a date in the ledger is trusted; the present when none is."""
    with store.database.read() as db:
        first = known_since(episodes.days_of_use(db))
    return store.now() if first is None else first
