from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind
from mcp_server.core.sessions.passages import (
    PASSAGE_OVERLAP,
    PASSAGE_SIZE,
    passages,
    pieces,
    sections,
    without_head,
)

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def memory(text: str, kind: Kind = Kind.KNOWLEDGE) -> Memory:
    return Memory(id="m", title="Deploying", text=text, created=DAY, updated=DAY, kind=kind)


def test_a_short_memory_is_one_passage_under_its_title() -> None:
    assert passages(memory("Push to main.")) == ["Deploying\nPush to main."]


def test_a_memory_without_text_is_found_by_its_title() -> None:
    assert passages(memory("")) == ["Deploying"]


def test_a_passage_carries_the_headings_above_it() -> None:
    text = "# Server\n\nRestart it.\n\n## Logs\n\nRead them.\n\n# Client\n\nReload."

    assert passages(memory(text)) == [
        "Deploying > Server\nRestart it.",
        "Deploying > Server > Logs\nRead them.",
        "Deploying > Client\nReload.",
    ]


def test_a_passage_of_a_conversation_carries_speaker_and_date() -> None:
    (passage,) = passages(memory("## user · 2026-05-08\n\nShip it.", Kind.CONVERSATION))

    assert "user" in passage
    assert "2026-05-08" in passage


def test_headings_inside_a_code_fence_are_code() -> None:
    text = "```sh\n# not a heading\nls\n```"

    assert list(sections(text)) == [([], text)]


def test_a_code_fence_that_fits_is_not_cut() -> None:
    fence = "```py\n" + "x = 1\n\n" * 40 + "```"

    assert any(fence in piece for piece in pieces("Words. " * 90 + "\n\n" + fence))


@given(st.text("ab \n#`", max_size=4000))
def test_no_passage_is_much_larger_than_asked_and_no_word_is_lost(text: str) -> None:
    parts = pieces(text)

    assert all(len(piece) <= PASSAGE_SIZE + PASSAGE_OVERLAP + 2 for piece in parts)
    if text.strip():
        assert set(text.split()) <= {word for piece in parts for word in piece.split()} | {
            word for word in text.split() if len(word) > PASSAGE_SIZE
        }


def test_the_title_is_left_out_where_a_passage_is_shown_below_it() -> None:
    assert without_head("Deploying\nPush.", "Deploying") == "Push."
    assert without_head("Deploying > Logs\nRead.", "Deploying") == "Logs\nRead."
