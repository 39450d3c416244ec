"""What is left out of a turn, and the tags by which a person says so."""

import json

import pytest

from mcp_server.core.context.brief import FOOTER, FRAME, PROMPT_FRAME
from mcp_server.core.sessions.transcript import Condenser
from tests.core.transcript.lines import (
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

# What is left out


@pytest.mark.parametrize(
    ("turn", "left_over"),
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
def test_private_text_is_never_told(turn: str, left_over: str | None) -> None:
    expected = [] if left_over is None else [left_over]

    assert words(user(turn)) == expected
    assert words(claude(turn)) == expected


def test_private_text_that_is_not_closed_goes_on_to_the_end_of_the_turn_over_its_blocks() -> None:
    blocks = [{"type": "text", "text": "a <private>PIN"}, {"type": "text", "text": "PIN"}]

    assert words(user(blocks), user("b")) == ["a", "b"]


def test_private_text_is_not_in_a_command_either() -> None:
    assert words(claude(call("Bash", command="login <private>PIN</private> now"))) == ["[Bash]: login now"]


BRIEF = f"{FRAME}\nGotchas:\n- [a] gotcha: FLAMINGO\n{FOOTER}"


@pytest.mark.parametrize(
    ("turn", "left_over"),
    [
        ("a\n<system-reminder>\nFLAMINGO\n</system-reminder>\nb", "a\n\nb"),
        ("a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>c", "abc"),
        ("<ide_opened_file>The user opened /src/a.py in the IDE.</ide_opened_file>\nfix it", "fix it"),
        ("<ide_selection>The user selected FLAMINGO.</ide_selection>", None),
        ('what is <terminal name="zsh">FLAMINGO</terminal>this?', "what is this?"),
        ("why is <system-reminder> there?", "why is <system-reminder> there?"),
        (f"a\n\n{BRIEF}\n\nb", "a\n\n\n\nb"),
        (f"a\r\n\r\n{BRIEF}\r\n\r\nb".replace("\n-", "\r\n-"), "a\n\n\n\nb"),
        (f"> {PROMPT_FRAME}\n> - [a] gotcha: FLAMINGO", None),
        ("a\n<!-- MEMORY:START -->\nFLAMINGO\n<!-- MEMORY:END -->\nb", "a\n\nb"),
    ],
)
def test_what_was_put_there_by_a_program_does_not_come_back(turn: str, left_over: str | None) -> None:
    expected = [] if left_over is None else [left_over]

    assert words(user(turn)) == expected
    assert words(claude(turn)) == expected


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
    words_kept = words(
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

    assert words_kept == ["one", "two", "Three."]


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
    utterances = utterances_of(claude("No."), user("Yes."), skipping=True)
    assert [utterance.words for utterance in utterances] == ["Yes."]


@pytest.mark.parametrize(
    ("turn", "words_kept"),
    [
        ("#remember we deploy on Fridays", "we deploy on Fridays"),
        ("#Remember: we deploy on Fridays", "we deploy on Fridays"),
        ("we deploy on Fridays #remember", "we deploy on Fridays"),
        ("#remember", "#remember"),
    ],
)
def test_the_person_can_ask_to_keep_a_turn(turn: str, words_kept: str) -> None:
    (utterance,) = utterances_of(user(turn))

    assert (utterance.words, utterance.forced) == (words_kept, True)
    for quoted in ("see page/#remember", "what does `#remember` do?"):
        (utterance,) = utterances_of(user(quoted))
        assert (utterance.words, utterance.forced) == (quoted, False)
