"""pin, unpin, promote and demote: keep memories at hand by the person's wish, not by their use."""

from dataclasses import dataclass

from mcp_server.actions.context import hot
from mcp_server.actions.context.hot import Warm
from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, read
from mcp_server.actions.files.shadows import shadowed
from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced, refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.memory.revise import mark
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import UNUSED, Usage
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import DAY, Kind, Status
from mcp_server.core.worth import ratings
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class HotStatus:
    """
    The hot set: memories with a place, hot ones without a place, and those that fill the free places.

    `accesses` are how many of them put a memory there, 0 when none do.
    `next_out` is the one to lose its place first when another gets hotter, None when all are pinned;
    `salience` is by ref.
    """

    capacity: int
    accesses: int
    placed: tuple[Warm, ...]
    evicted: tuple[Warm, ...]
    predicted: tuple[Warm, ...]
    next_out: Warm | None
    salience: dict[str, float]


@dataclass(frozen=True, slots=True)
class Pinned:
    """
    A memory that is pinned now, or not; `before`: it was so already, and nothing was done.

    `shadowed_by` is the id of the memory that shadows it in this project, '' without one.
    """

    file: MemoryFile
    before: bool = False
    shadowed_by: str = ""


@dataclass(frozen=True, slots=True)
class Promoted:
    """
    A memory that was promoted; `before`: it was hot already, and only its time begins anew.

    It has a place unless the memory `shadowed_by` shadows it here, or the hot set is full of hotter ones.
    """

    has_place: bool
    before: bool
    shadowed_by: str = ""


def pin(store: Store, memory_id: str, *, pinned: bool) -> Pinned:
    """
    Pin a memory, so that it is at hand in every session, or unpin it; its file says so, its date stays.

    Raises NotFound, Rejected for what is not active knowledge or has no place, Conflict, Unreadable, OSError.
    """
    if pinned:
        require_place(store, memory_id)
    event = "pinned" if pinned else "unpinned"
    before = read(store, memory_id).memory.pinned == pinned
    shadowed_by = _shadowed_by(store, find(store, memory_id))
    return Pinned(mark(store, memory_id, event=event, pinned=pinned), before, shadowed_by)


def require_place(store: Store, memory_id: str) -> None:
    """Raise Rejected, naming the pinned memories, when there is no place to pin the memory; NotFound."""
    row = _active(store, memory_id)
    most = store.settings.hot_cache_max_items
    if not most:
        raise Rejected(
            f"'{row.id}' is not pinned: the hot set is switched off.",
            "Set HOT_CACHE_MAX_ITEMS to more than 0.",
        )
    ensure_synced(store)
    with store.database.read() as db:
        pinned = hot.pinned(store, db)
    if len(pinned) >= most and row.ref not in (row.ref for row in pinned):
        places = "the only place is" if most == 1 else f"all {most} places are"
        raise Rejected(
            f"'{row.id}' is not pinned: {places} taken by {', '.join(row.id for row in pinned[:most])}.",
            "Unpin one of them, or set HOT_CACHE_MAX_ITEMS higher.",
        )


@one_change()
def promote(store: Store, memory_id: str) -> Promoted:
    """
    Put a memory into the hot set now, until it has not been accessed for HOT_CACHE_DAYS.

    Raises NotFound, Rejected, OSError.
    """
    if not store.settings.hot_cache_max_items:
        raise Rejected("The hot set is switched off.", "Set HOT_CACHE_MAX_ITEMS to more than 0.")
    row = _active(store, memory_id)
    counts = _counts(store, row)
    before = counts.is_hot(ratings.hot_rule(store.settings), store.now(), pinned=row.pinned)
    _note(store, "promoted", row, counts)
    return Promoted(is_held(store, row.ref), before, _shadowed_by(store, row))


@one_change()
def demote(store: Store, memory_id: str) -> bool:
    """
    Take a memory out of the hot set now; new accesses bring it back.

    Return whether it was hot. Raises NotFound, Rejected for a pinned one, OSError.
    """
    row = _active(store, memory_id)
    if row.pinned:
        raise Rejected(f"'{row.id}' is pinned, so it stays at hand.", "Unpin it.")
    counts = _counts(store, row)
    was_hot = counts.is_hot(ratings.hot_rule(store.settings), store.now(), pinned=False)
    if was_hot:
        _note(store, "demoted", row, counts)
    return was_hot


def _counts(store: Store, row: Row) -> Usage:
    catch_up_if_free(store)
    with store.database.read() as db:
        return usage.usage_of(db, [row.ref]).get(row.ref, UNUSED)


def _note(store: Store, event: str, row: Row, counts: Usage) -> None:
    """Write that *row* was promoted or demoted; its *counts* until now are what `undo` brings back."""
    was = {name: getattr(counts, name) for name in usage.RESTORED}
    write_line(store, event, refs=[row.ref], was=was)
    catch_up_if_free(store)


@self_healing
def hot_status(store: Store) -> HotStatus:
    """Return how the hot set stands, as of everything that the ledger says. Raises IndexUnavailable."""
    refresh_index(store)
    now = store.now()
    with store.database.read() as db:
        placed, evicted = hot.places(store, db)
        predicted = hot.predicted(store, db, placed)
        usages = usage.usage_of(db, [warm.row.ref for warm in (*placed, *evicted, *predicted)])
    salience = {}
    for warm in (*placed, *evicted, *predicted):
        counts = usages.get(warm.row.ref, UNUSED)
        salience[warm.row.ref] = ratings.salience(
            importance=ratings.importance(warm.row.text),
            trust=usage.trust_of(warm.row, counts, now),
            accesses=counts.accesses,
            age=(now - counts.last_access) / DAY,
        )
    free = len(placed) < store.settings.hot_cache_max_items
    next_out = None if free else next((warm for warm in reversed(placed) if not warm.row.pinned), None)
    return HotStatus(
        store.settings.hot_cache_max_items,
        store.settings.hot_after,
        tuple(placed),
        tuple(evicted),
        tuple(predicted),
        next_out,
        salience,
    )


@self_healing
def is_held(store: Store, ref: str) -> bool:
    """Tell whether the memory *ref* has a place in the hot set. Raises IndexUnavailable."""
    with store.database.read() as db:
        placed, _ = hot.places(store, db)
    return ref in {warm.row.ref for warm in placed}


@self_healing
def _shadowed_by(store: Store, row: Row) -> str:
    """Return the id of the memory that shadows *row* in this project, '' without one."""
    with store.database.read() as db:
        shadow = shadowed(store, db).get(row.row)
    return shadow.id if shadow else ""


def _active(store: Store, memory_id: str) -> Row:
    row = find(store, memory_id)
    if row.kind is not Kind.KNOWLEDGE or row.status is not Status.ACTIVE:
        knowledge = row.kind is Kind.KNOWLEDGE
        description = f"memory that is {row.status.value}" if knowledge else row.kind.value
        raise Rejected(
            f"'{row.id}' is a {description}; only active knowledge is kept at hand.",
            "Restore it first."
            if knowledge
            else "Remember what matters of it, and keep that memory at hand.",
        )
    return row
