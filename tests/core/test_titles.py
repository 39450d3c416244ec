"""Titles that are made from words, wherever these come from."""

import pytest

from mcp_server.core.text.titles import clipped, split_title, title_of
from tests.growth import grows_evenly


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Title | text", ("Title", "text")),
        ("Title|text | more", ("Title", "text | more")),
        ("Just a sentence. And more.", ("Just a sentence", "Just a sentence. And more.")),
        ("| text", ("text", "text")),
        ("title |", ("title", "title")),
    ],
)
def test_title_and_text_come_in_one_string(words: str, expected: tuple[str, str]) -> None:
    assert split_title(words) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n## Deploys ##\n\nThey run at night.", "Deploys"),
        ("- use pnpm. Not npm.", "use pnpm"),
        ("**Never** force push!", "Never force push!"),
        ("Use a mirror, e.g. of npm. It is near.", "Use a mirror, e.g. of npm"),
        ("---\nrule", "rule"),
        ("->", "->"),
        (" \x00 \n", ""),
        ("word " * 40, "word " * 15 + "word…"),
        ("日本語" * 40, ("日本語" * 40)[:79] + "…"),
    ],
)
def test_a_text_is_called_by_its_first_sentence(text: str, title: str) -> None:
    assert title_of(text) == title


def test_a_cut_falls_between_words_and_is_shown() -> None:
    assert clipped("one two, three", 13) == "one two…"
    assert clipped(" one\n\ttwo\x07 ", 13) == "one two"
    assert len(clipped("x" * 300)) == 200


def test_a_long_text_without_an_end_takes_no_longer_than_its_length() -> None:
    assert grows_evenly(lambda times: "*\n. " * times, title_of)
