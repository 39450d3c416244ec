"""
quality: which memories each session was given, whether they were used, and how well retrieval does.

A memory given to a session counts as used when a reply names something telling of it, or when Claude says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.actions.files.read import find
from mcp_server.actions.files.sync import catch_up_if_free, refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.events import receipts
from mcp_server.adapters.index.events.receipts import Receipt, Tally
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import Rejected, all_or_none
from mcp_server.core.memory_parts import DAY, given_ids, id_in
from mcp_server.core.worth.use import is_used, telling_tokens
from mcp_server.store import Store

WINDOW = DAY  # seconds within which a memory must have been given to count as used
SHOWN = 5  # memories of each list of the statistics
LEAST_GIVEN = 3  # answers with a memory before it may count as least useful


@dataclass(frozen=True, slots=True)
class Quality:
    """
    Retrieval in the last `days` (0 for all time): memories given as answers, and those that were used.

    A memory given in two answers counts twice in `given`, once in `unique`; `used` counts once a session.
    """

    days: int
    given: int
    used: int
    unique: int
    top_used: tuple[Tally, ...]
    least_useful: tuple[Tally, ...]
    prompts_told: int
    prompts_silent: int

    @property
    def usage_rate(self) -> float:
        """The share of the given memories that was used, 0 to 1."""
        return min(1.0, self.used / self.given) if self.given else 0.0


def note_use(store: Store, reply: str, *, prompt: str) -> list[str]:
    """
    Note which of the memories that this session was given lately its *reply* makes use of; return their refs.

    Raises IndexUnavailable.
    """
    if not reply.strip() or not store.session:
        return []
    catch_up_if_free(store)
    with store.database.read() as db:
        given_refs = receipts.given(db, store.session, since=store.now() - WINDOW)
        rows = [row for ref in given_refs if (row := selections.with_ref(db, ref))]
    used_refs = [
        row.ref
        for row in rows
        if is_used(telling_tokens(f"{row.title}\n{row.text}", id=row.id), reply, prompt=prompt)
    ]
    if used_refs:
        store.try_record("used", refs=used_refs)
        catch_up_if_free(store)
    return used_refs


def mark_used(store: Store, memory_ids: Sequence[str]) -> list[str]:
    """
    Note that memories were of use, and return their ids; each counts once for a session.

    Raises NotFound for no id, and for one that is not known, and notes nothing then; OSError.
    """
    rows = all_or_none(given_ids(memory_ids), lambda memory_id: find(store, memory_id))
    refs = list(dict.fromkeys(row.ref for row in rows))
    store.record("used", refs=refs)
    catch_up_if_free(store)
    return [id_in(ref) for ref in refs]


@self_healing
def retrieval_quality(store: Store, *, days: int = 30) -> Quality:
    """
    Return how well retrieval did in the last *days*, 0 for all time.

    Raises Rejected for fewer than none, IndexUnavailable.
    """
    if days < 0:
        raise Rejected(f"{days} days cannot be used.", "Give a number of days, or 0 for all time.")
    refresh_index(store)
    since = max(0, store.now() - days * DAY) if days else 0
    with store.database.read() as db:
        tallies = receipts.tallies(db, store.keys, since=since)
        prompts_told, silent = receipts.prompts(db, since=since)
    top = sorted(
        (tally for tally in tallies if tally.used), key=lambda tally: (-tally.used, -tally.given, tally.ref)
    )
    idle = [tally for tally in tallies if tally.given >= LEAST_GIVEN and not tally.used]
    return Quality(
        days=days,
        given=sum(tally.given for tally in tallies),
        used=sum(tally.used for tally in tallies),
        unique=len(tallies),
        top_used=tuple(top[:SHOWN]),
        least_useful=tuple(sorted(idle, key=lambda tally: (-tally.given, tally.ref))[:SHOWN]),
        prompts_told=prompts_told,
        prompts_silent=silent,
    )


@self_healing
def why(
    store: Store, *, session: str = "", ref: str = "", last: bool = False, limit: int = 50
) -> list[Receipt]:
    """
    Return what was given to Claude and why, the latest first; with *last* only what was given at once.

    Only to *session*, and only the memory *ref*, if there is one. Raises IndexUnavailable.
    """
    refresh_index(store)
    with store.database.read() as db:
        return receipts.latest(db, store.keys, session=session, ref=ref, last=last, limit=max(1, limit))
