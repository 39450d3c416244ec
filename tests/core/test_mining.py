"""What patterns find in a conversation, and what they leave alone."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.capture.mining import MOST, Mined, is_stored, mine
from tests.growth import grows_evenly


def only(speaker: str, words: str) -> Mined:
    (mined,) = mine([(speaker, words)])
    return mined


@pytest.mark.feature("B-38")
@pytest.mark.parametrize(
    ("speaker", "words", "type", "confidence"),
    [
        ("user", "We decided to keep invoices in Postgres because of the reports.", "decision", 0.8),
        ("output", "We chose Postgres over MySQL for the window functions.", "decision", 0.8),
        ("user", "I prefer small commits with one subject each.", "preference", 0.8),
        ("user", "Never use npm in this repository, only pnpm.", "preference", 0.8),
        ("output", "This project uses the Next.js app router for every page.", "architecture", 0.85),
        ("output", "The build requires Python 3.12 since the last upgrade.", "architecture", 0.85),
        ("output", "The root cause was that the cookie is dropped on redirects.", "gotcha", 0.75),
        ("tool", "[Bash]: pip install httpx", "reference", 0.85),
        ("tool", "[Bash]: make test-integration", "reference", 0.5),
        ("output", "```python\nimport structlog\n```", "reference", 0.5),
        ("output", "from structlog import get_logger", "reference", 0.5),
        ("output", "$ docker compose up --build", "reference", 0.5),
        ("output", "```bash\nuv add httpx\n```", "reference", 0.85),
        ("output", "```python\ndef total(lines):\n    return sum(lines)\n```", "reference", 0.7),
    ],
)
def test_each_pattern_finds_its_kind(speaker: str, words: str, type: str, confidence: float) -> None:
    mined = only(speaker, words)

    assert (mined.type, mined.confidence) == (type, confidence)
    assert mined.title
    assert mined.from_person == (speaker == "user")


@pytest.mark.parametrize(
    ("speaker", "words"),
    [
        ("user", "Have we decided to keep invoices in Postgres?"),
        ("claude", "Maybe we decided that too early, let me look again."),
        ("claude", "I prefer to look at the tests before the code."),
        ("claude", "The tests pass and the build is green."),
        ("claude", "We chose Postgres over MySQL for the window functions."),
        ("claude", "```bash\nuv add httpx\n```"),
        ("agent", "We decided to disable the verification of certificates in all clients."),
        ("agent", "$ docker compose up --build"),
        ("tool", "[Bash]: git status"),
        ("tool", "[Bash]: pytest tests/billing -> failed"),
        ("tool", "[Edit]: src/app.py"),
        ("user", "ok"),
    ],
)
def test_questions_plans_and_chatter_are_left_alone(speaker: str, words: str) -> None:
    assert mine([(speaker, words)]) == []


def test_the_same_words_in_another_order_are_the_same_candidate() -> None:
    one = only("user", "We decided to keep invoices in Postgres.")
    other = only("output", "In Postgres we decided to keep invoices.")

    assert one.key == other.key


def test_a_chunk_gives_its_most_believable_candidates() -> None:
    words = "\n".join(f"We decided to use the tool{n} for step{n} of the build." for n in range(20))

    mined = mine([("tool", "[Bash]: make everything"), ("user", words)])

    assert len(mined) == MOST
    assert {candidate.confidence for candidate in mined} == {0.8}


@pytest.mark.feature("B-39")
@pytest.mark.parametrize(
    ("confidence", "times", "stored"),
    [
        (0.8, [2, 1], True),
        (0.8, [3], False),
        (0.8, [1, 1], False),
        (0.79, [9, 9], False),
        (0.85, [1, 1, 1], True),
    ],
)
def test_a_candidate_is_stored_when_believable_and_seen_often_enough(
    confidence: float, times: list[int], stored: bool
) -> None:
    assert is_stored(confidence, times) is stored


@pytest.mark.parametrize(
    ("turn", "settled"),
    [
        ("Run the tests. From now on we deploy with Helm. Thanks!", "From now on we deploy with Helm."),
        ("run the tests. from now on we deploy with helm. thanks!", "from now on we deploy with helm."),
        ("what is the timeout? no, use pnpm not npm", "no, use pnpm not npm"),
        ("ok! we decided to use zod e.g. for forms. go on", "we decided to use zod e.g. for forms."),
        ("looks good. never use npm, yarn etc. in this repo. bye", "never use npm, yarn etc. in this repo."),
    ],
)
def test_what_is_settled_is_the_sentence_alone_with_or_without_capitals(turn: str, settled: str) -> None:
    assert only("user", turn).text == settled


@pytest.mark.parametrize(
    ("turn", "right"),
    [
        ("No. The port is 8081.", "The port is 8081."),
        ("no! the port is 8081", "the port is 8081"),
        ("That is wrong. The port is 8081.", "The port is 8081."),
        ("Nein. Der Port ist 8081.", "Der Port ist 8081."),
        ("不对。端口是 8081。", "端口是 8081。"),
    ],
)
def test_a_denial_in_a_sentence_of_its_own_belongs_to_the_next_one(turn: str, right: str) -> None:
    (mined,) = mine([("user", turn)], before=["The port is 8080.", "端口是 8080"])

    assert (mined.text, bool(mined.corrects)) == (right, True)


def test_a_sentence_after_a_full_one_that_denies_settles_nothing_by_it() -> None:
    assert only("user", "No, use pnpm not npm. The port is 8081.").text == "No, use pnpm not npm."


@given(st.sampled_from(["user", "claude", "tool"]), st.text())
def test_any_words_can_be_mined(speaker: str, words: str) -> None:
    assert all(mined.title and mined.text for mined in mine([(speaker, words)]))


@pytest.mark.parametrize("atom", ["\n", "```bash\n", "```a\n", "```\n"])
def test_a_hostile_text_takes_no_longer_than_its_length(atom: str) -> None:
    assert grows_evenly(lambda times: [("user", atom * times)], mine)


def test_a_code_block_before_a_fence_that_nothing_closes_is_still_found() -> None:
    text = "```sh\n$ pytest -q tests\npytest -q tests\n```\nText.\n```\nnothing closes this"

    assert [candidate.title for candidate in mine([("user", text)]) if candidate.title.startswith("Command")]


def test_what_the_person_pasted_settles_nothing() -> None:
    head = "Can you answer this?\n\nFrom: jo@x.example\nSubject: Bills\n\n"
    mail = f"{head}From now on we use Oracle for all bills."
    quote = "> from now on we use Oracle for all bills\n\nWhat does he mean by that?"

    assert mine([("user", mail), ("user", quote)]) == []
    assert mine([("user", "From now on we use Oracle for all bills.")])


def all_of_it(sentences: Sequence[str]) -> list[str]:
    return ["decision"] * len(sentences)


def test_what_the_judge_sees_waits_for_the_person() -> None:
    (mined,) = mine([("user", "kafka it is")], judge=all_of_it)

    assert (mined.type, mined.text, mined.settles) == ("decision", "kafka it is", True)
    assert not is_stored(mined.confidence, [5, 5, 5])


def test_the_judge_is_asked_only_what_a_person_says_for_sure() -> None:
    asked: list[str] = []

    def judge(sentences: Sequence[str]) -> list[str]:
        asked.extend(sentences)
        return [""] * len(sentences)

    said = "Kafka it is. Is it? Maybe redis. Go on. Kafka it is. " + "X" * 400
    mine([("user", said), ("output", "The box is in room 12."), ("claude", "Kafka it is.")], judge=judge)

    assert asked == ["Kafka it is."]
