"""What stands in brackets behind the words that a person types."""

import pytest

from mcp_server.core.text.bracketed import bracketed

NAMES = ("tags", "type", "use_when")


@pytest.mark.parametrize(
    ("typed", "words", "values"),
    [
        ("Title | text", "Title | text", {}),
        ("Title | text [tags: a, b]", "Title | text", {"tags": "a, b"}),
        ("text [Type: gotcha][TAGS : a]  ", "text", {"type": "gotcha", "tags": "a"}),
        ("text [tags: a] [type: note] [tags: b, c]", "text", {"tags": "a, b, c", "type": "note"}),
        ("text [tags: a] goes on", "text [tags: a] goes on", {}),
        ("text [see: the docs]", "text [see: the docs]", {}),
        ("text [tags: a] [see: b]", "text [tags: a] [see: b]", {}),
        ("text [tags]", "text [tags]", {}),
        ("text [use_when: a] [use-when: b] [Use  When: c]", "text", {"use_when": "a, b, c"}),
        ("[tags: a]", "", {"tags": "a"}),
        ("", "", {}),
    ],
)
def test_the_end_says_it_and_nothing_else_does(typed: str, words: str, values: dict[str, str]) -> None:
    assert bracketed(typed, NAMES) == (words, values)


def test_a_long_line_of_brackets_takes_no_long_time() -> None:
    assert bracketed("[" * 100_000 + " " * 100_000 + "x", NAMES)[1] == {}
