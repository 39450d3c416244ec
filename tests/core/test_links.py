"""Links in a text: which are found, what is code, and how long that may take."""

import time

import pytest

from mcp_server.core.links import outside_code, wiki_links


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See [[one]] and `[[two]]`.", ["one"]),
        ("[[one]]\n```\n[[two]]\n```\n[[three]]", ["one", "three"]),
        ("````\n[[one]]\n```\n[[two]]\n````\n[[three]]", ["three"]),
        ("~~~\n[[one]]\n```\n~~~ \n[[two]]", ["two"]),
        ("```\n[[one]] in a fence that nothing closes", ["one"]),
        ("    ```\n[[one]]\n    ```", ["one"]),
    ],
)
def test_links_in_code_are_none(text: str, found: list[str]) -> None:
    assert wiki_links(text) == found


@pytest.mark.parametrize("text", ["`" * 65_536, "```\n" * 16_383, "```a\n" * 13_000, "`a\n" * 20_000])
def test_a_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    begun = time.process_time()

    outside_code(text)

    assert time.process_time() - begun < 2  # by the square of its length it took twenty seconds
