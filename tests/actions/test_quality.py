"""What was given and why, whether it was of use, and what that adds up to."""

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.quality import mark_used, note_use, retrieval_quality, why
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.events.usage import Usage
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.core.worth import ratings
from mcp_server.store import Store
from tests.conftest import Clock
from tests.growth import grows_evenly

QUESTION = "where does the heron server listen?"


@pytest.fixture
def heron(store: Store) -> str:
    return remember(store, Draft("Heron server", "The heron server listens on heron_port.")).memory.id


def counts(store: Store, memory_id: str) -> Usage:
    sync(store)
    ref = read(store, memory_id).ref
    with store.database.read() as db:
        return usage.usage_of(db, [ref]).get(ref, usage.UNUSED)


def test_a_reply_that_names_what_is_telling_makes_a_recalled_memory_used(store: Store, heron: str) -> None:
    ref = read(store, heron).ref
    recall(store, Query("heron"), given_to="s1")

    assert note_use(store.in_session("s1"), "It listens.", prompt=QUESTION) == []
    assert note_use(store.in_session("s1"), "It is heron_port.", prompt=QUESTION) == [ref]
    assert note_use(store.in_session("s1"), "It is heron_port.", prompt=QUESTION) == []
    assert (counts(store, heron).used, counts(store, heron).retrieved) == (1, 1)


def test_what_was_not_given_to_the_session_or_long_ago_is_not_used(
    store: Store, heron: str, clock: Clock
) -> None:
    assert note_use(store.in_session("s1"), "It is heron_port.", prompt="") == []
    recall(store, Query("heron"), given_to="s1")
    assert note_use(store.in_session("s2"), "It is heron_port.", prompt="") == []

    clock.pass_days(1.1)

    assert note_use(store.in_session("s1"), "It is heron_port.", prompt="") == []
    assert counts(store, heron).used == 0


def test_what_stood_in_the_prompt_proves_nothing(store: Store, heron: str) -> None:
    recall(store, Query("heron"), given_to="s1")

    assert note_use(store.in_session("s1"), "heron_port is it", prompt="is it heron_port?") == []


@pytest.mark.feature("3.2-1")
def test_after_three_recalls_helpfulness_is_that_of_three_and_not_of_six(store: Store, heron: str) -> None:
    for number in range(3):
        recall(store, Query("heron"), given_to=f"s{number}")

    use = counts(store, heron)
    assert (use.retrieved, use.accesses) == (3, 3)
    assert ratings.helpfulness(use.used, use.retrieved) == pytest.approx(1 / 7)


def test_claude_may_say_what_was_of_use(store: Store, heron: str) -> None:
    recall(store, Query("heron"), given_to="s1")

    assert mark_used(store.in_session("s1"), [heron, heron]) == [heron]
    mark_used(store.in_session("s1"), [heron])

    assert counts(store, heron).used == 1
    with pytest.raises(NotFound):
        mark_used(store.in_session("s2"), [heron, "nobody"])
    assert counts(store, heron).used == 1


@pytest.mark.feature("B-13")
def test_a_receipt_says_when_why_what_and_at_what_cost(store: Store, heron: str, clock: Clock) -> None:
    assert inject(store.in_session("s1"), QUESTION)
    clock.pass_days(0.01)
    recall(store, Query("heron port"), given_to="s1")
    note_use(store.in_session("s1"), "It is heron_port.", prompt="")
    recall(store, Query("heron"), given_to="s2")

    last, recalled, of_prompt = why(store)

    assert (of_prompt.why, of_prompt.said, of_prompt.session, of_prompt.id) == (
        "prompt",
        QUESTION,
        "s1",
        heron,
    )
    assert of_prompt.score and of_prompt.score > 0 and of_prompt.tokens > 10
    assert (recalled.why, recalled.said, recalled.used) == ("recall", "heron port", True)
    assert not last.used
    assert why(store, session="s1") == [recalled, of_prompt]
    assert why(store, last=True) == [last]
    assert why(store, session="s1", last=True) == [recalled]
    assert why(store, session="nobody") == []


def test_the_receipt_of_a_prompt_is_short_and_holds_no_secret(store: Store) -> None:
    words = "heron server behind nginx with certificates rotated monthly, logs kept on egret and stork"
    remember(store, Draft("Heron server", words))
    secret = "AKIAZQWERTYUIOPASDFG"
    inject(store.in_session("s1"), f"{secret} {words}")

    (receipt,) = why(store)

    assert len(receipt.said) <= 80
    assert "AKIAZQ" not in receipt.said


def test_the_statistics_add_up_what_was_given_and_used(store: Store, heron: str) -> None:
    idle = remember(store, Draft("Egret database", "Postgres it is.")).memory.id
    for number in range(3):
        recall(store, Query("heron", limit=1), given_to=f"s{number}")
        recall(store, Query("egret", limit=1), given_to=f"s{number}")
    note_use(store.in_session("s0"), "heron_port", prompt="")
    inject(store.in_session("s0"), "please write a poem about autumn")
    inject(store.in_session("s0"), QUESTION)
    inject(store.in_session("s0"), "go on")  # too short to call for anything: not counted

    quality = retrieval_quality(store)

    assert (quality.given, quality.used, quality.unique) == (7, 1, 2)
    assert quality.usage_rate == pytest.approx(1 / 7)
    assert [(memory.id, memory.given, memory.used) for memory in quality.top_used] == [(heron, 4, 1)]
    assert [(memory.id, memory.given) for memory in quality.least_useful] == [(idle, 3)]
    assert (quality.prompts_told, quality.prompts_silent) == (1, 1)


def test_the_statistics_look_back_as_far_as_they_are_told(store: Store, heron: str, clock: Clock) -> None:
    recall(store, Query("heron"), given_to="s1")
    clock.pass_days(8)

    assert retrieval_quality(store, days=7).given == 0
    assert retrieval_quality(store, days=9).given == 1
    assert retrieval_quality(store, days=0).given == 1
    assert retrieval_quality(store, days=10**30).given == 1


def test_looking_for_uses_takes_no_longer_than_the_reply_is_long(store: Store) -> None:
    for number in range(50):
        text = "\n".join(f"Set name_{number}_{line} in src/part{number}/file{line}.py." for line in range(20))
        remember(store, Draft(f"Part {number}", text))
    sync(store)
    with store.database.read() as db:
        refs = [f"{vault}/{id}" for vault, id in db.execute("SELECT vault, id FROM memories")]
    store.ledger.append("recalled", store.clock(), refs=refs, session="s1")
    sync(store)

    def used(reply: str) -> None:
        assert note_use(store.in_session("s1"), reply, prompt="") == []

    assert grows_evenly(lambda times: "nothing of it, though src/part900/file1.py and so on " * times, used)


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        (
            "<private>osprey</private> where does the heron server listen",
            "where does the heron server listen",
        ),
        ("where does the heron server listen, osprey? #skip", ""),
    ],
)
def test_what_of_a_prompt_is_not_to_be_kept_is_in_no_receipt(
    store: Store, heron: str, prompt: str, kept: str
) -> None:
    assert heron in inject(store.in_session("one"), prompt)

    assert [receipt.said for receipt in why(store)] == [kept]
    assert not any(b"osprey" in path.read_bytes() for path in store.ledger.paths())
