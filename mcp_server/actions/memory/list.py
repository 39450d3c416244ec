"""list: list memories by filter, without a query."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.files.shadows import out_of_sight, shadowed, visible
from mcp_server.actions.files.sync import ensure_synced
from mcp_server.actions.files.touched import asked_of
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import Elsewhere, NotFound, Rejected, similar
from mcp_server.core.links import as_name
from mcp_server.core.memory_parts import MAX_TITLE, Kind, Level
from mcp_server.core.search.query import ANY_STATUS, Filter, covers_all
from mcp_server.store import Store

LOOKED_AT = 500  # newest memories of a kind among which a misspelt id is looked for
MOST_ROWS = 1 << 31  # more than there can be: SQLite counts no further than 64 bits
NAMED = 3  # ids, at most, that are suggested


@dataclass(frozen=True, slots=True)
class Listing:
    """
    A page of memories, and how many there are in all.

    `shadowed` is row of the page → the id of the memory that shadows it in this project. `elsewhere` are the
    keys of the vaults of other projects on the page. `of_copy`: only the copy of the team's memories was
    looked at.
    """

    rows: tuple[Row, ...]
    total: int
    shadowed: Mapping[int, str] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    of_copy: bool = False


@self_healing
def list_memories(
    store: Store, filter: Filter, *, limit: int = 20, offset: int = 0, order: selections.Order = "updated"
) -> Listing:
    """Return the memories that *filter* lets through: those whose time *order* names is the newest first."""
    ensure_synced(store)
    filter = asked_of(store, filter)
    with store.database.read() as db:
        vaults = visible(store, db, filter)
        shadows = shadowed(store, db)
        hidden = () if covers_all(filter) else out_of_sight(shadows, as_of=filter.as_of)
        rows, total = selections.page(
            db,
            filter,
            vaults,
            order=order,
            limit=min(limit, MOST_ROWS),
            offset=min(offset, MOST_ROWS),
            without=hidden,
        )
    return Listing(
        tuple(rows),
        total,
        {row.row: shadows[row.row].id for row in rows if row.row in shadows},
        frozenset(row.vault for row in rows).difference(store.keys),
        filter.level is Level.TEAM and bool(store.of_team),
    )


@self_healing
def named_like(store: Store, text: str, *, limit: int) -> tuple[Row, ...]:
    """
    Return the memories that have all words of *text* in their title, an alias or their id, whole or in part.

    Active ones come first, then the newest; nothing is returned for no words.
    """
    words = as_name(text[:MAX_TITLE]).split()
    if not words:
        return ()
    ensure_synced(store)
    with store.database.read() as db:
        return tuple(selections.named_like(db, store.keys, words, limit))


def read_kind(store: Store, kind: Kind, memory_id: str) -> MemoryFile:
    """
    Return the memory with that id, which is of *kind*.

    Raises NotFound, which says where it is or names up to three of that kind that look like it, else the
    newest; Rejected for another kind.
    """
    try:
        file = read(store, memory_id)
    except Elsewhere:
        raise
    except NotFound:
        rows = list_memories(store, Filter(kinds=(kind,), statuses=ANY_STATUS), limit=LOOKED_AT).rows
        ids = [row.id for row in rows]
        named = ", ".join(similar(memory_id, ids) or ids[:NAMED])
        meant = f"Did you mean {named}? " if named else ""
        raise NotFound(
            memory_id,
            sentence=f"No saved {kind.value} has the id '{memory_id[:80]}'.",
            hint=f"{meant}'daybook list --kind {kind.value}' lists all.",
        ) from None
    if file.memory.kind is not kind:
        description = f"of kind {file.memory.kind.value}, not a {kind.value}"
        raise Rejected(f"'{memory_id}' is {description}.", "Use read for it.")
    return file
