"""What a question finds: by words, by meaning, within its filters."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import ANY_STATUS, Answer, Confidence, Filter, Mode, Query, filter_of
from mcp_server.store import Store
from tests.actions.recall.notes import fill, ids_found
from tests.conftest import Clock, Open

# By words and by meaning


@pytest.mark.feature("A-04", "D-06")
def test_words_find_a_memory(store: Store, ids: dict[str, str]) -> None:
    assert ids_found(store, "signature verification")[0] == ids["webhook"]


def test_a_part_of_an_identifier_finds_it(store: Store, ids: dict[str, str]) -> None:
    assert ids_found(store, "cart totals")[0] == ids["cart"]
    assert ids_found(store, "updateCartTotals")[0] == ids["cart"]


@pytest.mark.parametrize("tagged", [False, True])
def test_languages_that_only_signs_tell_apart_are_told_apart(store: Store, tagged: bool) -> None:
    ids = {}
    for name in ("C++", "C", "F#", "C#", "net income", ".NET", "Node.js", "graph node"):
        wording, tags = ("This one", (name,)) if tagged else (name, ())
        draft = Draft(f"Style {len(ids)}", f"{wording} is linted before a merge.", tags=tags)
        ids[name] = remember(store, draft).memory.id

    for question, language in {
        "C#": "C#", "c#?": "C#", "csharp": "C#", "C++": "C++", "cpp": "C++", "C++17": "C++", "F#": "F#",
        "C": "C", "which C linter": "C", ".NET": ".NET", "dotnet": ".NET", "nodejs": "Node.js",
        "node.js": "Node.js",
    }.items():  # fmt: skip
        best = recall(store, Query(question, mode=Mode.KEYWORD, filter=Filter())).hits[0]
        assert best.id == ids[language], question


@pytest.mark.feature("B-09", "B-37", "D-06")
def test_meaning_finds_what_no_word_does(meaning_store: Store) -> None:
    ids = fill(meaning_store)
    embed_pending(meaning_store)

    answer = recall(meaning_store, Query("payload of an incoming HTTP callback", mode=Mode.HYBRID))

    assert answer.semantic
    assert answer.hits[0].id == ids["webhook"]
    assert answer.hits[0].parts.words == 0


@pytest.mark.feature("D-20")
def test_each_mode_looks_by_what_it_is_called_after(meaning_store: Store) -> None:
    fill(meaning_store)
    embed_pending(meaning_store)

    def parts(mode: Mode) -> tuple[bool, bool]:
        """Tell whether words counted, and whether meaning did."""
        best = recall(meaning_store, Query("signature verification of a callback", mode=mode)).hits[0]
        return best.parts.words > 0, best.parts.cosine is not None

    assert parts(Mode.KEYWORD) == (True, False)
    assert parts(Mode.SEMANTIC) == (False, True)
    assert parts(Mode.HYBRID) == (True, True)


def test_an_edit_keeps_what_the_model_made_of_the_passages_that_stay(meaning_store: Store) -> None:
    memory = remember(meaning_store, Draft("Parts", "# One\n\nfirst words\n\n# Two\n\nsecond words")).memory
    embed_pending(meaning_store)
    before = made_of(meaning_store)

    revise(meaning_store, memory.id, Revision(text="# One\n\nfirst words\n\n# Two\n\nother words"))

    stays = {text: vectors for text, vectors in before.items() if "first" in text}
    assert made_of(meaning_store) == stays
    assert all(signs for _, signs in stays.values())


def made_of(store: Store) -> dict[str, tuple[bytes, bytes]]:
    """Return passage → its embedding and signs, of those that have them."""
    with store.database.read() as db:
        rows = db.execute(
            "SELECT p.text, v.embedding, v.signs FROM passages p JOIN vectors v ON v.passage = p.row"
        ).fetchall()
    return {text: (embedding, signs) for text, embedding, signs in rows}


def test_while_the_model_loads_the_words_answer(open_here: Open, memory_dir: Path) -> None:
    opened = open_here(EMBEDDING_MODEL="minilm-l6")
    loading = Opened({**opened.environment}, folder=opened.folder, wait_for_model=False)
    ids = fill(opened.store())

    answer = recall(loading.store(), Query("signature verification"))

    assert answer.hits[0].id == ids["webhook"]


# Within filters


@pytest.mark.feature("D-43")
def test_the_default_search_sees_the_person_and_this_project_only(
    open_here: Open, ids: dict[str, str], tmp_path: Path
) -> None:
    other = open_here(folder=tmp_path / "blog").store()
    elsewhere = remember(other, Draft("Blog webhook", "Another signature."))

    assert elsewhere.memory.id not in ids_found(open_here().store(), "webhook signature")
    assert ids["webhook"] not in ids_found(other, "webhook signature")
    ids_everywhere = ids_found(other, "webhook signature", filter=Filter(all_projects=True))
    assert {elsewhere.memory.id, ids["webhook"]} <= set(ids_everywhere)


@pytest.mark.feature("D-14")
def test_filters_apply_before_the_ranking(store: Store, ids: dict[str, str]) -> None:
    remember(store, Draft("Signature of commits", "Sign them.", type="decision", level=Level.USER))

    assert ids_found(store, "signature", filter=Filter(tags=("webhook",))) == [ids["webhook"]]
    assert ids["webhook"] not in ids_found(store, "signature", filter=Filter(types=("decision",)))
    assert ids_found(store, "signature", filter=Filter(level=Level.PROJECT)) == [ids["webhook"]]
    assert ids_found(store, "signature", filter=Filter(since=datetime(2027, 1, 1, tzinfo=UTC))) == []
    assert len(ids_found(store, "signature", filter=Filter(until=datetime(2027, 1, 1, tzinfo=UTC)))) == 2


def test_as_of_answers_with_what_was_valid_then(store: Store, clock: Clock) -> None:
    old = remember(store, Draft("Database", "We use MySQL."))
    clock.pass_days(10)
    new = remember(store, Draft("Database", "We use Postgres.", supersedes=(old.memory.id,)))

    then = Filter(as_of=datetime(2026, 11, 25, tzinfo=UTC))
    now = Filter(as_of=datetime(2026, 12, 1, tzinfo=UTC))

    assert ids_found(store, "database", filter=then) == [old.memory.id]
    assert ids_found(store, "database", filter=now) == [new.memory.id]


def test_as_of_a_day_is_as_of_its_end_whatever_the_hour(store: Store) -> None:
    today = remember(store, Draft("Database", "We use MySQL.")).memory

    for day, expected in ((f"{today.created:%Y-%m-%d}", [today.id]), ("2026-11-19", [])):
        assert ids_found(store, "database", filter=filter_of(as_of=day)) == expected, day
    assert ids_found(store, "database", filter=filter_of(as_of=f"{today.created:%Y-%m-%d}T00:00")) == []


def test_what_replaced_something_names_what_was_before(store: Store) -> None:
    old = remember(store, Draft("Bundler", "We use webpack.")).memory.id
    new = remember(store, Draft("Bundler", "We use vite.", supersedes=(old,))).memory.id
    remember(store, Draft("Bundler of the docs", "They use rollup."))

    hits = recall(store, Query("what did we use before vite")).hits

    assert {hit.id: hit.replaced for hit in hits if hit.replaced} == {new: (old,)}


def test_superseded_memories_come_when_asked_for(store: Store, ids: dict[str, str]) -> None:
    remember(store, Draft("New way", "Raw body middleware.", supersedes=(ids["webhook"],)))

    assert ids["webhook"] not in ids_found(store, "signature verification")
    assert ids["webhook"] in ids_found(store, "signature verification", filter=Filter(statuses=ANY_STATUS))


def test_expansion_follows_links_and_gives_the_successor_of_what_is_superseded(store: Store) -> None:
    old = remember(store, Draft("Retry policy", "Three attempts."))
    new = remember(store, Draft("Backoff", "Exponential.", supersedes=(old.memory.id,)))
    wiki = remember(store, Draft("Queue", "Jobs wait here; see [[backoff]]."))
    worker = remember(store, Draft("Worker", "Runs jobs.", links=(Link("depends-on", old.memory.id),)))

    assert ids_found(store, "worker", expand=True) == [worker.memory.id, new.memory.id]
    assert ids_found(store, "queue", expand=True) == [wiki.memory.id, new.memory.id]


# Whatever is asked


@pytest.mark.feature("D-31")
@pytest.mark.parametrize("limit", [0, -1, 51])
def test_a_limit_that_makes_no_sense_is_refused(store: Store, limit: int) -> None:
    with pytest.raises(Rejected, match="limit"):
        recall(store, Query("anything", limit=limit))


@pytest.mark.parametrize("text", ["", "   ", "the", "*", '"', "a" * 200_000, "NEAR(x", "\x00"])
def test_odd_questions_get_an_answer(store: Store, ids: dict[str, str], text: str) -> None:
    recall(store, Query(text))


@pytest.mark.feature("A-20")
def test_hits_given_to_a_model_count_once_for_a_query(store: Store, ids: dict[str, str]) -> None:
    recall(store, Query("webhook signature"))
    for _ in range(3):
        recall(store, Query("webhook signature", limit=1), given_to="s1")
    sync(store)

    with store.database.read() as db:
        counts = dict(db.execute("SELECT ref, accesses FROM usage").fetchall())
    assert {ref.rpartition("/")[2]: count for ref, count in counts.items() if count} == {ids["webhook"]: 3}


def test_without_the_index_the_answers_are_the_same(open_here: Open, ids: dict[str, str]) -> None:
    questions = [
        "webhook",
        "signature verification",
        "cart totals",
        "mysql",
        "imperative subjects",
        "nothing here",
    ]
    recall(open_here().store(), Query("webhook"), given_to="s1")
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


@pytest.mark.parametrize("question", ["88213", "q7xk2", "what is 88213?"])
def test_a_number_or_code_that_stands_in_a_memory_is_an_answer(meaning_store: Store, question: str) -> None:
    invoices = remember(
        meaning_store,
        Draft("Migration of invoices", "Stopped at invoice 88213 of batch q7xk2, whose VAT ids are missing."),
    ).memory.id
    remember(meaning_store, Draft("Invoice 90144", "Paid by card."))
    embed_pending(meaning_store)

    answer = recall(meaning_store, Query(question))

    assert answer.verdict is not Confidence.NONE
    assert answer.hits[0].id == invoices
    assert recall(meaning_store, Query("55511")).verdict is Confidence.NONE


def test_an_answer_without_hits_says_whether_anything_is_known_here(store: Store) -> None:
    assert not recall(store, Query("herons")).is_anything_known

    gone = remember(store, Draft("Webhook", "The signature is checked."))
    assert recall(store, Query("herons")) == Answer(Confidence.NONE, (), semantic=False)
    archive(store, [gone.memory.id])
    assert recall(store, Query("herons")).is_anything_known
    assert recall(store, Query("herons", filter=Filter(level=Level.USER))).is_anything_known
