import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.errors import Rejected
from mcp_server.core.sessions.conversation import Turn, parse_turns, render_turns, turns_of

line = st.one_of(
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=20),
    st.sampled_from(
        ["---", "## user", "## user · 2026", "\\## user", "*…*", "# Title", "```", "", "\\\\## a"]
    ),
)
words = st.lists(line, min_size=1, max_size=6).map("\n".join).map(lambda text: text.strip("\n"))
speaker = st.sampled_from(["user", "assistant", "Caroline", "tool"])
turns = st.lists(st.builds(Turn, speaker, words, st.sampled_from(["", "2026-11-20T09:12:03Z"])), max_size=6)


@pytest.mark.feature("D-13")
@given(turns)
def test_every_conversation_comes_back_as_it_was(said: list[Turn]) -> None:
    assert parse_turns(render_turns(said)) == said


def test_words_before_the_first_heading_belong_to_nobody() -> None:
    assert parse_turns("hello\n\n## user\n\nhi") == [Turn("", "hello"), Turn("user", "hi")]


def test_messages_are_taken_with_role_content_and_time() -> None:
    messages = [{"role": "user", "content": "hi", "timestamp": "10:00"}, "and more"]

    assert turns_of(messages) == [Turn("user", "hi", "10:00"), Turn("user", "and more")]


@pytest.mark.parametrize("messages", [[], [{"role": "user"}], [3], [{"content": 5}], [{"content": " "}]])
def test_messages_without_words_are_refused(messages: list[object]) -> None:
    with pytest.raises(Rejected):
        turns_of(messages)
