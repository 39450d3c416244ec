"""Markdown as its specification has it: what is code, what is a heading, and what stands below which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core import markdown


def code(text: str) -> list[str]:
    return [line for line, is_code in markdown.lines(text) if is_code]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before\n```\ncode\n```\nafter", ["```", "code", "```"]),
        ("```py\ncode\n```\nafter", ["```py", "code", "```"]),
        ("~~~\n```\n~~~\nafter", ["~~~", "```", "~~~"]),
        ("````\n```\n````\nafter", ["````", "```", "````"]),
        ("```\n```py\n```\nafter", ["```", "```py", "```"]),
        ("```\ncode\n   `````  \nafter", ["```", "code", "   `````  "]),
        ("```\nnever closed\n\nnever", ["```", "never closed", "", "never"]),
        ("    ```\nindented code is no fence", []),
        ("``` in `line` code", []),
        ("``\ntwo are none\n``", []),
    ],
)
def test_code_lasts_from_a_fence_to_one_that_closes_it(text: str, expected: list[str]) -> None:
    assert code(text) == expected


@given(st.text(alphabet="`~ab \n", max_size=60))
def test_no_line_is_lost(text: str) -> None:
    assert "\n".join(line for line, _ in markdown.lines(text)) == text


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("text\n  ## Two ##  \ntext", "Two"),
        ("# C#", "C#"),
        ("#no\n# \n## ##\n####### seven\n###### six", "six"),
        ("~~~\n# code\n~~~\n\nThe title\n===", "The title"),
        ("Below\n---\ntext", "Below"),
        ("```\n# in a fence that nothing closes", ""),
        ("- item\n---\n\na | b\n---\n\none\ntwo\n---\n\n---\n---", ""),
    ],
)
def test_a_heading_is_marked_or_underlined(text: str, heading: str) -> None:
    assert markdown.first_heading(text) == heading


def test_a_section_stands_below_the_headings_above_it() -> None:
    text = "intro\n# A\none\n## B\n\ntwo\n# C"

    assert list(markdown.sections(text)) == [
        ([], "intro"), (["A"], "one"), (["A", "B"], "\ntwo"), (["C"], ""),
    ]  # fmt: skip


def test_paragraphs_stand_between_blank_lines_and_code_is_whole() -> None:
    assert list(markdown.paragraphs("\none\ntwo\n \n```\n\nx\n```\n")) == ["one\ntwo", "```\n\nx\n```"]
