import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_server.actions.embed import embed_pending
from mcp_server.actions.recall import recall
from mcp_server.actions.remember import remember
from mcp_server.actions.revise import Revision, revise
from mcp_server.actions.sync import sync
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft, Level, Link
from mcp_server.core.query import ANY_STATUS, Filter, Mode, Query, Sort, Verdict
from mcp_server.store import Store
from tests.conftest import Clock

NOTES = {
    "webhook": ("Stripe webhook needs the raw body", "Skip body parsing or signature verification fails."),
    "database": ("Postgres instead of MySQL", "Reports need window functions."),
    "cart": ("The cart lives on the server", "updateCartTotals() revalidates it by tag."),
    "commits": ("Short commit messages", "Subjects are imperative."),
}


@pytest.fixture
def ids(store: Store) -> dict[str, str]:
    return fill(store)


def fill(store: Store) -> dict[str, str]:
    return {name: remember(store, Draft(*note, tags=(name,))).memory.id for name, note in NOTES.items()}


def found(store: Store, text: str, **options: object) -> list[str]:
    return [hit.id for hit in recall(store, Query(text, **options)).hits]  # type: ignore[arg-type]


def test_words_find_a_memory(store: Store, ids: dict[str, str]) -> None:
    assert found(store, "signature verification")[0] == ids["webhook"]


def test_a_part_of_an_identifier_finds_it(store: Store, ids: dict[str, str]) -> None:
    assert found(store, "cart totals")[0] == ids["cart"]
    assert found(store, "updateCartTotals")[0] == ids["cart"]


def test_meaning_finds_what_no_word_does(meaning_store: Store) -> None:
    ids = fill(meaning_store)
    embed_pending(meaning_store)

    answer = recall(meaning_store, Query("payment provider callbacks", mode=Mode.HYBRID))

    assert answer.semantic
    assert answer.hits[0].id == ids["webhook"]
    assert answer.hits[0].parts.words == 0


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


def test_words_alone_compare_no_tokens(store: Store, ids: dict[str, str]) -> None:
    assert recall(store, Query("webhook signature")).hits[0].parts.maxsim is None


def test_an_edit_keeps_what_the_model_made_of_the_passages_that_stay(meaning_store: Store) -> None:
    memory = remember(meaning_store, Draft("Parts", "# One\n\nfirst words\n\n# Two\n\nsecond words")).memory
    embed_pending(meaning_store)
    before = made_of(meaning_store)

    revise(meaning_store, memory.id, Revision(text="# One\n\nfirst words\n\n# Two\n\nother words"))

    stays = {text: made for text, made in before.items() if "first" in text}
    assert made_of(meaning_store) == stays
    assert all(signs for _, signs in stays.values())


def made_of(store: Store) -> dict[str, tuple[bytes, bytes]]:
    """Return passage → its embedding and signs, of those that have them."""
    with store.database.read() as db:
        found = db.execute(
            "SELECT p.text, v.embedding, v.signs FROM passages p JOIN vectors v ON v.passage = p.row"
        ).fetchall()
    return {text: (embedding, signs) for text, embedding, signs in found}


def test_a_boost_lifts_a_memory_that_is_far_from_the_first(store: Store) -> None:
    lifted = remember(
        store, Draft("Note of the gateway now", "It retries now.", touches=("src/pay.py",))
    ).memory.id
    for number in range(40):
        remember(store, Draft(f"Note of the gateway {number}", f"It retries {number}."))

    hits = recall(store, Query("gateway retries in src/pay.py", sort=Sort.RELEVANCE)).hits

    assert hits[0].id == lifted
    assert dict(hits[0].parts.boosts) == {"path": 1.1}


def test_while_the_model_loads_the_words_answer(open_here: Callable[..., Opened], memory_dir: Path) -> None:
    opened = open_here(EMBEDDING_MODEL="minilm-l6")
    loading = Opened({**opened.environment}, folder=opened.folder, wait_for_model=False)
    ids = fill(opened.store())

    answer = recall(loading.store(), Query("signature verification"))

    assert answer.hits[0].id == ids["webhook"]


def test_a_model_that_cannot_be_loaded_leaves_the_words(
    open_here: Callable[..., Opened], tmp_path: Path
) -> None:
    from mcp_server.adapters.fastembed_embedder import FastembedEmbedder
    from mcp_server.adapters.model_folder import look_into
    from mcp_server.core.errors import EmbedderUnavailable

    with pytest.raises(EmbedderUnavailable, match="no embedding model"):
        look_into(tmp_path)
    for name in ("model.onnx", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes(b"broken")
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        FastembedEmbedder(look_into(tmp_path))


def test_the_default_search_sees_the_person_and_this_project_only(
    open_here: Callable[..., Opened], ids: dict[str, str], tmp_path: Path
) -> None:
    other = open_here(folder=tmp_path / "blog").store()
    elsewhere = remember(other, Draft("Blog webhook", "Another signature."))

    assert elsewhere.memory.id not in found(open_here().store(), "webhook signature")
    assert ids["webhook"] not in found(other, "webhook signature")
    both = found(other, "webhook signature", filter=Filter(all_projects=True))
    assert {elsewhere.memory.id, ids["webhook"]} <= set(both)


def test_filters_apply_before_the_ranking(store: Store, ids: dict[str, str]) -> None:
    remember(store, Draft("Signature of commits", "Sign them.", type="decision", level=Level.USER))

    assert found(store, "signature", filter=Filter(tags=("webhook",))) == [ids["webhook"]]
    assert ids["webhook"] not in found(store, "signature", filter=Filter(types=("decision",)))
    assert found(store, "signature", filter=Filter(level=Level.PROJECT)) == [ids["webhook"]]
    assert found(store, "signature", filter=Filter(since=datetime(2027, 1, 1, tzinfo=UTC))) == []
    assert len(found(store, "signature", filter=Filter(until=datetime(2027, 1, 1, tzinfo=UTC)))) == 2


def test_as_of_answers_with_what_was_valid_then(store: Store, clock: Clock) -> None:
    old = remember(store, Draft("Database", "We use MySQL."))
    clock.pass_days(10)
    new = remember(store, Draft("Database", "We use Postgres.", supersedes=(old.memory.id,)))

    then = Filter(as_of=datetime(2026, 11, 25, tzinfo=UTC))
    now = Filter(as_of=datetime(2026, 12, 1, tzinfo=UTC))

    assert found(store, "database", filter=then) == [old.memory.id]
    assert found(store, "database", filter=now) == [new.memory.id]


def test_expansion_follows_links_and_gives_the_successor_of_what_is_superseded(store: Store) -> None:
    old = remember(store, Draft("Retry policy", "Three attempts."))
    new = remember(store, Draft("Backoff", "Exponential.", supersedes=(old.memory.id,)))
    wiki = remember(store, Draft("Queue", "Jobs wait here; see [[backoff]]."))
    asked = remember(store, Draft("Worker", "Runs jobs.", links=(Link("depends-on", old.memory.id),)))

    assert found(store, "worker", expand=True) == [asked.memory.id, new.memory.id]
    assert found(store, "queue", expand=True) == [wiki.memory.id, new.memory.id]


def test_recency_settles_equals_but_not_the_order_by_relevance(store: Store, clock: Clock) -> None:
    first = remember(store, Draft("Cache A", "Redis holds sessions."))
    clock.pass_days(200)
    second = remember(store, Draft("Cache B", "Redis holds sessions."))

    assert found(store, "redis sessions") == [second.memory.id, first.memory.id]
    by_relevance = recall(store, Query("redis sessions", sort=Sort.RELEVANCE)).hits
    assert by_relevance[0].score == by_relevance[1].score


def test_an_exact_old_match_is_not_hidden_by_what_is_new(store: Store, clock: Clock) -> None:
    exact = remember(store, Draft("Kafka offset reset", "Set auto.offset.reset to earliest for replay."))
    clock.pass_days(700)
    for number in range(10):
        remember(store, Draft(f"Kafka replay {number}", f"The kafka offset and its replay, number {number}."))

    assert found(store, "kafka offset reset for replay")[0] == exact.memory.id


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

    assert answer.verdict is Verdict.NONE
    assert recall(store, Query("kubernetes ingress", only_confident=True)).hits == ()


def test_a_sure_match_is_said_to_be_sure(store: Store, ids: dict[str, str]) -> None:
    assert recall(store, Query("stripe webhook raw body")).verdict is Verdict.HIGH


def test_beside_a_sure_match_the_next_two_need_less_evidence(store: Store) -> None:
    question = Query("harbour crane lamp oil rope anchor buoy")
    for number in ("One", "Two", "Three"):
        remember(store, Draft(f"Quay {number}", f"{number} has a harbour crane with a lamp and oil."))
        remember(store, Draft(f"Ship {number}", f"{number} has a rope, an anchor and a buoy."))
    assert recall(store, question).verdict is Verdict.NONE

    remember(store, Draft("The yard", "Harbour crane, lamp, oil, rope, anchor, buoy: the yard has it all."))

    hits = recall(store, replace(question, limit=7)).hits
    assert [(hit.title.split()[0], hit.confidence) for hit in hits[:4]] == [
        ("The", Verdict.HIGH),
        ("Quay", Verdict.MEDIUM),
        ("Quay", Verdict.MEDIUM),
        ("Quay", Verdict.NONE),
    ]
    assert {hit.confidence for hit in hits[4:]} == {Verdict.NONE}


def test_every_component_of_a_score_is_explained(store: Store, ids: dict[str, str]) -> None:
    hit = recall(store, Query("webhook signature")).hits[0]

    assert dict(hit.parts.boosts) == {"tag": 1.15}
    assert (hit.parts.words, hit.parts.passage, hit.parts.near) == pytest.approx((1.0, 1.0, 0.0))
    assert hit.parts.relevance == pytest.approx(0.75)
    assert hit.parts.total == hit.score
    assert "words 1.00" in hit.reasons


def test_the_best_of_poor_matches_is_not_taken_for_a_full_one(store: Store, ids: dict[str, str]) -> None:
    parts = recall(store, Query("webhook quagga zebra okapi")).hits[0].parts

    assert parts.words == parts.passage == pytest.approx(parts.coverage / 0.6)
    assert parts.coverage < 0.5


@pytest.mark.parametrize("limit", [0, -1, 51])
def test_a_limit_that_makes_no_sense_is_refused(store: Store, limit: int) -> None:
    with pytest.raises(Rejected, match="limit"):
        recall(store, Query("anything", limit=limit))


@pytest.mark.parametrize("text", ["", "   ", "the", "*", '"', "a" * 200_000, "NEAR(x", "\x00"])
def test_odd_questions_get_an_answer(store: Store, ids: dict[str, str], text: str) -> None:
    recall(store, Query(text))


def test_hits_given_to_a_model_count_once_for_a_query(store: Store, ids: dict[str, str]) -> None:
    recall(store, Query("webhook signature"))
    for _ in range(3):
        recall(store, Query("webhook signature", limit=1), session="s1")
    sync(store)

    with store.database.read() as db:
        counts = dict(db.execute("SELECT ref, accesses FROM usage").fetchall())
    assert {ref.rpartition("/")[2]: count for ref, count in counts.items() if count} == {ids["webhook"]: 3}


def test_without_the_index_the_answers_are_the_same(
    open_here: Callable[..., Opened], ids: dict[str, str]
) -> None:
    questions = [
        "webhook",
        "signature verification",
        "cart totals",
        "mysql",
        "imperative subjects",
        "nothing here",
    ]
    before = [answers(open_here().store(), questions)]
    recall(open_here().store(), Query("webhook"), session="s1")
    opened = open_here()
    sync(opened.store())
    before = answers(opened.store(), questions)
    opened.database.close()
    for path in opened.home.glob("memory.db*"):
        path.unlink()

    assert answers(open_here().store(), questions) == before


def answers(store: Store, questions: Iterable[str]) -> str:
    hits = [[(hit.id, round(hit.score, 9)) for hit in recall(store, Query(text)).hits] for text in questions]
    return json.dumps(hits)


def test_superseded_memories_come_when_asked_for(store: Store, ids: dict[str, str]) -> None:
    remember(store, Draft("New way", "Raw body middleware.", supersedes=(ids["webhook"],)))

    assert ids["webhook"] not in found(store, "signature verification")
    assert ids["webhook"] in found(store, "signature verification", filter=Filter(statuses=ANY_STATUS))


def test_a_time_in_the_question_brings_what_is_of_that_time_first(store: Store, clock: Clock) -> None:
    clock.pass_days(-10)
    then = remember(store, Draft("Release notes", "The release train was moved to Tuesday.")).memory.id
    clock.pass_days(10)
    now = remember(store, Draft("Release news", "The release train was moved to Thursday.")).memory.id

    def found(question: str) -> list[str]:
        return [hit.id for hit in recall(store, Query(question)).hits]

    assert found("to which day was the release train moved last week") == [then, now]
    assert found("to which day was the release train moved today") == [now, then]
    assert found("to which day was the release train moved since 2026-11-19") == [now, then]
