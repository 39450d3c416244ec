"""offers: what may let Daybook learn is offered to the person, each way once and one in a session at most."""

from enum import StrEnum

from mcp_server.adapters import files, places
from mcp_server.core.errors import Unreadable
from mcp_server.store import Store

LONGEST = 1024  # bytes of a note, which is a session's id


class Offer(StrEnum):
    """A way to learn; its value names the file in `work` that holds the session in which it was offered."""

    KEY = "offered"
    PLAN = "plan-asked"


def may_be_made(store: Store, offer: Offer) -> bool:
    """Tell whether the person never had that *offer*, and no other in this session."""
    folder = store.home / places.WORK
    if (folder / offer).exists():
        return False
    return not store.session or all(_session_of(store, other) != store.session for other in Offer)


def note_made(store: Store, offer: Offer) -> bool:
    """Note that the *offer* is made now; return False when it was before, or the disk refuses."""
    try:
        files.write_new(store.home / places.WORK / offer, store.session.encode())
    except OSError:
        return False
    return True


def _session_of(store: Store, offer: Offer) -> str:
    """Return the session in which it was offered, '' for none; an earlier version noted no session."""
    try:
        return files.read(store.home / places.WORK / offer, LONGEST).decode("utf-8", "replace")
    except (OSError, Unreadable):
        return ""
