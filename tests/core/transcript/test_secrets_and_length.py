"""A turn of any length is masked and cut, and read in one pass."""

import tracemalloc

import pytest

from mcp_server.core.context.brief import FRAME
from mcp_server.core.sessions.transcript import LONGEST_TURN, Condenser
from tests.core.transcript.lines import KEY, as_bytes, call, claude, ranges, user, words
from tests.growth import grows_evenly


@pytest.mark.parametrize("length", [0, 3000, 500_000, 3_000_000])
def test_a_secret_is_masked_wherever_it_stands_in_a_turn(length: int) -> None:
    filler = "wide words and more " * (length // 20)
    turns = [f"{KEY} {filler}", f"{filler} {KEY}", f"{filler} {KEY} {filler}", f"{KEY[:9]}\u200b{KEY[9:]}"]

    for masked in words(*map(user, turns), claude(*turns), claude(call("Bash", command=f"aws {turns[0]}"))):
        assert KEY not in masked
        assert KEY[9:] not in masked
        assert len(masked) <= LONGEST_TURN


def test_a_key_that_a_window_would_cut_leaves_nothing() -> None:
    block = "\n".join(["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 700])
    for room in range(0, 400_000, 20_000):
        turn = "a word " * (room // 7) + block + "\n-----END PRIVATE KEY-----\n" + "b word " * 60_000
        (masked,) = words(user(turn))
        assert "MIIEvQ" not in masked


def test_a_secret_that_a_window_cuts_is_not_shown_in_part() -> None:
    window = 192 * 1024
    for cut in range(5, 16):
        (first,) = words(user(" " * (window - cut) + KEY + " b word" * 70_000))
        (last,) = words(user("b word " * 70_000 + KEY + " " * (window - cut)))

        assert not any(KEY[at : at + 5] in first + last for at in range(len(KEY) - 4))


def test_a_long_turn_keeps_its_ends_and_says_what_is_missing() -> None:
    turn = "START " + "middle " * 1000 + "END"

    (shortened,) = words(user(turn))

    assert shortened.startswith("START middle")
    assert shortened.endswith("middle END")
    assert len(shortened) <= LONGEST_TURN
    head, _, rest = shortened.partition(" … [")
    number, _, tail = rest.partition(" characters left out] … ")
    assert len(head) + int(number.replace(",", "")) + len(tail) == len(turn)


def test_a_mask_is_not_cut_in_two() -> None:
    for shift in range(40):
        (shortened,) = words(user("x" * (1940 + shift) + f" {KEY} " + "y " * 3000))
        assert shortened.count("[secret removed") == shortened.count("[secret removed: an AWS")
        (shortened,) = words(user("y " * 3000 + f"{KEY} " + "x" * (1940 + shift)))
        assert shortened.count(" removed: an AWS") == shortened.count("[secret removed: an AWS")
        assert "access key]" not in shortened or "[secret removed" in shortened
        (line,) = words(claude(call("Bash", command="x" * (160 + shift) + f" {KEY} y")))
        assert "[secret" not in line or "]" in line.removeprefix("[Bash]")


@pytest.mark.parametrize(
    "unit",
    ["<private>", "</private>", "<", "< ", "<system-reminder>", "<!-- MEMORY:START -->", "\n> ", "#skip-",
     "#remember-", "\u200b", "é", f"{FRAME}\n", "[secret removed: "],
)  # fmt: skip
def test_a_turn_that_repeats_itself_takes_no_longer_than_its_length(unit: str) -> None:
    def turns(times: int) -> list[dict[str, object]]:
        return [user(unit * times), claude(call("Bash", command=unit * times))]

    assert grows_evenly(turns, lambda lines: words(*lines), amount=4096)


def test_a_tool_result_or_an_attachment_of_any_size_is_passed_over_without_being_parsed() -> None:
    lines = ranges(as_bytes({"type": "attachment", "role": "user", "rendered": [{}] * 1_000_000}))
    tracemalloc.start()
    try:
        assert list(Condenser().read(lines)) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1_000_000  # bytes; a million objects have 64 times as many


def test_a_large_image_does_not_hide_the_words_beside_it() -> None:
    large = {"type": "image", "source": {"data": "A" * 5_000_000}}

    assert words(user([large, {"type": "text", "text": "it is red"}])) == ["it is red"]
    assert words(user("no person types this " * 250_000), user("after")) == ["after"]
