"""A transcript reads alike at once and in parts, and a copy of it like the original."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.core.context.brief import FRAME
from mcp_server.core.sessions.transcript import FAILED, LONGEST_TURN, Condenser, Utterance
from tests.core.transcript.lines import (
    DATA,
    IMAGE,
    KEY,
    TIME,
    as_bytes,
    call,
    claude,
    ranges,
    result,
    user,
    utterances_of,
)

# Copies, and reading in parts


def test_a_copy_in_a_fork_has_the_same_keys() -> None:
    lines = [json.loads(line) for line in (DATA / "session.jsonl").read_bytes().splitlines()]
    original = utterances_of(*lines)

    fork = utterances_of(
        {"type": "mode", "mode": "plan", "sessionId": "fork"},
        *[{**line, "sessionId": "fork", "uuid": "other", "forkedFrom": {"sessionId": "x"}} for line in lines],
    )

    assert [utterance.key for utterance in fork] == [utterance.key for utterance in original]
    assert [utterance.start for utterance in fork] != [utterance.start for utterance in original]
    assert len({utterance.key for utterance in original}) == len(original)


def test_a_key_is_of_the_time_the_speaker_and_the_words() -> None:
    utterances = utterances_of(
        user("yes, do"), claude("yes, do"), user("yes, do", timestamp="2026-11-20T15:29:00Z")
    )

    assert len({utterance.key for utterance in utterances}) == 3
    failed, whole = (
        utterances_of(claude(call("Bash", command="ls")), result(failed=failed))[0]
        for failed in (True, False)
    )
    assert (failed.words, failed.key) == (whole.words + FAILED, whole.key)


MIXED = as_bytes(
    user("one"),
    claude("Answer.", call("Bash", "a", command="ls"), call("Bash", "b", command="pytest")),
    result("a"),
    result("b", failed=True),
    user("secret plan #skip"),
    claude("Hidden."),
    user("agent, go", isSidechain=True),
    user([IMAGE]),
    claude("Shown."),
    user("two <private>x</private>"),
    user("three #skip"),
    claude("Hidden too.", call("Bash", "c", command="ls")),
    result("c", failed=True),
)


def unmarked(utterances: list[Utterance]) -> list[tuple[object, ...]]:
    return [
        (
            utterance.key,
            utterance.start,
            utterance.end,
            utterance.forced,
            utterance.words.removesuffix(FAILED),
        )
        for utterance in utterances
    ]


@pytest.mark.parametrize("data", [MIXED, (DATA / "session.jsonl").read_bytes()], ids=["mixed", "session"])
def test_reading_in_two_parts_tells_what_one_reading_tells(data: bytes) -> None:
    whole = list(Condenser().read(ranges(data)))
    assert len(whole) > 5

    for _, start, _ in ranges(data)[1:]:
        first = Condenser()
        joined = list(first.read(ranges(data[:start])))
        joined += Condenser(skipping=first.skipping).read(ranges(data, start))
        assert unmarked(joined) == unmarked(whole)


def test_reading_goes_on_behind_any_utterance_it_gave() -> None:
    whole = list(Condenser().read(ranges(MIXED)))

    for utterance in whole:
        before = [earlier for earlier in whole if earlier.end <= utterance.end]
        again = list(Condenser().read(ranges(MIXED, utterance.end)))
        assert unmarked(before + again) == unmarked(whole)


# Anything


scalar = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
tagged = st.lists(
    st.sampled_from(
        ["<private>", "</private>", "#skip", "#remember", "<system-reminder>", "</system-reminder>", FRAME,
         "\n", "\n\n", " ", "\ud800", "\0", "word", "é", "<!-- MEMORY:START -->", "<!-- MEMORY:END -->",
         f" {KEY} "]  # glued to a word it is another word, not a key
    ),
    max_size=8,
).map("".join)  # fmt: skip
block = anything | st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]) | anything},
    optional={
        "text": tagged | anything,
        "id": st.sampled_from(["a", "b"]) | anything,
        "tool_use_id": st.sampled_from(["a", "b"]) | anything,
        "is_error": st.booleans() | anything,
        "name": st.sampled_from(["Bash", "Edit", "mcp__daybook__x"]) | anything,
        "input": st.fixed_dictionaries({}, optional={"command": tagged | anything}) | anything,
    },
)
entry = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant"]) | anything,
        "message": st.fixed_dictionaries({"content": tagged | st.lists(block, max_size=4) | anything})
        | anything,
    },
    optional={
        "timestamp": st.sampled_from([TIME, "0001-01-01T00:00:00+23:59", "2026-02-30"]) | anything,
        "cwd": anything,
        "gitBranch": anything,
        "origin": st.sampled_from([{"kind": "human"}, {"kind": "x"}]) | anything,
        "isMeta": anything,
        "isSidechain": st.booleans() | anything,
    },
)
whatever = (
    entry.map(lambda line: json.dumps(line).encode())
    | anything.map(lambda line: json.dumps(line).encode())
    | st.binary(max_size=40)
    | st.binary(max_size=20).map(lambda data: b'{"type":"user","message":' + data)
    | st.binary(max_size=20).map(lambda data: json.dumps(user("PLACE")).encode().replace(b"PLACE", data))
).map(lambda line: line.replace(b"\n", b" "))


@settings(max_examples=300)
@given(st.lists(whatever, max_size=6), st.booleans(), st.integers(0, 6))
def test_any_lines_are_read_alike_at_once_and_in_parts(
    lines: list[bytes], subagent: bool, parted: int
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    line_ranges = ranges(data)

    whole = Condenser(subagent=subagent)
    utterances = list(whole.read(line_ranges))
    first = Condenser(subagent=subagent)
    parts = list(first.read(line_ranges[:parted]))
    second = Condenser(subagent=subagent, skipping=first.skipping)
    parts += second.read(line_ranges[parted:])

    assert unmarked(parts) == unmarked(utterances)
    assert second.skipping == whole.skipping
    for utterance in utterances:
        assert utterance.words.strip() == utterance.words != ""
        assert len(utterance.words) <= LONGEST_TURN + len(FAILED)
        assert KEY not in utterance.words
        utterance.words.encode()
        (whole.cwd + whole.branch + whole.first_words).encode()
