"""
graph_change: what putting and deleting nodes and edges share.

Everything is a memory or a link in a file: what is put is written there before it is acknowledged.
"""

from collections.abc import Callable
from typing import TypeVar

from mcp_server.actions.files.read import Found, look_up
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.forget import unarchive
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters.index.events import graph
from mcp_server.core.errors import Conflict, Rejected, similar
from mcp_server.core.memory import ARCHIVE_FOLDER, Draft, Status
from mcp_server.store import Store

ATTEMPTS = 40  # times that a write is repeated when another process was quicker: of two, half come too late
T = TypeVar("T")


def create(store: Store, draft: Draft) -> None:
    """Remember *draft* under its id; raises Conflict when another process took that id this moment."""
    try:
        remember(store, draft)
    except Rejected as error:
        sync_if_free(store)
        if look_up(store, draft.id) is None:
            raise
        raise Conflict(f"'{draft.id}' was put by another process this moment.") from error


def change(store: Store, found: Found, revision: Revision, session: str) -> Found:
    """Revise what was read, and return it as it is now."""
    return revise(store, found.memory.id, revision, version=found.digest, session=session)


def returned(here: Store, found: Found, session: str) -> Found:
    """Bring a memory back from the archive, dated now."""
    back = unarchive(here, found, session=session)
    dated = Revision(archived_reason="", updated=here.clock().replace(microsecond=0))
    return revise(here, back.memory.id, dated, version=back.digest, session=session)


def is_put_away(found: Found) -> bool:
    """Tell whether a memory lies in the archive, or its file says so."""
    away = found.memory.status in (Status.ARCHIVED, Status.ORPHANED)
    return away or found.path.relative_to(found.vault.root).parts[0] == ARCHIVE_FOLDER


def nearest(store: Store, memory_id: str) -> list[str]:
    """Return up to three ids that look like *memory_id*."""
    with store.database.read() as db:
        ids = graph.ids(db, [vault.key for vault in store.vaults])
    return similar(memory_id, ids)


def repeated(attempt: Callable[[], T]) -> T:
    """Return what *attempt* returns, begun again while other processes change the same file."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except Conflict:
            continue
    return attempt()
