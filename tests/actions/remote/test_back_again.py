"""A memory that was forgotten on one machine and reworded on another is there again, and is named."""

from datetime import timedelta

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import validate
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import add, look_ahead, remove
from mcp_server.actions.status.status import status
from mcp_server.doors.shown.remote import exchanged
from mcp_server.doors.shown.state import needs
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.memories import stored


def named(store: Store) -> list[str]:
    """Return the sentences of the state that tell of a memory that is there again."""
    return [need for need in needs(status(store, has_key=False)) if "Forgotten on one" in need]


@pytest.fixture
def both(machines: Machines) -> tuple[Store, Store, str]:
    """Two machines and a memory, forgotten on the first and reworded on the second."""
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 80.")
    stored(desk, "The queue is retried five times.")
    exchange(desk)
    laptop = machines.joined("laptop")
    forget(desk, memory_id)
    machines.clock.now += timedelta(minutes=1)
    revise(laptop, memory_id, Revision(text="The port is 90."))
    return desk, laptop, memory_id


def test_the_exchange_and_the_state_name_it_on_both_machines(
    machines: Machines, both: tuple[Store, Store, str]
) -> None:
    desk, laptop, memory_id = both
    exchange(laptop)

    result = exchange(desk)

    assert result.added == result.back == (memory_id,)
    (note,) = (note for note in exchanged(result).notes if memory_id in note)
    assert "was forgotten on one of your machines and came from another" in note
    (sentence,) = named(desk)
    assert f"[{memory_id}] The port is 80." in sentence and f"'daybook validate {memory_id}'" in sentence
    machines.meet(desk, laptop)
    assert len(named(laptop)) == 1


@pytest.mark.parametrize("answer", [validate, forget])
def test_it_is_named_until_the_person_answers(
    machines: Machines, both: tuple[Store, Store, str], answer: object
) -> None:
    desk, laptop, memory_id = both
    machines.meet(laptop, desk)
    machines.clock.now += timedelta(minutes=1)

    answer(desk, memory_id)  # type: ignore[operator]
    machines.meet(desk, laptop)

    assert named(desk) == named(laptop) == []


def test_what_was_forgotten_while_there_was_no_remote_is_named_as_it_is(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 80.")
    exchange(desk)
    remove(desk)
    machines.clock.now += timedelta(minutes=1)
    forget(desk, memory_id)

    result = add(desk, look_ahead(desk, str(machines.remote)))

    assert result.back == (memory_id,)
    assert any("came from another, which had kept" in note for note in exchanged(result).notes)


def test_what_the_person_brought_back_is_not_named(machines: Machines) -> None:
    desk = machines.joined("desk")
    restored, undone = stored(desk, "The port is 80."), stored(desk, "The queue is retried five times.")
    forget(desk, restored)
    restore(desk, restored)
    forget(desk, undone)
    undo(desk, last_change(desk, undone))

    assert exchange(desk).back == () and named(desk) == []
