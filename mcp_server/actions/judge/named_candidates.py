"""named_candidates: settle several candidates by their ids; one that cannot be settled stops no other."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from mcp_server.actions.judge.candidate import Candidate, approve, expected, reject
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.adapters.index.events import candidates
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory_parts import typed_id
from mcp_server.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Named:
    """
    The candidates that a command names, by id: those that wait, as they are shown, the verdict (approved,
    rejected) on those settled `before`, and why the others cannot be settled, to which settling adds.
    """

    waiting: dict[str, Candidate]
    before: dict[str, str]
    failed: dict[str, DaybookError]


def named(store: Store, keys: Iterable[str]) -> Named:
    """
    Return the candidates that *keys* name; raises NotFound when none of them waits or was settled.

    A command that was cut off after the first of several can be given again.
    """
    chosen = Named({}, {}, {})
    for key in dict.fromkeys(map(typed_id, keys)):
        try:
            chosen.waiting[key] = expected(store, key)
        except DaybookError as error:
            with store.database.read() as db:
                verdict = candidates.verdict_on(db, key)
            if verdict in ("approved", "rejected"):
                chosen.before[key] = verdict
            else:
                chosen.failed[key] = error
    if chosen.failed and not chosen.waiting and not chosen.before:
        raise next(iter(chosen.failed.values()))
    return chosen


def approve_each(store: Store, chosen: Named) -> list[DraftOutcome]:
    """Store those that wait as memories that the person accepted. Raises OSError."""
    return [
        outcome for stored in _each(store, chosen, lambda key: approve(store, [key])) for outcome in stored
    ]


def reject_each(store: Store, chosen: Named) -> list[str]:
    """Move those that wait to the trash, and return their ids. Raises OSError."""

    def rejected(key: str) -> str:
        reject(store, [key])
        return key

    return _each(store, chosen, rejected)


def _each(store: Store, chosen: Named, settle: Callable[[str], T]) -> list[T]:
    settled = []
    for key, shown in chosen.waiting.items():
        try:
            if expected(store, key).digest != shown.digest:
                raise Conflict("It changed after it was shown.")
            settled.append(settle(key))
        except DaybookError as error:
            chosen.failed[key] = error
    return settled
