"""Which links are chosen, and what is one line of a picture."""

import pytest

from mcp_server.core.errors import Rejected
from mcp_server.core.graph.network import (
    Choice,
    Line,
    LineSort,
    Network,
    NetworkLink,
    chosen,
    largest,
    named,
    relations_of,
    united,
)
from mcp_server.core.memory_parts import Level
from tests.core.networks import made_up, network, node

CHAIN = network([("a", "uses", "b"), ("b", "uses", "c"), ("c", "explains", "d"), ("d", "uses", "e")])


def ids_shown(choice: Choice, of: Network = CHAIN) -> str:
    return "".join(drawn_node.id for drawn_node in chosen(of, choice).nodes)


def test_links_between_two_memories_are_one_line_with_all_labels() -> None:
    lines = united(network([("a", "uses", "b"), ("b", "refines", "a"), ("a", "explains", "b")]).links)

    assert lines == [Line("v/a", "v/b", ("uses", "explains"), ("refines",))]


@pytest.mark.parametrize(
    ("labels", "sort"),
    [
        (["supersedes"], LineSort.SUCCESSION),
        (["supersedes", "uses"], LineSort.OTHER),
        (["uses", "contradicts"], LineSort.CONTRADICTION),
    ],
)
def test_a_line_tells_a_contradiction_and_a_succession(labels: list[str], sort: LineSort) -> None:
    (line,) = united(NetworkLink("v/a", label, "v/b") for label in labels)

    assert line.sort is sort


def test_links_are_chosen_by_their_label() -> None:
    assert ids_shown(Choice(relation="explains")) == "cd"
    assert ids_shown(Choice(relation="none")) == ""


def test_links_are_chosen_by_the_type_and_the_level_of_either_end() -> None:
    mixed = network(
        [("a", "uses", "b"), ("b", "uses", "c"), ("c", "uses", "d")],
        node("a", type_="decision"), node("d", type_="gotcha", level=Level.USER),
    )  # fmt: skip

    assert ids_shown(Choice(type="decision"), mixed) == "ab"
    assert ids_shown(Choice(level=Level.USER), mixed) == "cd"
    assert ids_shown(Choice(type="decision", level=Level.USER), mixed) == ""


@pytest.mark.parametrize(("steps", "near"), [(1, "ab"), (2, "abc"), (3, "abcd")])
def test_the_surroundings_of_a_memory_reach_that_many_links(steps: int, near: str) -> None:
    assert ids_shown(Choice(around=frozenset({"v/a"}), steps=steps)) == near


def test_a_memory_in_the_middle_is_there_without_links_that_are_chosen() -> None:
    assert ids_shown(Choice(relation="uses", around=frozenset({"v/c"}))) == "bc"
    assert ids_shown(Choice(relation="explains", around=frozenset({"v/a"}))) == "a"


@pytest.mark.parametrize("steps", [0, 4])
def test_other_numbers_of_steps_are_refused(steps: int) -> None:
    with pytest.raises(Rejected):
        Choice(steps=steps)


def test_of_too_many_links_those_between_the_most_linked_stay() -> None:
    star = network(
        [*((f"a{at}", "uses", "hub") for at in range(9)), ("hub", "uses", "b"), ("b", "uses", "c")]
    )

    smaller = largest(star, 1)

    assert [(link.start, link.end) for link in smaller.links] == [("v/hub", "v/b")]
    assert [drawn_node.id for drawn_node in smaller.nodes] == ["b", "hub"]
    assert largest(star, 11) == star
    assert len(largest(made_up(300, 500), 200).links) == 200


def test_a_memory_is_named_by_its_key_its_id_or_its_title() -> None:
    two = network([("b", "uses", "a")], node("a", "Auth flow"), node("b", "a"))

    assert named(two, "v/b") == {"v/b"}
    assert named(two, "a") == {"v/a"}, "an id goes before a title"
    assert named(two, "AUTH flow ") == {"v/a"}
    assert named(two, "c") == frozenset()


def test_labels_are_counted_the_most_frequent_first() -> None:
    assert list(relations_of(CHAIN).items()) == [("uses", 3), ("explains", 1)]
