"""What is read without the YAML loader is what the loader would read."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.adapters.frontmatter_lines import MAX_KEYS, StrictFrontmatter
from mcp_server.adapters.plain_frontmatter import plain_fields

SIGNS = "ab1 .-:#,[]{}\"'!&*|>%@?~=+()/\\_$`\tñ"
VALUES = st.one_of(
    st.text(SIGNS, max_size=12),
    st.text("ab1 .-:#,'\"", max_size=12),
    st.text(SIGNS, max_size=12).map('"{}"'.format),
    st.text("ab1 .,-:#?", max_size=12).map("[{}]".format),
    st.lists(st.text("ab1 .,-:#?'\"[", max_size=6), max_size=3).map(
        lambda items: "".join(f"\n  - {item}" for item in items)
    ),
    st.sampled_from(["null", "~", "yes", "12", "2026-11-20T09:12:03Z", "a: b", "a #b", "a b:", "---", "..."]),
)
BLOCKS = st.lists(st.tuples(st.sampled_from(["id", "title", "tags", "a_b", "Id", "a b"]), VALUES), max_size=4)


def by_yaml(block: str) -> object:
    """Return what YAML itself says of *block*, with every scalar as text."""
    return yaml.load(block, Loader=yaml.BaseLoader)


@given(BLOCKS)
def test_it_is_read_as_yaml_reads_it_or_not_at_all(keys: list[tuple[str, str]]) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in keys).replace(": \n", ":\n")
    fields = plain_fields(block, MAX_KEYS)
    if fields:
        assert fields == by_yaml(block)


@pytest.mark.parametrize(
    "block",
    [
        "id: a-b\ntitle: Deploy at 9:30 (it's quick)\ntags: [ci, c++]\ncreated: 2026-11-20T09:12:03Z\n",
        'title: "Read this: it matters"\ntags: []\nnote: ""\n',
        "id: a-b\nuse_when:\n  - add a table\n  - it's at 9:30, quick\nsource: manual\n",
    ],
)
def test_what_daybook_writes_is_read_without_yaml(block: str) -> None:
    fields = plain_fields(block, MAX_KEYS)

    assert fields
    assert fields == by_yaml(block)


@pytest.mark.parametrize(
    "block",
    [
        *("a: b\na: c\n", "a: b\n  c\n", "a: b", "a: [b, [c]]\n", "a: *b\n", "a: b #c\n"),
        *(
            "a:\n  - b: c\n",
            "a:\n  - b #c\n",
            "a:\n  - b\n- c\n",
            "a:\n  - b\n    c\n",
            "a:\n  - 'b'\n",
            "a:\n",
        ),
    ],
)
def test_anything_else_is_left_to_yaml(block: str) -> None:
    assert plain_fields(block, MAX_KEYS) is None


def test_too_many_keys_are_left_to_the_loader_which_says_so() -> None:
    block = "".join(f"k{'x' * number}: v\n" for number in range(MAX_KEYS + 1))

    assert plain_fields(block, MAX_KEYS) is None
    assert len(StrictFrontmatter("a.md").load(block.partition("\n")[2])) == MAX_KEYS
