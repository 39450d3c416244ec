"""audit: what was done to memories, when and in which session; forgotten ones included."""

from dataclasses import dataclass

from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.adapters.index.events import audit
from mcp_server.adapters.index.events.audit import Deed
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.store import Store

MOST = 500  # deeds of one answer


@dataclass(frozen=True, slots=True)
class Done:
    """A deed and the title of its memory; '' when the memory is gone."""

    deed: Deed
    title: str


def audit_history(
    store: Store, memory_id: str = "", *, session: str = "", limit: int = 50, all_projects: bool = False
) -> list[Done]:
    """
    Return what was done, the latest first: to one memory, in one session, or all of it.

    Texts are not returned: a forgotten one is in the trash. Raises Rejected for a bad limit or an unknown
    session, NotFound for an id that no deed names.
    """
    if not 1 <= limit <= MOST:
        raise Rejected(f"A limit of {limit} cannot be used.", f"Give a number from 1 to {MOST}.")
    refresh_index(store)
    named = find_session(store, session).id if session.strip() else ""
    wanted = memory_id.strip().removesuffix(".md")
    keys = store.keys
    with store.database.read() as db:
        everywhere = all_projects or (named and not wanted)
        chosen = selections.vaults_in_use(db) if all_projects else keys
        refs = [f"{key}/{wanted}" for key in dict.fromkeys([*keys, *chosen])] if wanted else [""]
        found = [
            deed
            for ref in refs
            for deed in audit.history(
                db, ref=ref, session=named, vaults=() if everywhere else keys, limit=limit
            )
        ]
        found = sorted(found, key=lambda deed: -deed.at)[:limit] if len(refs) > 1 else found
        rows = {deed.ref: selections.with_ref(db, deed.ref) for deed in found if deed.ref}
    if wanted and not found:
        raise NotFound(wanted[:80])
    titles = {ref: row.title for ref, row in rows.items() if row}
    return [Done(deed, titles.get(deed.ref, "")) for deed in found]
