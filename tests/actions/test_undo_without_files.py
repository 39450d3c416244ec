"""undo: a change that no file shows, only the ledger, is taken back like any other."""

from collections.abc import Callable

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.promote import demote, hot_status, promote
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import invalidate, trust_history
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.events.usage import usage_of
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.memories import stored

OF_THE_LEDGER_ALONE: dict[str, Callable[[Store, str], object]] = {
    "promote": promote,
    "demote": demote,
    "invalidate": lambda store, memory_id: invalidate(store, memory_id, reason="wrong"),
}


@pytest.mark.parametrize("verb", OF_THE_LEDGER_ALONE)
def test_what_only_the_ledger_says_is_taken_back_and_not_the_change_before_it(
    store: Store, verb: str
) -> None:
    memory_id = stored(store, "Retry rule", "Wait thirty seconds.")

    def state() -> object:
        with store.database.read() as db:
            counts = usage_of(db, [read(store, memory_id).ref])
        return (
            [warm.why for warm in hot_status(store).placed],
            counts,
            trust_history(store, memory_id).standing,
        )

    for _ in range(3):
        recall(store, Query("retry rule", limit=1), given_to="s1")
    revise(store, memory_id, Revision(tags=("net",)))
    text = read(store, memory_id).data
    before = state()
    OF_THE_LEDGER_ALONE[verb](store, memory_id)
    after = state()
    assert after != before

    for expected in (before, after, before):
        assert undo(store, last_change(store)).restored == [memory_id]
        assert state() == expected
        rebuild(store)
        assert state() == expected
    assert read(store, memory_id).data == text
