"""A team's memories are found by words and by meaning, and every filter holds."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import SettingsError
from mcp_server.core.memory_parts import Status
from mcp_server.core.ports import Embedder
from mcp_server.core.search.query import ANY_STATUS, Confidence, Filter, Mode, Query, Sort
from mcp_server.embedding import load_embedder
from tests.durability.served import eventually
from tests.postgres import administrator, empty_database
from tests.team_database.teams import MOMENT, Opened, memory, storages

ANSWERS = (
    memory(
        "webhook", "Body parsing must be skipped, or the signature is wrong.", title="Webhook", type="gotcha"
    ),
    memory("deploys", "Releases go out from the release branch on Tuesdays.", tags=("ops", "c++")),
    memory("prices", "Prices are stored without value added tax.", category="money"),
    replace(memory("port", "The server listens on port 8081."), status=Status.SUPERSEDED),
    replace(
        memory("ledger", "The ledger is written before the answer.", touches=("src/ledger.py:7",)),
        updated=MOMENT + timedelta(days=3),
    ),
)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The model that is shipped."""
    return load_embedder(tmp_path_factory.mktemp("home"), "minilm-l6")


def passages(url: str) -> list[int]:
    """Return the numbers of the passages; a new one has a new number, and waits to be embedded."""
    with psycopg.connect(url) as db:
        return [row for (row,) in db.execute("SELECT row FROM daybook.passages ORDER BY row")]


def wait_until_embedded(url: str) -> None:
    """Return when no passage waits for its vector any more."""

    def is_done() -> bool:
        with psycopg.connect(url) as db:
            return not db.execute("SELECT FROM daybook.unembedded").fetchall()

    eventually(is_done, "every passage has its vector")


@pytest.fixture
def meaning(url: str, embedder: Embedder) -> Iterator[Opened]:
    """A team that is searched by meaning, with the answers in it."""
    with open_database(url, embedder=embedder) as team:
        by = storages(team)
        for answer in ANSWERS:
            by["anna"].save(answer)
        wait_until_embedded(url)
        yield Opened(url, team, by)


def ids_found(opened: Opened, query: Query) -> list[str]:
    return [result.stored.memory.id for result in opened.by["rita"].search(query).results]


def test_a_question_in_other_words_is_answered_by_meaning(meaning: Opened) -> None:
    query = Query("on which weekday do we ship new versions?")
    results = meaning.by["rita"].search(query)
    assert results.semantic
    assert results.results[0].stored.memory.id == "deploys"
    assert results.results[0].score.maxsim is not None
    assert ids_found(meaning, replace(query, mode=Mode.KEYWORD)) == []
    assert meaning.by["rita"].team().model == "minilm-l6-int8"


def test_what_is_asked_for_is_answered_with_confidence_and_the_rest_is_not(meaning: Opened) -> None:
    best = meaning.by["rita"].search(Query("why must body parsing be skipped for the webhook?")).results[0]
    assert (best.stored.memory.id, best.confidence) == ("webhook", Confidence.HIGH)
    others = meaning.by["rita"].search(Query("who won the football match in Lisbon?")).results
    assert {result.confidence for result in others} <= {Confidence.NONE}
    assert ids_found(meaning, Query("who won the football match in Lisbon?", only_confident=True)) == []


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
def test_every_filter_holds(meaning: Opened, mode: Mode) -> None:
    text = "webhook releases prices port ledger"
    for filter, expected in (
        (Filter(), {"webhook", "deploys", "prices", "ledger"}),
        (Filter(types=("gotcha",)), {"webhook"}),
        (Filter(tags=("ops",)), {"deploys"}),
        (Filter(tags=("c|c++",)), {"deploys"}),
        (Filter(category="money"), {"prices"}),
        (Filter(since=MOMENT + timedelta(days=1)), {"ledger"}),
        (Filter(until=MOMENT + timedelta(days=1)), {"webhook", "deploys", "prices"}),
        (Filter(touches="ledger.py"), {"ledger"}),
        (Filter(statuses=ANY_STATUS), {"webhook", "deploys", "prices", "ledger", "port"}),
        (Filter(statuses=(Status.SUPERSEDED,)), {"port"}),
        (Filter(as_of=MOMENT - timedelta(days=1)), set()),
    ):
        query = Query(text, mode=mode, sort=Sort.RELEVANCE, limit=10, filter=filter)
        assert {*ids_found(meaning, query)} == expected, filter


def test_a_change_is_embedded_anew_and_what_stays_is_not(meaning: Opened) -> None:
    anna = meaning.by["anna"]
    stored, before = anna.load("deploys"), passages(meaning.url)
    stored = anna.save(replace(stored.memory, type="reference"), replaces=stored.digest)
    assert passages(meaning.url) == before
    anna.save(replace(stored.memory, text="The cat sleeps on the sofa."), replaces=stored.digest)
    assert passages(meaning.url) != before
    wait_until_embedded(meaning.url)
    assert ids_found(meaning, Query("where is the pet?", limit=1)) == ["deploys"]


def test_vectors_of_another_model_are_refused_until_all_is_embedded_anew(
    meaning: Opened, embedder: Embedder
) -> None:
    with psycopg.connect(meaning.url) as db:
        db.execute("UPDATE daybook.team SET model = 'another'")
    with (
        pytest.raises(SettingsError, match="vectors are those of another"),
        open_database(meaning.url, embedder=embedder),
    ):
        pass
    with open_database(meaning.url, embedder=embedder, embed_anew=True) as team:
        wait_until_embedded(meaning.url)
        member = team.members()[0]
        query = Query("on which weekday do we ship new versions?")
        assert team.storage_for(member).search(query).results[0].stored.memory.id == "deploys"


def test_without_pgvector_it_is_searched_by_words_and_says_so(url: str, embedder: Embedder) -> None:
    with open_database(url):
        pass  # the roles are there
    with empty_database() as other, administrator(conninfo_to_dict(other)["dbname"]) as db:
        # A login that may have a schema, and no longer make an extension.
        db.execute("CREATE ROLE unable LOGIN")
        try:
            db.execute("GRANT daybook_reader, daybook_writer, daybook_curator TO unable")
            db.execute("CREATE SCHEMA daybook AUTHORIZATION unable")
            own = make_conninfo(other, user="unable")
            with open_database(own, embedder=embedder) as team:
                by = storages(team)
                by["anna"].save(ANSWERS[0])
                results = by["rita"].search(Query("body parsing of the webhook"))
                assert (team.semantic, results.semantic, by["rita"].team().model) == (False, False, "")
                assert results.results[0].stored.memory.id == "webhook"
        finally:
            db.execute("DROP OWNED BY unable CASCADE; DROP ROLE unable")
