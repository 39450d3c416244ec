"""Each type has one row; what stands elsewhere of types is held to the rows."""

import re
from pathlib import Path

import pytest

from mcp_server.core.context.managed_block import TOPICS
from mcp_server.core.memory_types import ROWS, TYPES

LISTING = ("commands/remember.md", "commands/search-knowledge.md", "docs/file-format.md")


SIX = ("architecture", "decision", "pattern", "gotcha", "progress", "context")


@pytest.mark.feature("A-19")
def test_the_six_types_of_old_and_three_more_are_known() -> None:
    assert sorted(TYPES) == sorted((*SIX, "preference", "reference", "note"))


def test_each_type_has_one_place_in_the_managed_block() -> None:
    assert sorted(name for _, _, types in TOPICS for name in types) == sorted(TYPES)


def test_no_two_types_look_alike() -> None:
    assert len({row.name for row in ROWS}) == len({row.colour for row in ROWS}) == len(ROWS)
    assert len({word for row in ROWS for word in row.others}) == sum(len(row.others) for row in ROWS)


@pytest.mark.parametrize("document", LISTING)
def test_a_document_that_lists_types_lists_them_all(document: str) -> None:
    text = (Path(__file__).parents[2] / document).read_text("utf-8")
    (listed,) = re.findall(r"architecture, decision[\w, ]+", text)

    assert re.findall(r"\w+", listed.replace(" or ", " "))[: len(TYPES)] == [*TYPES]
