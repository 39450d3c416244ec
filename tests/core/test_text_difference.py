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
    told = compared("We deploy from main.\nAlways.", "We deploy from release.\nAlways.")
    parts = [(ALIKE, "We deploy from "), (GONE, "main"), (NEW, "release"), (ALIKE, ".\nAlways.")]
    assert [(part.how, part.text) for part in told] == parts


def test_neighbouring_changed_words_are_one_change() -> None:
    told = compared("Ask Ada Lovelace about the billing tests.", "Ask Alan Turing about the billing tests.")
    assert [part.text for part in told] == [
        "Ask ",
        "Ada Lovelace",
        "Alan Turing",
        " about the billing tests.",
    ]


def test_a_line_that_has_little_in_common_is_gone_and_new_as_a_whole() -> None:
    told = compared("one\nDeploy on Monday\nlast", "one\nRestart every server, then wait\nlast")
    assert Stretch(GONE, "Deploy on Monday\n") in told
    assert Stretch(NEW, "Restart every server, then wait\n") in told


@given(TEXTS, TEXTS)
def test_the_parts_hold_both_texts_whole(was: str, now: str) -> None:
    told = compared(was, now)
    assert "".join(part.text for part in told if part.how is not NEW) == was
    assert "".join(part.text for part in told if part.how is not GONE) == now
    assert all(one.how is not other.how for one, other in pairwise(told))
    assert "".join(part.text for part in folded(told)) == "".join(part.text for part in told)


def test_lines_far_from_a_change_are_folded() -> None:
    lines = [f"line {number}\n" for number in range(20)]
    told = folded(compared("".join(lines), "".join([*lines[:10], "new\n", *lines[10:]])))
    assert [(part.how, part.text.count("\n"), part.folded) for part in told] == [
        (ALIKE, 7, 7),
        (ALIKE, 3, 0),
        (NEW, 1, 0),
        (ALIKE, 3, 0),
        (ALIKE, 7, 7),
    ]


def test_what_would_take_too_long_is_told_as_a_whole() -> None:
    was, now = ("\n".join(str(number % 400) for number in range(start, 40_000)) for start in (0, 7))
    assert [part.how for part in compared(f"a\n{was}\nb", f"c\n{now}\nd")] == [GONE, NEW]
