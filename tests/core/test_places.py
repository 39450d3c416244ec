"""Where the nodes of a picture lie: nothing covers anything, and a new node leaves the others alone."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.actions.graph.picture import draw
from mcp_server.core.graph.captions import ROOM, breadth, caption
from mcp_server.core.graph.network import Network
from mcp_server.core.graph.places import Panel, Picture, apart
from tests.core.networks import made_up, network

Box = tuple[float, float, float, float]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def box(panel: Panel) -> Box:
    return panel.left, panel.top, panel.left + panel.width, panel.top + panel.height


def check_apart(picture: Picture) -> None:
    for one, other in combinations(picture.spots, 2):
        assert not overlap(one.covers, other.covers), (one, other)
    for first, second in combinations(picture.panels, 2):
        assert not overlap(box(first), box(second))
    frame = box(picture.frame)
    for spot in picture.spots:
        left, top, right, bottom = box(picture.panels[spot.group])
        covered = spot.covers
        assert left <= covered[0] and top <= covered[1] and covered[2] <= right and covered[3] <= bottom
        assert frame[0] <= left and frame[1] <= top and right <= frame[2] and bottom <= frame[3]


@pytest.mark.parametrize(
    "drawn",
    [
        made_up(400, 700),
        made_up(60, 700, seed=2, topic=30),
        made_up(300, 160, seed=3, topic=3),
        network([("a", "uses", "b")]),
        network([("hub", "uses", f"leaf{at:03}") for at in range(520)]),
        network([(f"n{at:02}", "uses", f"n{at + 1:02}") for at in range(40)]),
    ],
    ids=["topics", "dense", "islands", "pair", "star", "chain"],
)
def test_no_node_and_no_panel_covers_another(drawn: Network) -> None:
    picture = draw(drawn)

    assert {spot.node for spot in picture.spots} == set(drawn.nodes)
    assert {len(line.forward) + len(line.back) > 0 for line in picture.lines} == {True}
    check_apart(picture)


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.integers(8, 200), st.integers(8, 80)),
        min_size=1,
        max_size=25,
    )
)
def test_boxes_are_pushed_apart_wherever_they_tend_to_lie(
    boxes: list[tuple[float, float, int, int]],
) -> None:
    tends = {str(at): (x, y) for at, (x, y, _, _) in enumerate(boxes)}
    sizes = {str(at): (float(wide), float(high)) for at, (_, _, wide, high) in enumerate(boxes)}

    places = apart(tends, [], sizes)

    for one, other in combinations(places, 2):
        across = abs(places[one][0] - places[other][0]) - (sizes[one][0] + sizes[other][0]) / 2
        down = abs(places[one][1] - places[other][1]) - (sizes[one][1] + sizes[other][1]) / 2
        assert max(across, down) >= 0


def test_the_same_links_give_the_same_picture() -> None:
    drawn = made_up(120, 200)
    other_way = Network(drawn.nodes, tuple(reversed(drawn.links)))

    assert draw(drawn) == draw(drawn)
    assert {spot.node.key: (spot.x, spot.y) for spot in draw(other_way).spots} == {
        spot.node.key: (spot.x, spot.y) for spot in draw(drawn).spots
    }


def test_a_node_more_leaves_most_others_where_they_are() -> None:
    links = [(f"t{topic}n{at}", "uses", f"t{topic}n{at // 2}") for topic in range(12) for at in range(1, 9)]
    before = draw(network(links)).spots

    stayed = 0
    for topic in range(12):
        after = draw(network([*links, (f"t{topic}new", "uses", f"t{topic}n0")])).spots
        places = {spot.node.key: (spot.x, spot.y) for spot in after}
        stayed += sum(places[spot.node.key] == (spot.x, spot.y) for spot in before)
    assert stayed > 0.5 * 12 * len(before), stayed / 12 / len(before)


def test_an_empty_network_has_an_empty_picture() -> None:
    picture = draw(Network())

    assert (picture.spots, picture.lines, picture.panels) == ((), (), ())
    assert picture.frame.width > 0


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=200))
def test_a_caption_has_at_most_two_lines_that_fit(title: str) -> None:
    words = " ".join(title.split())
    lines = caption(words)

    assert len(lines) <= 2
    for line in lines:
        assert breadth(line) <= ROOM + 1.2, line
    letters = "".join(lines).removesuffix("…").replace(" ", "")
    assert words.replace(" ", "").startswith(letters)


def test_a_caption_is_cut_between_words() -> None:
    assert caption("Invoices") == ("Invoices",)
    assert caption("Stripe webhooks need the raw request body") == (
        "Stripe webhooks need", "the raw request body"
    )  # fmt: skip
    assert caption("Feature flags are checked in the middleware, not in handlers")[1].endswith("…")
    assert caption("src/billing/workers/invoices.py") == ("src/billing/workers/", "invoices.py")
