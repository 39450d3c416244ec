"""How documents are parted into sections that are fit to be memories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.exchange.seeding import SIZE, Section, parted, sections, type_of
from tests.growth import grows_evenly

README = """\
---
layout: home
---
[![build](https://x.example/b.svg)](https://x.example) ![cov](https://x.example/c.svg)

Shop
====

The shop sells bicycles and their parts.
<!-- a comment that nobody sees -->

## Install

```bash
# this is no heading
make install
```

## Architecture

### Data flow

Orders go through the queue.

## Install

On Windows use the installer.

## Empty

## Port

port: 80
"""


@pytest.mark.feature("B-29")
def test_a_document_becomes_a_section_for_each_heading() -> None:
    assert sections(README, "README.md") == [
        Section("Shop", "[README.md > Shop]", "The shop sells bicycles and their parts.", "note"),
        Section(
            "Shop > Install",
            "[README.md > Shop > Install]",
            "```bash\n# this is no heading\nmake install\n```",
            "reference",
        ),
        Section(
            "Shop > Architecture > Data flow",
            "[README.md > Shop > Architecture > Data flow]",
            "Orders go through the queue.",
            "architecture",
        ),
        Section(
            "Shop > Install #2",
            "[README.md > Shop > Install #2]",
            "On Windows use the installer.",
            "reference",
        ),
        Section("Shop > Port", "[README.md > Shop > Port]", "port: 80", "note"),
    ]


def test_text_without_headings_is_a_section_of_the_document() -> None:
    (only,) = sections("Just a few words about it.\n", "README")

    assert (only.key, only.title) == ("", "[README]")


def test_our_own_block_is_not_taken_back_in() -> None:
    block = "<!-- MEMORY:START -->\n## Decisions\n- ours\n<!-- MEMORY:END -->"
    document = f"# Rules\n\nUse tabs here.\n\n{block}\n\nMore rules."

    assert [section.text for section in sections(document, "CLAUDE.md")] == ["Use tabs here.\n\nMore rules."]


def test_what_stands_in_a_code_block_stays_there() -> None:
    document = "# One\n\n~~~md\n<!-- kept -->\n# Two\n\nTitle\n===\n~~~\n\nEnd of the story."

    (only,) = sections(document, "x.md")

    assert "<!-- kept -->\n# Two\n\nTitle\n===\n~~~" in only.text


@pytest.mark.parametrize(
    ("headings", "type"),
    [
        (["Shop", "Why decisions are written down"], "decision"),
        (["Architecture", "Troubleshooting"], "gotcha"),
        (["Architecture", "Overview"], "architecture"),
        (["Coding conventions"], "pattern"),
        (["Getting started"], "reference"),
        (["Designer clothes"], "note"),
        (["License"], "note"),
        ([], "note"),
    ],
)
def test_the_innermost_telling_heading_says_the_type(headings: list[str], type: str) -> None:
    assert type_of(headings) == type


def test_a_long_section_is_parted_between_paragraphs() -> None:
    paragraphs = [f"Paragraph {number} says something. " * 12 for number in range(10)]

    parts = sections("# Long\n\n" + "\n\n".join(paragraphs), "x.md")

    assert len(parts) > 1
    assert all(len(section.text) <= SIZE for section in parts)
    assert [section.key for section in parts][:2] == ["Long", "Long (2)"]
    assert "\n\n".join(section.text for section in parts).split() == " ".join(paragraphs).split()


def test_lists_and_code_are_never_cut() -> None:
    listed = "\n".join(f"- item {number} with some words behind it" for number in range(80))
    code = "```python\n" + "\n\n".join(f"def f{number}(): ..." for number in range(120)) + "\n```"

    parts = parted(f"Before.\n\n{listed}\n\nBetween.\n\n{code}\n\nBehind.")

    assert sum(listed in part for part in parts) == 1
    assert sum(code in part for part in parts) == 1


def test_a_list_with_blank_lines_and_second_lines_is_one() -> None:
    listed = "- one\n\n  more of one\n\n- two\n"

    assert parted(listed + "\n" + "word " * 400)[0] == listed.strip()


def test_a_paragraph_that_is_too_long_ends_with_sentences() -> None:
    parts = parted("This is a sentence of a very long paragraph. " * 100)

    assert all(len(part) <= SIZE and part.endswith(".") for part in parts)


@given(st.text(alphabet="ab#`~-=<>! \n\t[](1.", max_size=400))
def test_any_text_can_be_parted(text: str) -> None:
    for section in sections(text, "x.md"):
        assert section.text.strip()
        assert section.title.startswith("[x.md")
    keys = [section.key for section in sections(text, "x.md")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("mark", ["<!-- ", "<!-- MEMORY:START -->\n"])
def test_a_document_of_marks_that_nothing_closes_takes_no_longer_than_its_length(mark: str) -> None:
    def document(times: int) -> str:
        return f"# Traps\n\n{mark * times}\n\nThe cookie is dropped on redirects.\n"

    assert "The cookie is dropped" in sections(document(2), "README.md")[-1].text
    assert grows_evenly(document, lambda text: sections(text, "README.md"))
