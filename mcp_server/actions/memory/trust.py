"""validate, invalidate and the trust history: how far a memory is trusted, and what changed that."""

from dataclasses import dataclass

from mcp_server.actions.files.commit import one_change, write_line
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, read
from mcp_server.actions.files.shadows import shadowed
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.memory.revise import mark
from mcp_server.actions.recall.staleness import noted, staleness
from mcp_server.adapters.index.events import touched_files, trust, usage
from mcp_server.adapters.index.events.trust import TrustEvent
from mcp_server.adapters.index.events.usage import UNUSED
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Staleness
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.worth import ratings
from mcp_server.store import Store

NOTE = 200  # characters
MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class Standing:
    """
    The trust in a memory now, 0 to 1, and what became of the files that it is about.

    `shadowed_by` is the id of the memory that shadows it in this project, '' where it holds. `project` is the
    key of the vault of another project that it is in, '' for a memory that is visible here.
    """

    trust: float
    stale: Staleness
    shadowed_by: str = ""
    project: str = ""

    @property
    def label(self) -> str:
        return ratings.trust_label(self.trust)


@dataclass(frozen=True, slots=True)
class TrustHistory:
    """The trust a memory started with, what changed it, the latest first, and where it stands."""

    id: str
    base: float
    events: tuple[TrustEvent, ...]
    standing: Standing


def validate(store: Store, memory_id: str, *, reason: str = "confirmed", note: str = "") -> TrustHistory:
    """
    Note that a memory was found to be right: its trust rises, and its half-life starts again.

    Its file gets `verified`; `updated` stays, and whether it may be shown unasked stays as it was.
    Raises Rejected for an unknown *reason*, NotFound, Conflict, Unreadable, OSError.
    """
    _check(reason, ratings.VALIDATING)
    file = read(store, memory_id)
    with store.database.read() as db:
        before = touched_files.touched_by(db, [file.ref]).get(file.ref, [])
    mark(
        store,
        memory_id,
        event="trusted",
        verified=store.moment(),
        touched=noted(store, file.vault, file.memory.touches),
        touched_before={entry.path: [entry.digest, entry.at] for entry in before} or None,
        reason=reason,
        note=_masked(note),
    )
    return trust_history(store, memory_id)


@one_change()
def invalidate(store: Store, memory_id: str, *, reason: str, note: str = "") -> TrustHistory:
    """
    Note that a memory was found to be outdated, partly incorrect or wrong: its trust falls.

    Trust weighs in the ranking and shows as a label; it never hides a memory.
    Raises Rejected for an unknown *reason*, NotFound, OSError.
    """
    _check(reason, ratings.INVALIDATING)
    row = find(store, memory_id)
    write_line(store, "trusted", refs=[row.ref], reason=reason, note=_masked(note))
    return trust_history(store, memory_id)


@self_healing
def trust_history(store: Store, memory_id: str) -> TrustHistory:
    """Return what changed the trust in a memory, after taking in all of the ledger. Raises NotFound."""
    row = find(store, memory_id)
    catch_up_if_free(store)
    with store.database.read() as db:
        events = trust.history(db, row.ref, limit=MOST_EVENTS)
    base = ratings.base_trust(row.trust, row.source)
    return TrustHistory(row.id, base, tuple(events), standing(store, row.vault, row.id))


@self_healing
def standing(store: Store, vault: str, memory_id: str) -> Standing:
    """Return the trust in a memory of the vault with that key, and whether its files changed."""
    with store.database.read() as db:
        row = selections.with_id(db, [vault], memory_id)
        if row is None:
            return Standing(0.0, Staleness())
        counts = usage.usage_of(db, [row.ref]).get(row.ref, UNUSED)
        shadow = shadowed(store, db).get(row.row)
        return Standing(
            usage.trust_of(row, counts, store.now()),
            staleness(store, db, [row])[row.ref],
            shadow.id if shadow else "",
            "" if store.vault(vault) else vault,
        )


def standing_of(store: Store, file: MemoryFile) -> Standing:
    """Return the same for a memory that was read."""
    return standing(store, file.vault.key, file.memory.id)


def _check(reason: str, reasons: tuple[str, ...]) -> None:
    if reason not in reasons:
        raise Rejected(f"'{reason}' is not a known reason.", f"Use one of: {', '.join(reasons)}.")


def _masked(note: str) -> str:
    return one_line(redact(note), NOTE)
