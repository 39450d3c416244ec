"""What comes first, how sure it is, and why."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Confidence, Filter, Mode, Query, Sort
from mcp_server.doors.shown.recall import reasons
from mcp_server.store import Store
from tests.actions.recall.notes import ids_found
from tests.conftest import Clock


def test_of_a_long_memory_more_than_the_best_passage_counts(meaning_store: Store) -> None:
    other = "The office plants are watered on Fridays. " * 30
    remember(
        meaning_store, Draft("Callbacks", f"# Stripe\n\nPayment callbacks retry.\n\n# Plants\n\n{other}")
    )
    remember(
        meaning_store, Draft("Twice", "# Yes\n\nPayment callbacks retry.\n\n# No\n\nPayment callbacks retry.")
    )
    remember(meaning_store, Draft("Short", "Payment callbacks are signed."))
    embed_pending(meaning_store)

    hits = recall(meaning_store, Query("payment callbacks", mode=Mode.SEMANTIC)).hits
    parts = {hit.title: hit.parts for hit in hits}

    assert parts["Short"].mean == pytest.approx(parts["Short"].cosine)
    assert parts["Callbacks"].mean < parts["Callbacks"].cosine - 0.05
    assert parts["Twice"].mean > parts["Twice"].cosine - 0.05


def test_tokens_tell_two_memories_of_one_topic_apart(meaning_store: Store) -> None:
    about = "The payment provider sends callbacks, and the shop keeps every order with its parcels."
    for word in ("signed", "archived", "compressed", "sorted", "counted"):
        remember(meaning_store, Draft(f"{about} They are {word}.", f"{about} They are {word}."))
    embed_pending(meaning_store)

    hits = recall(meaning_store, Query("How are callbacks put into a ZIP?", mode=Mode.SEMANTIC)).hits

    scores = [hit.parts.maxsim for hit in hits]
    assert hits[0].title.endswith("compressed.")
    assert None not in scores
    assert scores[0] == max(scores)


def test_the_passage_that_answers_is_shown_although_another_has_more_of_the_words(
    meaning_store: Store,
) -> None:
    team = "The people of payment callbacks sit upstairs. " + "Their plants are watered on Fridays. " * 15
    check = "The HMAC proves who sent it and that nobody changed it. " + "It is a digest with a secret. " * 14
    remember(meaning_store, Draft("Payments", f"# Team\n\n{team}\n\n# Check\n\n{check}"))
    remember(meaning_store, Draft("Plants", "The office plants are watered on Fridays."))
    embed_pending(meaning_store)

    query = Query("Which MAC algorithm authenticates the senders of payment callbacks?")

    assert "HMAC" in recall(meaning_store, query).hits[0].text
    assert "upstairs" in recall(meaning_store, replace(query, mode=Mode.KEYWORD)).hits[0].text


def test_words_alone_compare_no_tokens(store: Store, ids: dict[str, str]) -> None:
    assert recall(store, Query("webhook signature")).hits[0].parts.maxsim is None


def test_a_boost_lifts_a_memory_that_is_far_from_the_first(store: Store) -> None:
    lifted = remember(
        store, Draft("Note of the gateway now", "It retries now.", touches=("src/pay.py",))
    ).memory.id
    for number in range(40):
        remember(store, Draft(f"Note of the gateway {number}", f"It retries {number}."))

    hits = recall(store, Query("gateway retries in src/pay.py", sort=Sort.RELEVANCE)).hits

    assert hits[0].id == lifted
    assert dict(hits[0].parts.boosts) == {"path": 1.1}


def test_a_boost_lifts_a_memory_above_twenty_that_match_a_little_better(store: Store) -> None:
    for number in range(20):
        remember(store, Draft(f"Gateway {number}", f"The gateway retries {number} times."))
    about = Draft("Gateway", "The gateway retries some more times again.", touches=("src/pay.py",))
    lifted = remember(store, about).memory.id

    hits = recall(store, Query("gateway retries in src/pay.py", sort=Sort.RELEVANCE)).hits

    assert hits[0].id == lifted
    assert hits[0].parts.relevance < hits[1].parts.relevance


@pytest.mark.feature("D-21")
def test_recency_settles_equals_but_not_the_order_by_relevance(store: Store, clock: Clock) -> None:
    first = remember(store, Draft("Cache A", "Redis holds sessions."))
    clock.pass_days(200)
    second = remember(store, Draft("Cache B", "Redis holds sessions."))

    assert ids_found(store, "redis sessions") == [second.memory.id, first.memory.id]
    by_relevance = recall(store, Query("redis sessions", sort=Sort.RELEVANCE)).hits
    assert by_relevance[0].score == by_relevance[1].score


def test_an_exact_old_match_is_not_hidden_by_what_is_new(store: Store, clock: Clock) -> None:
    exact = remember(store, Draft("Kafka offset reset", "Set auto.offset.reset to earliest for replay."))
    clock.pass_days(700)
    for number in range(10):
        remember(store, Draft(f"Kafka replay {number}", f"The kafka offset and its replay, number {number}."))

    assert ids_found(store, "kafka offset reset for replay")[0] == exact.memory.id


@pytest.mark.feature("B-13")
def test_the_newer_of_two_is_first_where_the_question_is_about_now(
    store: Store, clock: Clock, ids: dict[str, str]
) -> None:
    remember(store, Draft("Retries of the uploader", "The uploader retries 3 times, then it stops."))
    clock.pass_days(400)
    remember(store, Draft("Retries of the uploader at night", "By night it retries 9 times before it stops."))

    now = recall(store, Query("What is the current number of retries of the uploader?")).hits
    then = recall(store, Query("number of retries of the uploader")).hits
    of_that_day = recall(
        store,
        Query(
            "What is the current number of retries of the uploader?",
            filter=Filter(as_of=clock() - timedelta(days=300)),
        ),
    ).hits

    assert [hit.title for hit in now[:2]] == ["Retries of the uploader at night", "Retries of the uploader"]
    assert [hit.title for hit in then[:2]] == ["Retries of the uploader", "Retries of the uploader at night"]
    assert [hit.title for hit in of_that_day][:1] == ["Retries of the uploader"]
    assert [name for name, _ in now[0].parts.boosts] == ["now"]
    assert then[0].parts.boosts == of_that_day[0].parts.boosts == ()


def test_no_match_is_said_and_not_guessed(store: Store, ids: dict[str, str]) -> None:
    answer = recall(store, Query("kubernetes ingress annotations"))

    assert answer.verdict is Confidence.NONE
    assert recall(store, Query("kubernetes ingress", only_confident=True)).hits == ()


def test_a_sure_match_is_said_to_be_sure(store: Store, ids: dict[str, str]) -> None:
    assert recall(store, Query("stripe webhook raw body")).verdict is Confidence.HIGH


def test_beside_a_sure_match_the_next_two_need_less_evidence(store: Store) -> None:
    question = Query("harbour crane lamp oil rope anchor buoy")
    for number in ("One", "Two", "Three"):
        remember(store, Draft(f"Quay {number}", f"{number} has a harbour crane with a lamp and oil."))
        remember(store, Draft(f"Ship {number}", f"{number} has a rope, an anchor and a buoy."))
    assert recall(store, question).verdict is Confidence.NONE

    remember(store, Draft("The yard", "Harbour crane, lamp, oil, rope, anchor, buoy: the yard has it all."))

    hits = recall(store, replace(question, limit=7)).hits
    assert [(hit.title.split()[0], hit.confidence) for hit in hits[:4]] == [
        ("The", Confidence.HIGH),
        ("Quay", Confidence.MEDIUM),
        ("Quay", Confidence.MEDIUM),
        ("Quay", Confidence.NONE),
    ]
    assert {hit.confidence for hit in hits[4:]} == {Confidence.NONE}


def test_a_sure_match_of_one_sentence_vouches_for_none_of_another(store: Store) -> None:
    remember(store, Draft("Quay", "A harbour crane with a lamp."))
    remember(store, Draft("Ship", "A rope and an anchor."))
    remember(store, Draft("Bakery", "The oven bakes rye bread."))
    unsure, sure = "harbour crane lamp rope anchor", "oven bakes rye bread"

    hits = recall(store, Query(f"{unsure}. {sure}.", parts=(unsure, sure))).hits

    assert [(hit.title, hit.confidence) for hit in hits[:2]] == [
        ("Bakery", Confidence.HIGH),
        ("Quay", Confidence.NONE),
    ]


@pytest.mark.feature("D-09")
def test_every_component_of_a_score_is_explained(store: Store, ids: dict[str, str]) -> None:
    hit = recall(store, Query("webhook signature")).hits[0]

    assert dict(hit.parts.boosts) == {"tag": 1.15}
    assert (hit.parts.words, hit.parts.near) == pytest.approx((1.0, 0.0))
    assert hit.parts.relevance == pytest.approx(0.25 / 0.35)
    assert hit.parts.total == hit.score
    assert "words 1.00" in reasons(hit)


def test_the_best_of_poor_matches_is_not_taken_for_a_full_one(store: Store, ids: dict[str, str]) -> None:
    parts = recall(store, Query("webhook quagga zebra okapi")).hits[0].parts

    assert parts.words == pytest.approx(parts.coverage / 0.6)
    assert parts.coverage < 0.5


def test_a_time_in_the_question_brings_what_is_of_that_time_first(store: Store, clock: Clock) -> None:
    clock.pass_days(-10)
    then = remember(store, Draft("Release notes", "The release train was moved to Tuesday.")).memory.id
    clock.pass_days(10)
    now = remember(store, Draft("Release news", "The release train was moved to Thursday.")).memory.id

    def ids_found(question: str) -> list[str]:
        return [hit.id for hit in recall(store, Query(question)).hits]

    assert ids_found("to which day was the release train moved last week") == [then, now]
    assert ids_found("to which day was the release train moved today") == [now, then]
    assert ids_found("to which day was the release train moved since 2026-11-19") == [now, then]
