import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.errors import Rejected
from mcp_server.core.sessions.conversation import (
    Turn,
    parse_turns,
    render_turns,
    turns_of,
    turns_said,
    without_said,
)
from mcp_server.core.sessions.transcript import Speaker, Utterance

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
def test_every_conversation_comes_back_as_it_was(conversation: list[Turn]) -> None:
    assert parse_turns(render_turns(conversation)) == conversation


def test_words_before_the_first_heading_belong_to_nobody() -> None:
    assert parse_turns("hello\n\n## user\n\nhi") == [Turn("", "hello"), Turn("user", "hi")]


def test_messages_are_taken_with_role_content_and_time() -> None:
    messages = [{"role": "user", "content": "hi", "timestamp": "10:00"}, "and more"]

    assert turns_of(messages) == [Turn("user", "hi", "10:00"), Turn("user", "and more")]


@pytest.mark.parametrize("messages", [[], [{"role": "user"}], [3], [{"content": 5}], [{"content": " "}]])
def test_messages_without_words_are_refused(messages: list[object]) -> None:
    with pytest.raises(Rejected):
        turns_of(messages)


def spoken(speaker: Speaker, words: str, second: int) -> Utterance:
    return Utterance(
        speaker, words, f"2026-11-20T09:12:{second:02}Z", start=second, end=second + 1, key=words
    )


SPOKEN = [
    spoken(Speaker.CLAUDE, "I look at the tests.", 1),
    spoken(Speaker.TOOL, "[Bash]: make test", 2),
    spoken(Speaker.CLAUDE, "They pass.", 3),
    spoken(Speaker.USER, "yes", 4),
    spoken(Speaker.CLAUDE, "Then yes, I commit.", 5),
    spoken(Speaker.TOOL, "[Bash]: make test", 6),
    spoken(Speaker.USER, "yes", 7),
]


def shows_what_was_written(recorded: int, written: int) -> bool:
    """Tell whether a turn as late as the first that is not recorded begins among those *written*."""
    begun = [n for n in range(written) if n == 0 or SPOKEN[n].speaker is Speaker.USER]
    begun += [n for n in range(1, written) if SPOKEN[n - 1].speaker is Speaker.USER]
    return written <= recorded or max(begun) >= recorded


@pytest.mark.parametrize(
    ("recorded", "written"),
    [
        (recorded, written)
        for recorded in range(len(SPOKEN) + 1)
        for written in range(len(SPOKEN) + 1)
        if shows_what_was_written(recorded, written)
    ],
)
def test_what_a_killed_process_wrote_is_not_written_again(recorded: int, written: int) -> None:
    """Pieces end elsewhere when a transcript is read anew, also within a turn of Claude's."""
    conversation = turns_said(SPOKEN[:written], subagent=False)

    fresh = without_said(SPOKEN[recorded:], conversation)

    assert fresh == SPOKEN[max(recorded, written) :]


def test_a_command_that_runs_again_in_the_next_piece_is_kept_again() -> None:
    again = [spoken(Speaker.TOOL, "[Bash]: make test", 8), spoken(Speaker.USER, "yes", 9)]

    assert without_said(again, turns_said(SPOKEN, subagent=False)) == again
