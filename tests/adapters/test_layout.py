"""Which nodes are one group, and how a group lies."""

import math

import pytest

from mcp_server.adapters.layout import MOST_SPRUNG, groups, spread

CLIQUES = [
    *((f"a{one}", f"a{two}") for one in range(5) for two in range(one)),
    *((f"b{one}", f"b{two}") for one in range(5) for two in range(one)),
    ("a0", "b0"),
]
NAMES = [f"{letter}{at}" for letter in "ab" for at in range(5)]


def test_what_is_linked_closely_is_one_group() -> None:
    assert groups(NAMES, CLIQUES) == [NAMES[:5], NAMES[5:]]


def test_what_is_not_linked_is_never_one_group() -> None:
    assert groups(["d", "c", "b", "a"], [("a", "c")]) == [["a", "c"], ["b"], ["d"]]


def test_the_order_in_which_names_and_links_come_is_nothing() -> None:
    again = [(end, start) for start, end in reversed(CLIQUES)]

    assert groups(reversed(NAMES), again) == groups(NAMES, CLIQUES)
    assert spread(NAMES[::-1], again) == spread(NAMES, CLIQUES)


@pytest.mark.parametrize("count", [1, 2, 5, 30, MOST_SPRUNG + 1, 700])
def test_every_name_gets_a_place_of_its_own(count: int) -> None:
    names = [f"n{at}" for at in range(count)]

    places = spread(names, [("n0", name) for name in names[1:]])

    assert set(places) == set(names)
    assert len({(round(x, 6), round(y, 6)) for x, y in places.values()}) == count


def test_what_is_linked_lies_nearer_than_what_is_not() -> None:
    ring = [(f"n{at}", f"n{(at + 1) % 12}") for at in range(12)]

    places = spread([f"n{at}" for at in range(12)], ring)

    assert math.dist(places["n0"], places["n1"]) < math.dist(places["n0"], places["n6"])
