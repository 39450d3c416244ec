"""How well a person's own memories are found."""

import pytest

from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.quality import mark_used
from mcp_server.actions.status.bench import Question, bench, mean_reciprocal_rank, share_within
from mcp_server.core.memory import Draft, Link
from mcp_server.core.search.query import Query
from mcp_server.store import Store


def test_each_memory_is_asked_for_by_its_title_and_each_link_by_where_it_starts(store: Store) -> None:
    target = remember(store, Draft("Backoff", "Retries wait longer each time, for the queue.")).memory.id
    source = remember(store, Draft("Queue", "Jobs wait here.", links=(Link("depends-on", target),))).memory.id

    asked = bench(store).asked

    assert {(each.how, each.text, each.id) for each in asked} == {
        ("title", "Backoff", target),
        ("title", "Queue", source),
        ("link", "Queue", target),
    }
    assert [each.place for each in asked if each.how == "title"] == [1, 1]
    (linked,) = bench(store).of("link")
    assert (linked.place, linked.first) == (2, source)


def test_what_no_search_shows_is_not_asked_for(store: Store) -> None:
    old = remember(store, Draft("Rule A", "Parcels leave on Mondays.", type="decision")).memory.id
    new = Draft("Rule B", "The warehouse ships on Tuesdays.", type="decision", supersedes=(old,))
    current = remember(store, new).memory.id
    link(store, current, old, "refines")

    assert {each.id for each in bench(store).asked} == {current}


def test_what_was_of_use_is_asked_for_by_what_was_asked_then(store: Store) -> None:
    used = remember(store, Draft("Backoff", "Retries of `retry_queue` wait longer each time.")).memory.id
    unused = remember(store, Draft("Queue", "Retries stand in a queue.")).memory.id
    given = recall(store, Query("how long do retries wait"), session="one")
    assert {hit.id for hit in given.hits} == {used, unused}
    mark_used(store, [used], session="one")

    (asked,) = bench(store).of("use")

    assert (asked.text, asked.id, asked.place) == ("how long do retries wait", used, 1)


def test_what_is_not_found_by_its_title_is_weak_with_what_stands_there_instead(store: Store) -> None:
    for number in range(12):
        remember(store, Draft(f"Webhook notes {number}", f"webhook notes {'webhook ' * 5} {number}"))
    lost = remember(store, Draft("Notes", "Nothing of the kind is said in here at all.")).memory.id

    found = bench(store)

    assert lost in [each.id for each in found.weak]
    assert all(each.first != each.id for each in found.weak)


def test_the_sample_is_the_same_each_time(store: Store) -> None:
    for number in range(20):
        remember(store, Draft(f"Thing {number}", f"Text number {number}"))

    assert [q.id for q in bench(store, most=5).asked] == [q.id for q in bench(store, most=5).asked]
    assert len(bench(store, most=5).asked) == 5


def test_an_empty_store_asks_nothing(store: Store) -> None:
    assert bench(store).asked == ()


def test_asking_counts_as_no_use(store: Store) -> None:
    remember(store, Draft("Backoff", "Retries wait longer each time."))
    before = [path.read_bytes() for path in store.ledger.paths()]

    bench(store)

    assert [path.read_bytes() for path in store.ledger.paths()] == before


@pytest.mark.parametrize(("places", "share"), [(1, 0.25), (5, 0.5), (10, 0.75)])
def test_the_measures(places: int, share: float) -> None:
    asked = [Question("title", "q", "id", place) for place in (1, 4, 8, 0)]

    assert share_within(asked, places) == share
    assert mean_reciprocal_rank(asked) == pytest.approx((1 + 1 / 4 + 1 / 8) / 4)
    assert share_within([], 5) == mean_reciprocal_rank([]) == 0.0
