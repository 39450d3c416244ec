"""deeds: what was done to memories, when and in which session; forgotten ones included."""

from dataclasses import dataclass
from itertools import chain

from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.adapters.index.events import deeds
from mcp_server.adapters.index.events.deeds import Deed, Place
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory_parts import ref_of, typed_id
from mcp_server.store import Store

MOST = 500  # deeds of one answer


@dataclass(frozen=True, slots=True)
class TitledDeed:
    """A deed and the title of its memory; '' when the memory is gone."""

    deed: Deed
    title: str


def list_deeds(
    store: Store,
    memory_id: str = "",
    *,
    session: str = "",
    by: str = "",
    limit: int = 50,
    offset: int = 0,
    all_projects: bool = False,
) -> list[TitledDeed]:
    """
    Return what was done, the latest first: to one memory, in one session, or all of it.

    With *by* only what that author did, a word of `core.authors`. The first *offset* are left out. Texts are
    not returned: a forgotten one is in the trash.
    Raises Rejected for a bad limit or an unknown session, NotFound for an id that no deed names.
    """
    if not 1 <= limit <= MOST:
        raise Rejected(f"A limit of {limit} cannot be used.", f"Give a number from 1 to {MOST}.")
    refresh_index(store)
    session_id = find_session(store, session).id if session.strip() else ""
    memory_name = typed_id(memory_id)
    with store.database.read() as db:
        if memory_name:  # in several vaults
            keys = dict.fromkeys([*store.keys, *(selections.vaults_in_use(db) if all_projects else ())])
            deeds_of_vaults = [
                deeds.listed(
                    db, ref=ref_of(key, memory_name), session=session_id, by=by, limit=offset + limit
                )
                for key in keys
            ]
            latest_first = sorted(chain.from_iterable(deeds_of_vaults), key=lambda deed: -deed.at)
            deeds_done = latest_first[offset : offset + limit]
        else:
            vaults = () if all_projects or session_id else store.keys
            deeds_done = deeds.listed(
                db, session=session_id, by=by, vaults=vaults, limit=limit, offset=offset
            )
        rows = {deed.ref: selections.with_ref(db, deed.ref) for deed in deeds_done if deed.ref}
    if memory_name and not (deeds_done or offset or by):
        raise NotFound(memory_name[:80])
    titles = {ref: row.title for ref, row in rows.items() if row}
    return [TitledDeed(deed, titles.get(deed.ref, "")) for deed in deeds_done]


def deeds_at(store: Store, place: Place) -> list[Deed]:
    """Return what the ledger's line at *place* says was done, a deed for each memory; none if it is gone."""
    with store.database.read() as db:
        return deeds.at_place(db, place)
