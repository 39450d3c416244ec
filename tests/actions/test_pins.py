"""Pins: each has a place in every session, or is refused."""

import pytest

from mcp_server.actions.context.brief import at_hand
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.status.status import status
from mcp_server.core.errors import Rejected
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.test_hot import hot_ids, remembered
from tests.conftest import Open


def pin_by_hand(store: Store, memory_id: str) -> None:
    file = read(store, memory_id)
    file.path.write_bytes(file.data.replace(b"\n---\n", b"\npinned: true\n---\n", 1))
    sync(store)


def test_a_pin_beyond_the_last_place_is_refused_and_names_those_that_are_there(
    open_here: Open,
) -> None:
    store = open_here(HOT_CACHE_MAX_ITEMS="2").store()
    heron, egret, stork = (remembered(store, f"{name} server") for name in ("Heron", "Egret", "Stork"))
    pin(store, heron, pinned=True)
    pin(store, egret, pinned=True)
    before = read(store, stork).data

    with pytest.raises(Rejected) as refused:
        pin(store, stork, pinned=True)

    assert str(refused.value) == f"'{stork}' is not pinned: all 2 places are taken by {egret}, {heron}."
    assert "Unpin one" in refused.value.hint
    assert read(store, stork).data == before
    assert sorted(hot_ids(store)) == sorted([heron, egret])
    pin(store, heron, pinned=True)  # it has its place
    pin(store, heron, pinned=False)
    pin(store, stork, pinned=True)
    assert sorted(hot_ids(store)) == sorted([stork, egret])


def test_all_twenty_pins_have_a_place_and_are_at_hand_and_the_next_is_refused(store: Store) -> None:
    pinned = [remembered(store, f"Heron {number} server") for number in range(20)]
    for memory_id in pinned:
        pin(store, memory_id, pinned=True)

    with pytest.raises(Rejected, match="all 20 places"):
        pin(store, remembered(store, "Egret server"), pinned=True)

    assert sorted(hot_ids(store)) == sorted(pinned)
    assert all(memory_id in at_hand(store) for memory_id in pinned)


def test_what_may_not_be_shown_unasked_takes_no_place_from_a_pin(open_here: Open) -> None:
    store = open_here(HOT_CACHE_MAX_ITEMS="1").store()
    waits = remembered(store, "Egret server", source="seeded")
    pin(store, waits, pinned=True)

    heron = remembered(store, "Heron server")
    pin(store, heron, pinned=True)

    assert hot_ids(store) == [heron]


def test_a_hot_set_of_no_places_refuses_pins_and_holds_nothing(open_here: Open) -> None:
    store = open_here(HOT_CACHE_MAX_ITEMS="0").store()
    heron = remembered(store, "Heron server")

    with pytest.raises(Rejected, match="switched off"):
        pin(store, heron, pinned=True)

    pin_by_hand(store, heron)
    assert hot_ids(store) == []
    assert at_hand(store) == ""


def test_pins_of_files_that_have_no_place_are_told_in_the_status(open_here: Open) -> None:
    store = open_here(HOT_CACHE_MAX_ITEMS="1").store()
    for name in ("Heron", "Egret"):
        assert not [need for need in needs_of(status(store, has_key=False)) if "pinned" in need]
        pin_by_hand(store, remembered(store, f"{name} server"))

    assert [need for need in needs_of(status(store, has_key=False)) if "pinned" in need] == [
        "More memories are pinned than can be kept at hand: 2 memories for 1 place;"
        " 'daybook hot' lists them: unpin some."
    ]
