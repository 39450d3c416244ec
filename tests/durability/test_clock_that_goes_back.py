"""What was done last is what was done last, whatever the clock said then."""

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, rebuild
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters.index.events import spending
from mcp_server.core.budget import CallOutcome
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store
from tests.conftest import Clock


def remembered(store: Store) -> str:
    return remember(store, Draft("Lamps", "They are lit at dusk.")).memory.id


def test_undo_takes_back_the_change_made_last_with_the_earlier_date(store: Store, clock: Clock) -> None:
    memory_id = remembered(store)
    clock.pass_days(2)
    revise(store, memory_id, Revision(text="They are lit at noon."))
    clock.pass_days(-5)
    revise(store, memory_id, Revision(text="They are lit at night."))

    for _ in range(2):  # as the ledger was followed, and as it is read anew
        undo(store, last_change(store))
        assert read(store, memory_id).memory.text == "They are lit at noon."
        undo(store, last_change(store, memory_id))
        assert read(store, memory_id).memory.text == "They are lit at night."
        rebuild(store)


def test_what_was_forgotten_before_a_clock_went_back_comes_back(store: Store, clock: Clock) -> None:
    clock.pass_days(40)
    memory_id = remembered(store)
    clock.pass_days(-1)
    forget(store, memory_id)

    assert undo(store, last_change(store, memory_id)).restored == [memory_id]
    assert read(store, memory_id).memory.text == "They are lit at dusk."


def test_calls_of_a_clock_that_was_ahead_use_up_no_earlier_day(store: Store, clock: Clock) -> None:
    clock.pass_days(400)
    for call in ("paid", "plan-a"):
        store.record("reserved", call=call, item="i", usd=0.2, sessions={"s1": 1.0})
        store.record("spent", call=call, usd=0.2, outcome=CallOutcome.OK.value)
    ahead = store.now()
    clock.pass_days(-400)
    catch_up(store)

    with store.database.read() as db:
        for now, calls in ((store.now(), 0), (ahead, 1), (ahead + DAY, 0)):
            assert spending.today(db, now) == (0.2 * calls, calls)
            assert spending.today_on_plan(db, now) == calls
            assert spending.learned_today(db, now) == 2 * calls
