import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core import fences


def code(text: str) -> list[str]:
    return [line for line, is_code in fences.lines(text) if is_code]


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
    assert "\n".join(line for line, _ in fences.lines(text)) == text
