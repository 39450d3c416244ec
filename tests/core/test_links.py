"""Links in a text: which are found, what is code, and how that work grows."""

import pytest

from mcp_server.core.errors import Rejected
from mcp_server.core.links import check_label, parse_link, wiki_links, with_labels
from mcp_server.core.markdown import outside_code
from mcp_server.core.memory import Link
from tests.growth import grows_evenly


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See [[one]] and `[[two]]`.", ["one"]),
        ("[[one]]\n```\n[[two]]\n```\n[[three]]", ["one", "three"]),
        ("````\n[[one]]\n```\n[[two]]\n````\n[[three]]", ["three"]),
        ("~~~\n[[one]]\n```\n~~~ \n[[two]]", ["two"]),
        ("[[one]]\n```\n[[two]] in a fence that nothing closes", ["one"]),
        ("    ```\n[[one]]\n    ```", ["one"]),
    ],
)
def test_links_in_code_are_none(text: str, targets: list[str]) -> None:
    assert wiki_links(text) == targets


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("[[Carts#TTL]]", "Carts"),
        ("[[Carts#Why 30 days|the carts]]", "Carts"),
        ("[[carts-x1y2#^37066d]]", "carts-x1y2"),
        ("[[carts-x1y2\\|carts]]", "carts-x1y2"),
        ("[[Carts#TTL\\|carts]]", "Carts"),
        ("[[C#]]", "C#"),
        ("[[C# style]]", "C# style"),
        ("[[PR#123 broke it]]", "PR#123 broke it"),
        ("[[#TTL]]", "#TTL"),
    ],
)
def test_a_link_to_a_part_of_a_note_leads_to_the_note(written: str, target: str) -> None:
    assert wiki_links(f"See {written}.") == [target]


@pytest.mark.parametrize("atom", ["`", "```\n", "```a\n", "`a\n", "[[", "[[a", "#a", "[[a#a"])
def test_a_hostile_text_takes_no_longer_than_its_length(atom: str) -> None:
    assert grows_evenly(lambda times: atom * times, outside_code)
    assert grows_evenly(lambda times: f"[[{atom * times}", wiki_links)


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("some-id", Link("relates-to", "some-id")),
        (" Depends on: some-id ", Link("depends-on", "some-id")),
        ("uses: src/a.py:3", Link("uses", "src/a.py:3")),
        ("src/a.py:3", Link("relates-to", "src/a.py:3")),
    ],
)
def test_a_link_is_said_with_its_label_or_alone(words: str, link: Link) -> None:
    assert with_labels([parse_link(words)]) == (link,)


@pytest.mark.parametrize("words", ["", " ", "uses:", "uses: ", "!: some-id"])
def test_a_link_without_a_target_or_with_no_label_is_refused(words: str) -> None:
    with pytest.raises(Rejected):
        parse_link(words)


@pytest.mark.parametrize(
    ("words", "label"),
    [("depends-on", "depends-on"), ("Must load_before", "must-load-before"), ("führt zu", "führt-zu")],
)
def test_a_label_becomes_kebab_case(words: str, label: str) -> None:
    assert check_label(words) == label


@pytest.mark.parametrize("words", ["", "-->", "x" * 61])
def test_what_is_no_label_is_refused(words: str) -> None:
    with pytest.raises(Rejected):
        check_label(words)
