"""Two texts that were made of one are joined; where both changed the same words, both results are kept."""

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.remote.text_merge import Joined, join_texts


def joined(base: str, first: str, second: str) -> str:
    """Return the only result of joining."""
    result = join_texts(base, first, second)
    assert not result.clash, result
    return result.first


def test_changes_of_other_lines_are_both_there() -> None:
    assert joined("a\nb\nc", "A\nb\nc", "a\nb\nC") == "A\nb\nC"


def test_changes_of_other_words_of_one_line_are_both_there() -> None:
    base = "The port is 80 and the host is alpha."

    now = joined(base, "The port is 90 and the host is alpha.", "The port is 80 and the host is beta.")

    assert now == "The port is 90 and the host is beta."


def test_lines_that_both_add_in_one_place_are_both_there_once() -> None:
    assert joined("a\nz", "a\nb\nc\nz", "a\nc\nd\nz") == "a\nb\nc\nd\nz"


def test_what_one_deletes_and_the_other_leaves_alone_is_gone() -> None:
    assert joined("a\nb\nc\nd", "a\nc\nd", "a\nb\nc\nD") == "a\nc\nD"


def test_the_same_words_changed_twice_give_two_texts() -> None:
    base = "Before.\nThe port is 80 now.\nAfter."

    both_texts = join_texts(
        base, "Before!\nThe port is 90 now.\nAfter.", "Before.\nThe port is 70 now.\nAfter!"
    )

    assert both_texts == Joined(
        "Before!\nThe port is 90 now.\nAfter!", "Before!\nThe port is 70 now.\nAfter!"
    )


def test_a_line_that_one_deletes_and_the_other_changes_stays_in_one_of_two() -> None:
    assert join_texts("a\nb\nc", "a\nc", "a\nB\nc") == Joined("a\nc", "a\nB\nc")


def test_words_put_into_the_same_place_of_a_line_give_two_texts() -> None:
    assert join_texts("port 80", "port 80 web", "port 80 api").clash


def test_texts_without_a_common_past_are_kept_both() -> None:
    assert join_texts("", "one", "other") == Joined("one", "other")


TEXT = st.lists(st.sampled_from("a b c d e f 1 2 3".split()), max_size=8).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "\n", "\n\n"]), min_size=len(words), max_size=len(words)
    ).map(lambda gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=True)).strip())
)


@given(TEXT, TEXT, TEXT)
def test_no_new_word_is_lost_and_no_word_comes_from_nowhere(base: str, first: str, second: str) -> None:
    both_texts = join_texts(base, first, second)

    words_kept = {*both_texts.first.split(), *both_texts.second.split()}
    assert {*first.split(), *second.split()} - {*base.split()} <= words_kept
    assert words_kept <= {*first.split(), *second.split()} | {*base.split()}


@given(TEXT, TEXT)
def test_a_change_on_one_side_alone_is_taken_as_it_is(base: str, changed: str) -> None:
    assert join_texts(base, changed, base) == join_texts(base, base, changed) == Joined(changed, changed)


@given(TEXT, TEXT)
def test_the_same_change_on_both_sides_is_made_once(base: str, changed: str) -> None:
    assert join_texts(base, changed, changed) == Joined(changed, changed)
