"""When a memory is kept at hand and when it no longer is, as the person sets it."""

import pytest

from mcp_server.actions.memory.promote import demote, hot_status, promote
from tests.actions.test_hot import ask, hot_ids, remembered
from tests.conftest import Clock, Open


@pytest.mark.feature("B-08", "B-43")
def test_how_many_accesses_make_hot_and_how_many_days_cold_can_be_set(open_here: Open, clock: Clock) -> None:
    store = open_here(HOT_CACHE_ACCESSES="2", HOT_CACHE_DAYS="30").store()
    heron = remembered(store, "Heron server")
    ask(store, "heron")
    assert hot_ids(store) == []
    ask(store, "heron")
    clock.pass_days(29)
    assert hot_ids(store) == [heron]
    assert hot_ids(open_here(HOT_CACHE_DAYS="30").store()) == []

    clock.pass_days(1)

    assert hot_ids(store) == []
    assert hot_ids(open_here(HOT_CACHE_ACCESSES="2", HOT_CACHE_DAYS="0").store()) == [heron]
    promote(store, heron)
    assert hot_ids(open_here(HOT_CACHE_ACCESSES="0").store()) == [heron]
    demote(store, heron)
    ask(store, "heron", 9)
    assert hot_ids(open_here(HOT_CACHE_ACCESSES="0").store()) == []


def test_what_is_promoted_stays_so_for_as_many_days_as_are_set(open_here: Open, clock: Clock) -> None:
    store = open_here(HOT_CACHE_DAYS="30").store()
    heron = remembered(store, "Heron server")
    promote(store, heron)
    clock.pass_days(20)
    ask(store, "heron")

    assert [(warm.row.id, warm.why) for warm in hot_status(store).placed] == [(heron, "promoted")]
    assert hot_ids(open_here().store()) == []  # by default it went cold in between
