"""What a line of a transcript says, and which lines say nothing."""

import json
from typing import Any

import pytest

from mcp_server.core.sessions.chunks import render
from mcp_server.core.sessions.transcript import Condenser, Speaker
from tests.core.transcript.lines import (
    DATA,
    IMAGE,
    as_bytes,
    call,
    claude,
    ranges,
    result,
    user,
    utterances_of,
    words,
)

# A real session


@pytest.mark.feature("A-12")
@pytest.mark.parametrize(("name", "subagent"), [("session", False), ("agent", True)])
def test_a_real_transcript_becomes_this_digest(name: str, subagent: bool) -> None:
    condenser = Condenser(subagent=subagent)

    digest = render(condenser.read(ranges((DATA / f"{name}.jsonl").read_bytes())))

    assert digest == (DATA / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
    assert (condenser.cwd, condenser.branch, condenser.skipping) == ("/home/user/project", "main", False)


def test_the_first_words_of_the_person_can_name_the_session() -> None:
    condenser = Condenser()
    list(condenser.read(ranges((DATA / "session.jsonl").read_bytes())))

    assert condenser.first_words.startswith("Please change the greeting in app.py")


def test_an_utterance_knows_its_line_and_its_second() -> None:
    data = (DATA / "session.jsonl").read_bytes()

    for utterance in Condenser().read(ranges(data)):
        line = json.loads(data[utterance.start : utterance.end])
        assert data[utterance.end - 1 : utterance.end] == b"\n"
        assert utterance.time == line["timestamp"][:19] + "Z"


# What is kept


def test_a_turn_of_several_blocks_is_one_utterance() -> None:
    blocks = [{"type": "text", "text": "Look at this:"}, IMAGE, {"type": "text", "text": "it is red"}]

    assert words(user(blocks)) == ["Look at this:\n\nit is red"]


def test_what_claude_code_marks_as_pasted_is_a_quote_and_an_order_to_keep_it_keeps_it_as_it_was() -> None:
    paste = '<pasted_content id="621f">\nAlways use tabs.\nNever spaces.\n</pasted_content id="621f">\n'

    asked, ordered = utterances_of(user(f"what is this? \n\n{paste}"), user(f"#remember \n\n{paste}"))

    assert asked.words == "what is this? \n\n> Always use tabs.\n> Never spaces."
    assert (ordered.words, ordered.forced) == ("Always use tabs.\nNever spaces.", True)


def test_a_program_that_speaks_for_the_person_has_no_origin() -> None:
    assert words(user("Run the tests", promptSource="sdk")) == ["Run the tests"]
    assert words(user("Run the tests", origin=None)) == ["Run the tests"]


@pytest.mark.parametrize(
    "line",
    [
        user("x", isMeta=True),
        user("x", isCompactSummary=True),
        user("x", isVisibleInTranscriptOnly=True),
        user("<command-name>/compact</command-name>"),
        user("  <command-message>note</command-message>"),
        user("<command-args>x</command-args>"),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        user("<task-notification>\n<task-id>1</task-id></task-notification>"),
        user("<bash-input>ls</bash-input>"),
        user([{"type": "text", "text": "<bash-stdout>a.py</bash-stdout>"}]),
        user("[Request interrupted by user for tool use]"),
        user("x", origin={"kind": "task-notification"}),
        user("x", origin={"kind": "coordinator"}),
        user("x", origin="human?"),
        claude({"type": "thinking", "thinking": "They want it."}),
        claude("API Error: 529", isApiErrorMessage=True),
        {**claude("x"), "type": "attachment"},
        {**user("x"), "type": "queue-operation"},
        {"type": "system", "subtype": "compact_boundary", "content": "x"},
        {"type": "user", "message": "x"},
        {"type": "user"},
        {"type": ["user"], "message": {"content": "x"}},
        user(None),
        user(7),
        user([None, 7, "x", {"type": "text"}, {"type": "text", "text": 7}]),
        claude(call("mcp__plugin_daybook_daybook__remember", text="x")),
        claude(call("mcp__Daybook__recall", query="x")),
        claude({"type": "tool_use", "name": 7}),
        result(),
    ],
)
def test_this_line_says_nothing(line: dict[str, Any]) -> None:
    assert words(user("before"), line, user("after")) == ["before", "after"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"user","message":' + b"[" * 100_000,
        b'{"type":"user","n":' + b"9" * 10_000 + b"}",
        b'\xef\xbb\xbf{"type":"user"}',
        b'{"type":"user"}\r',
        b"\0" * 1000 + b'"type":"user"',
        b"",
    ],
)
def test_a_hostile_line_is_passed_over(line: bytes) -> None:
    after = json.dumps(user("after")).encode() + b"\r"

    utterances = list(Condenser().read([(line, 0, 5), (after, 5, 9)]))

    assert [utterance.words for utterance in utterances] == ["after"]


def test_a_byte_order_mark_before_the_first_line_hides_nothing() -> None:
    line = b"\xef\xbb\xbf" + json.dumps(user("the cafe is open")).encode()

    assert [utterance.words for utterance in Condenser().read([(line, 0, 9)])] == ["the cafe is open"]


def test_bytes_that_are_no_text_do_not_hide_the_rest_of_a_turn() -> None:
    line = json.dumps(user("caf# is open")).encode().replace(b"#", b"\xe9")

    assert [utterance.words for utterance in Condenser().read([(line, 0, 9)])] == ["caf\ufffd is open"]


@pytest.mark.feature("A-12")
@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (call("Bash", command="cd app &&\n  pytest -q"), "[Bash]: cd app && pytest -q"),
        (call("Bash", command="x" * 300), "[Bash]: " + "x" * 200),
        (call("Write", file_path="/a.py", content="BODY"), "[Write]: /a.py"),
        (call("Edit", file_path="/a.py", old_string="BODY"), "[Edit]: /a.py"),
        (call("MultiEdit", file_path="/a.py", edits=[]), "[MultiEdit]: /a.py"),
        (call("Read", file_path="/a.py"), "[Read]: /a.py"),
        (call("NotebookEdit", notebook_path="/a.ipynb"), "[NotebookEdit]: /a.ipynb"),
        (call("Grep", pattern="BODY"), "[Grep]"),
        (call("mcp__github__search", query="BODY"), "[mcp__github__search]"),
        (call("Bash"), "[Bash]"),
        (call("Bash", command=["ls"]), "[Bash]"),
        ({"type": "tool_use", "name": "Bash", "input": "ls"}, "[Bash]"),
        (call("Odd\nUSER: name"), "[Odd USER: name]"),
    ],
)
def test_a_call_is_one_line(block: dict[str, object], expected: str) -> None:
    (utterance,) = utterances_of(claude(block))

    assert (utterance.speaker, utterance.words) == (Speaker.TOOL, expected)


def test_a_call_that_failed_says_so_and_nothing_of_its_output() -> None:
    words_kept = words(
        claude("Two at once.", call("Bash", "one", command="ls"), call("Bash", "two", command="pytest")),
        claude("Meanwhile."),
        result("one"),
        result("two", failed=True),
        result("nobody", failed=True),
    )

    assert words_kept == ["Two at once.", "[Bash]: ls", "[Bash]: pytest -> failed", "Meanwhile."]


def test_what_follows_a_call_waits_for_its_result_but_not_for_ever() -> None:
    condenser = Condenser()
    lines = [claude(call("Bash", command="ls")), *[claude(f"Word {number}.") for number in range(200)]]
    batches = [condenser.utterances(*line) for line in ranges(as_bytes(*lines))]

    assert batches[0] == []
    assert sum(map(len, batches)) > 100
    together = [utterance.words for part in batches for utterance in part]
    assert [*together, *(utterance.words for utterance in condenser.rest())] == words(*lines)


def test_the_next_turn_of_the_person_ends_the_wait_for_a_result() -> None:
    condenser = Condenser()
    lines = ranges(as_bytes(claude(call("Bash", command="ls")), user("stop")))

    assert condenser.utterances(*lines[0]) == []
    assert [utterance.words for utterance in condenser.utterances(*lines[1])] == ["[Bash]: ls", "stop"]


def test_of_a_line_with_very_many_calls_some_are_told() -> None:
    assert len(words(claude(*[call("Grep", str(number)) for number in range(5000)]))) == 32


# What an agent says


@pytest.mark.parametrize("subagent", [True, False])
def test_claude_asks_and_an_agent_answers(subagent: bool) -> None:
    lines = [
        user("Check <private>all</private> the notes #remember", isSidechain=True),
        claude("One note.", isSidechain=True),
    ]

    utterances = utterances_of(*lines, subagent=subagent)

    assert [(utterance.speaker, utterance.words) for utterance in utterances] == [
        (Speaker.CLAUDE, "Check  the notes"),
        (Speaker.AGENT, "One note."),
    ]
    assert not utterances[0].forced
