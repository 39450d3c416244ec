"""Where two texts part."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.text.text_difference import How, Stretch, compared, folded

ALIKE, GONE, NEW = How
TEXTS = st.lists(st.sampled_from(["deploy", "from", "main", "the", ".", " ", "\n", "é"]), max_size=60).map(
    "".join
)


def test_a_changed_word_is_marked_within_its_line() -> None:
    stretches = compared("We deploy from main.\nAlways.", "We deploy from release.\nAlways.")
    parts = [(ALIKE, "We deploy from "), (GONE, "main"), (NEW, "release"), (ALIKE, ".\nAlways.")]
    assert [(part.how, part.text) for part in stretches] == parts


def test_neighbouring_changed_words_are_one_change() -> None:
    stretches = compared(
        "Ask Ada Lovelace about the billing tests.", "Ask Alan Turing about the billing tests."
    )
    assert [part.text for part in stretches] == [
        "Ask ",
        "Ada Lovelace",
        "Alan Turing",
        " about the billing tests.",
    ]


def test_a_line_that_has_little_in_common_is_gone_and_new_as_a_whole() -> None:
    stretches = compared("one\nDeploy on Monday\nlast", "one\nRestart every server, then wait\nlast")
    assert Stretch(GONE, "Deploy on Monday\n") in stretches
    assert Stretch(NEW, "Restart every server, then wait\n") in stretches


@given(TEXTS, TEXTS)
def test_the_parts_hold_both_texts_whole(before: str, after: str) -> None:
    stretches = compared(before, after)
    assert "".join(part.text for part in stretches if part.how is not NEW) == before
    assert "".join(part.text for part in stretches if part.how is not GONE) == after
    assert all(left.how is not right.how for left, right in pairwise(stretches))
    assert "".join(part.text for part in folded(stretches)) == "".join(part.text for part in stretches)


def test_lines_far_from_a_change_are_folded() -> None:
    lines = [f"line {number}\n" for number in range(20)]
    stretches = folded(compared("".join(lines), "".join([*lines[:10], "new\n", *lines[10:]])))
    assert [(part.how, part.text.count("\n"), part.folded) for part in stretches] == [
        (ALIKE, 7, 7),
        (ALIKE, 3, 0),
        (NEW, 1, 0),
        (ALIKE, 3, 0),
        (ALIKE, 7, 7),
    ]


def test_what_would_take_too_long_is_told_as_a_whole() -> None:
    before, after = ("\n".join(str(number % 400) for number in range(start, 40_000)) for start in (0, 7))
    assert [part.how for part in compared(f"a\n{before}\nb", f"c\n{after}\nd")] == [GONE, NEW]
