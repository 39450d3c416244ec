import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.core.brief import FOOTER, FRAME, PROMPT_FRAME
from mcp_server.core.chunks import render
from mcp_server.core.transcript import FAILED, LONGEST_TURN, Condenser, Speaker, Utterance

DATA = Path(__file__).parent.parent / "data" / "transcripts"
TIME = "2026-11-20T15:28:56.908Z"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
KEY = "AKIAQ3EGRFT5ZK7PLW2N"


def user(content: object, **fields: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, "timestamp": TIME, **fields}


def claude(*blocks: object, **fields: object) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": "msg_1", "role": "assistant", "model": "claude-opus-5-5", "content": content}
    return {"type": "assistant", "message": message, "timestamp": TIME, **fields}


def call(name: str, call_id: str = "toolu_1", **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str = "toolu_1", *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "OUTPUT", "is_error": failed}
    return user([block])


def ranges(data: bytes, start: int = 0) -> list[tuple[bytes, int, int]]:
    given = []
    for line in data[start:].split(b"\n")[:-1]:
        given.append((line, start, start + len(line) + 1))
        start += len(line) + 1
    return given


def as_bytes(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def said(*lines: object, subagent: bool = False, skipping: bool = False) -> list[Utterance]:
    condenser = Condenser(subagent=subagent, skipping=skipping)
    return list(condenser.read(ranges(as_bytes(*lines))))


def words(*lines: object, subagent: bool = False) -> list[str]:
    return [utterance.words for utterance in said(*lines, subagent=subagent)]


# A real session


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
    (utterance,) = said(claude(block))

    assert (utterance.speaker, utterance.words) == (Speaker.TOOL, expected)


def test_a_call_that_failed_says_so_and_nothing_of_its_output() -> None:
    told = words(
        claude("Two at once.", call("Bash", "one", command="ls"), call("Bash", "two", command="pytest")),
        claude("Meanwhile."),
        result("one"),
        result("two", failed=True),
        result("nobody", failed=True),
    )

    assert told == ["Two at once.", "[Bash]: ls", "[Bash]: pytest -> failed", "Meanwhile."]


def test_what_follows_a_call_waits_for_its_result_but_not_for_ever() -> None:
    condenser = Condenser()
    lines = [claude(call("Bash", command="ls")), *[claude(f"Word {number}.") for number in range(200)]]
    given = [condenser.utterances(*line) for line in ranges(as_bytes(*lines))]

    assert given[0] == []
    assert sum(map(len, given)) > 100
    together = [utterance.words for part in given for utterance in part]
    assert [*together, *(one.words for one in condenser.rest())] == words(*lines)


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

    told = said(*lines, subagent=subagent)

    assert [(one.speaker, one.words) for one in told] == [
        (Speaker.CLAUDE, "Check  the notes"),
        (Speaker.AGENT, "One note."),
    ]
    assert not told[0].forced


# What is left out of a turn


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a <private>PIN 1234</private> b", "a  b"),
        ("a <PRIVATE>PIN</Private> b", "a  b"),
        ("a < private >PIN</ private > b", "a  b"),
        ("a <private>PIN", "a"),
        ("a <private>PIN <private>x</private> PIN</private> b", "a  b"),
        ("a </private> b", "a  b"),
        ("a <private>PIN <system-reminder></private> PIN</system-reminder> b", "a  PIN</system-reminder> b"),
        ("a <system-reminder><private></system-reminder> PIN</private> b", "a <system-reminder> b"),
        ("use <privateKey> here", "use <privateKey> here"),
        ("<private>PIN\n\nPIN</private>", None),
    ],
)
def test_private_text_is_never_told(given: str, kept: str | None) -> None:
    expected = [] if kept is None else [kept]

    assert words(user(given)) == expected
    assert words(claude(given)) == expected


def test_private_text_that_is_not_closed_goes_on_to_the_end_of_the_turn_over_its_blocks() -> None:
    blocks = [{"type": "text", "text": "a <private>PIN"}, {"type": "text", "text": "PIN"}]

    assert words(user(blocks), user("b")) == ["a", "b"]


def test_private_text_is_not_in_a_command_either() -> None:
    assert words(claude(call("Bash", command="login <private>PIN</private> now"))) == ["[Bash]: login now"]


BRIEF = f"{FRAME}\nGotchas:\n- [a] gotcha: FLAMINGO\n{FOOTER}"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\n<system-reminder>\nFLAMINGO\n</system-reminder>\nb", "a\n\nb"),
        ("a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>c", "abc"),
        ("why is <system-reminder> there?", "why is <system-reminder> there?"),
        (f"a\n\n{BRIEF}\n\nb", "a\n\n\n\nb"),
        (f"a\r\n\r\n{BRIEF}\r\n\r\nb".replace("\n-", "\r\n-"), "a\n\n\n\nb"),
        (f"> {PROMPT_FRAME}\n> - [a] gotcha: FLAMINGO", None),
        ("a\n<!-- MEMORY:START -->\nFLAMINGO\n<!-- MEMORY:END -->\nb", "a\n\nb"),
    ],
)
def test_what_daybook_put_there_does_not_come_back(given: str, kept: str | None) -> None:
    expected = [] if kept is None else [kept]

    assert words(user(given)) == expected
    assert words(claude(given)) == expected


def test_every_kind_of_line_end_is_a_line_feed() -> None:
    assert words(user("a\r\nb\rc\u2028d\x85e\n")) == ["a\nb\nc\nd\ne"]


def test_a_folder_that_cannot_be_is_not_told() -> None:
    condenser = Condenser()
    for folder in (7, "\ud800", "a\0b", "x" * 5000, "/home/é/project"):
        condenser.utterances(json.dumps(user("x", cwd=folder, gitBranch=folder)).encode(), 0, 9)

    assert condenser.cwd == "/home/é/project"
    condenser.branch.encode()


# Tags


@pytest.mark.parametrize("tag", ["#skip", "#SKIP", "(#skip)", "#skip.", "<private>#skip</private>"])
def test_a_skipped_turn_goes_with_all_that_answers_it(tag: str) -> None:
    told = words(
        user("one"),
        user(f"the surprise party {tag}"),
        claude("A cake.", call("Bash", command="order cake")),
        result(failed=True),
        user("<command-name>/cost</command-name>"),
        user("Look for cakes", isSidechain=True),
        claude("Cakes.", isSidechain=True),
        claude("Ordered."),
        user("two"),
        claude("Three."),
    )

    assert told == ["one", "two", "Three."]


@pytest.mark.parametrize("like", ["#skip-link", "#skipping", "a#skip", "page.html/#skip", "##skip"])
def test_what_only_looks_like_a_tag_is_none(like: str) -> None:
    assert words(user(like)) == [like]


def test_a_turn_of_an_image_or_of_private_words_alone_ends_what_was_skipped() -> None:
    for turn in ([IMAGE], "<private>x</private>"):
        assert words(user("#skip"), claude("No."), user(turn), claude("Yes.")) == ["Yes."]


def test_skipping_goes_on_in_the_next_reading() -> None:
    condenser = Condenser()
    assert list(condenser.read(ranges(as_bytes(user("#skip"))))) == []

    assert condenser.skipping
    told = said(claude("No."), user("Yes."), skipping=True)
    assert [utterance.words for utterance in told] == ["Yes."]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("#remember we deploy on Fridays", "we deploy on Fridays"),
        ("#Remember: we deploy on Fridays", "we deploy on Fridays"),
        ("we deploy on Fridays #remember", "we deploy on Fridays"),
        ("#remember", "#remember"),
    ],
)
def test_the_person_can_ask_to_keep_a_turn(given: str, kept: str) -> None:
    (utterance,) = said(user(given))

    assert (utterance.words, utterance.forced) == (kept, True)
    assert not said(user("see page/#remember"))[0].forced


# Secrets and length


@pytest.mark.parametrize("length", [0, 3000, 500_000, 3_000_000])
def test_a_secret_is_masked_wherever_it_stands_in_a_turn(length: int) -> None:
    filler = "wide words and more " * (length // 20)
    turns = [f"{KEY} {filler}", f"{filler} {KEY}", f"{filler} {KEY} {filler}", f"{KEY[:9]}\u200b{KEY[9:]}"]

    for told in words(*map(user, turns), claude(*turns), claude(call("Bash", command=f"aws {turns[0]}"))):
        assert KEY not in told
        assert KEY[9:] not in told
        assert len(told) <= LONGEST_TURN


def test_a_key_that_a_window_would_cut_leaves_nothing() -> None:
    block = "\n".join(["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 700])
    for room in range(0, 400_000, 20_000):
        turn = "a word " * (room // 7) + block + "\n-----END PRIVATE KEY-----\n" + "b word " * 60_000
        (told,) = words(user(turn))
        assert "MIIEvQ" not in told


def test_a_secret_that_a_window_cuts_is_not_shown_in_part() -> None:
    window = 192 * 1024
    for cut in range(5, 16):
        (first,) = words(user(" " * (window - cut) + KEY + " b word" * 70_000))
        (last,) = words(user("b word " * 70_000 + KEY + " " * (window - cut)))

        assert not any(KEY[at : at + 5] in first + last for at in range(len(KEY) - 4))


def test_a_long_turn_keeps_its_ends_and_says_what_is_missing() -> None:
    turn = "START " + "middle " * 1000 + "END"

    (told,) = words(user(turn))

    assert told.startswith("START middle")
    assert told.endswith("middle END")
    assert len(told) <= LONGEST_TURN
    head, _, rest = told.partition(" … [")
    number, _, tail = rest.partition(" characters left out] … ")
    assert len(head) + int(number.replace(",", "")) + len(tail) == len(turn)


def test_a_mask_is_not_cut_in_two() -> None:
    for shift in range(40):
        (told,) = words(user("x" * (1940 + shift) + f" {KEY} " + "y " * 3000))
        assert told.count("[secret removed") == told.count("[secret removed: an AWS")
        (told,) = words(user("y " * 3000 + f"{KEY} " + "x" * (1940 + shift)))
        assert told.count(" removed: an AWS") == told.count("[secret removed: an AWS")
        assert "access key]" not in told or "[secret removed" in told
        (line,) = words(claude(call("Bash", command="x" * (160 + shift) + f" {KEY} y")))
        assert "[secret" not in line or "]" in line.removeprefix("[Bash]")


@pytest.mark.parametrize(
    "unit",
    ["<private>", "</private>", "<", "< ", "<system-reminder>", "<!-- MEMORY:START -->", "\n> ", "#skip-",
     "#remember-", "\u200b", "é", f"{FRAME}\n", "[secret removed: "],
)  # fmt: skip
def test_a_turn_that_repeats_itself_is_read_in_time(unit: str) -> None:
    begun = time.process_time()

    words(user(unit * (400_000 // len(unit))), claude(call("Bash", command=unit * (400_000 // len(unit)))))

    assert time.process_time() - begun < 3


def test_a_tool_result_or_an_attachment_of_any_size_is_passed_over_quickly() -> None:
    lines = ranges(as_bytes({"type": "attachment", "role": "user", "rendered": [{}] * 1_000_000}) * 5)
    begun = time.process_time()

    assert list(Condenser().read(lines)) == []
    assert time.process_time() - begun < 5 * 4 / 200  # at 200 MB/s; to parse them takes ten times as long


def test_a_large_image_does_not_hide_the_words_beside_it() -> None:
    large = {"type": "image", "source": {"data": "A" * 5_000_000}}

    assert words(user([large, {"type": "text", "text": "it is red"}])) == ["it is red"]
    assert words(user("no person types this " * 250_000), user("after")) == ["after"]


# Copies, and reading in parts


def test_a_copy_in_a_fork_has_the_same_keys() -> None:
    lines = [json.loads(line) for line in (DATA / "session.jsonl").read_bytes().splitlines()]
    original = said(*lines)

    fork = said(
        {"type": "mode", "mode": "plan", "sessionId": "fork"},
        *[{**line, "sessionId": "fork", "uuid": "other", "forkedFrom": {"sessionId": "x"}} for line in lines],
    )

    assert [utterance.key for utterance in fork] == [utterance.key for utterance in original]
    assert [utterance.start for utterance in fork] != [utterance.start for utterance in original]
    assert len({utterance.key for utterance in original}) == len(original)


def test_a_key_is_of_the_time_the_speaker_and_the_words() -> None:
    told = said(user("yes, do"), claude("yes, do"), user("yes, do", timestamp="2026-11-20T15:29:00Z"))

    assert len({utterance.key for utterance in told}) == 3
    failed, whole = (
        said(claude(call("Bash", command="ls")), result(failed=failed))[0] for failed in (True, False)
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


def unmarked(told: list[Utterance]) -> list[tuple[object, ...]]:
    return [(one.key, one.start, one.end, one.forced, one.words.removesuffix(FAILED)) for one in told]


@pytest.mark.parametrize("data", [MIXED, (DATA / "session.jsonl").read_bytes()], ids=["mixed", "session"])
def test_reading_in_two_parts_tells_what_one_reading_tells(data: bytes) -> None:
    whole = list(Condenser().read(ranges(data)))
    assert len(whole) > 5

    for _, start, _ in ranges(data)[1:]:
        first = Condenser()
        told = list(first.read(ranges(data[:start])))
        told += Condenser(skipping=first.skipping).read(ranges(data, start))
        assert unmarked(told) == unmarked(whole)


def test_reading_goes_on_behind_any_utterance_it_gave() -> None:
    whole = list(Condenser().read(ranges(MIXED)))

    for utterance in whole:
        before = [one for one in whole if one.end <= utterance.end]
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
    given = ranges(data)

    whole = Condenser(subagent=subagent)
    told = list(whole.read(given))
    first = Condenser(subagent=subagent)
    parts = list(first.read(given[:parted]))
    second = Condenser(subagent=subagent, skipping=first.skipping)
    parts += second.read(given[parted:])

    assert unmarked(parts) == unmarked(told)
    assert second.skipping == whole.skipping
    for utterance in told:
        assert utterance.words.strip() == utterance.words != ""
        assert len(utterance.words) <= LONGEST_TURN + len(FAILED)
        assert KEY not in utterance.words
        utterance.words.encode()
        (whole.cwd + whole.branch + whole.first_words).encode()


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

    told = list(Condenser().read([(line, 0, 5), (after, 5, 9)]))

    assert [utterance.words for utterance in told] == ["after"]


def test_bytes_that_are_no_text_do_not_hide_the_rest_of_a_turn() -> None:
    line = json.dumps(user("caf# is open")).encode().replace(b"#", b"\xe9")

    assert [one.words for one in Condenser().read([(line, 0, 9)])] == ["caf\ufffd is open"]
