"""Each list of short texts has one row; what cannot follow from it is held to the rows."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core import runs
from mcp_server.core.memory import LIST_NAMES, TAGS, USE_WHEN, Beside, Memory, NewBeside


@pytest.mark.parametrize("holder", [Memory, Beside, NewBeside])
def test_a_list_is_a_field_of_a_memory_and_of_what_is_given_with_one(holder: type) -> None:
    assert {*LIST_NAMES} <= {field.name for field in fields(holder)}


@pytest.mark.parametrize("tool", ["remember", "revise"])
def test_a_tool_that_takes_what_a_memory_says_takes_every_list(tool: str) -> None:
    listed = Path(__file__).parents[2] / "mcp_server/doors/server/listed.json"
    tools = json.loads(listed.read_text(encoding="utf-8"))["tools"]["core"]

    (schema,) = (described["inputSchema"] for described in tools if described["name"] == tool)
    assert {*LIST_NAMES} <= {*schema["properties"]}


def test_a_merge_of_memories_may_change_every_list() -> None:
    assert {*LIST_NAMES} <= {*runs.FIELDS}


def test_of_several_lists_tags_come_one_list_after_the_other_and_phrases_in_turn() -> None:
    lists = (("a", "b", "c"), ("b", "d"))

    assert TAGS.joined(lists) == ("a", "b", "c", "d")
    assert USE_WHEN.joined(lists) == ("a", "b", "d", "c")


def test_no_more_come_of_several_lists_than_may_be_given_or_the_longest_has() -> None:
    first, second = ([f"{name} {number}" for number in range(15)] for name in ("add", "drop"))

    assert TAGS.joined((first, second)) == (*first, *second[:5])
    assert USE_WHEN.joined((first[:5], second[:5]))[:4] == ("add 0", "drop 0", "add 1", "drop 1")
    assert len(USE_WHEN.joined((first[:5], second[:5]))) == 8
    assert len(USE_WHEN.joined((first, second))) == 15
    assert TAGS.joined(()) == ()


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ((), ""),
        (("add a table",), "add a table"),
        (("add a table", "deploy"), "add a table, deploy"),
        (("add a table, or two",), "add a table, or two;"),
        (("add a table, or two", "deploy"), "add a table, or two; deploy"),
        (("add a table; or two",), r"add a table\; or two"),
        (("add a table; or two", "deploy"), r"add a table\; or two, deploy"),
        (("add a table; or two", "a, b"), r"add a table\; or two; a, b"),
        ((r"write \; in a shell", "a, b"), r"write \\; in a shell; a, b"),
        (("in C:\\work\\", "a, b"), "in C:\\work\\ ; a, b"),
        (("a, or in C:\\work\\",), "a, or in C:\\work\\ ;"),
    ],
)
def test_what_is_shown_of_phrases_is_the_same_list_when_it_is_given_back(
    texts: tuple[str, ...], shown: str
) -> None:
    assert USE_WHEN.as_text(texts) == shown
    assert USE_WHEN.texts_in(shown) == texts


@given(st.lists(st.text("a,;\\ ").map(str.strip).filter(bool)))
def test_whatever_phrases_hold_the_same_list_is_given_back(texts: list[str]) -> None:
    assert USE_WHEN.texts_in(USE_WHEN.as_text(texts)) == (*texts,)


def test_a_list_and_the_tags_of_a_text_are_parted_by_nothing_else() -> None:
    assert USE_WHEN.texts_in(["add a table; or two", "deploy, now"]) == ("add a table; or two", "deploy, now")
    assert TAGS.texts_in("a;b, c") == ("a;b", "c")
    assert TAGS.as_text(("a;b", "c")) == "a;b, c"
