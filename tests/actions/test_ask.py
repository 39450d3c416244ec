"""Questions answered from what is remembered."""

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.ask import ask
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.scripted_model import ScriptedModel, agreed, error, reply


@pytest.fixture
def asking(open_here: Open, model: ScriptedModel) -> Store:
    return open_here(**agreed(model)).store()


def remembered(store: Store) -> str:
    draft = Draft("Invoices in Postgres", "Invoices are kept in Postgres for the reports.", type="decision")
    return remember(store, draft).memory.id


@pytest.mark.feature("A-04", "A-43")
def test_the_answer_cites_what_it_rests_on(asking: Store, model: ScriptedModel) -> None:
    memory_id = remembered(asking)
    model.answers = [reply(f"They are kept in Postgres [{memory_id}].")]

    answer = ask(asking, "where are invoices kept?")

    assert answer.words == f"They are kept in Postgres [{memory_id}]."
    assert answer.cited == (memory_id,)
    assert "Invoices are kept in Postgres for the reports." in model.asked[0].prompt


def test_an_id_that_the_model_made_up_is_taken_out(asking: Store, model: ScriptedModel) -> None:
    memory_id = remembered(asking)
    model.answers = [reply(f"In Postgres [{memory_id}], since March [made-up-id].")]

    answer = ask(asking, "where are invoices kept?")

    assert answer.cited == (memory_id,)
    assert "made-up" not in answer.words


def test_what_nothing_answers_is_not_known_and_costs_nothing(asking: Store, model: ScriptedModel) -> None:
    remembered(asking)

    answer = ask(asking, "which colour has the moon of Endor?")

    assert not answer.known
    assert model.calls == 0


def test_what_the_model_does_not_find_in_the_notes_is_not_known(asking: Store, model: ScriptedModel) -> None:
    remembered(asking)
    model.answers = [reply("NOT KNOWN")]

    assert not ask(asking, "why are invoices kept in Postgres?").known


BILLING = (
    ("Stripe integration via src/lib/stripe.ts", ("billing", "stripe")),
    ("Using Stripe Checkout instead of custom forms", ("billing",)),
    ("Stripe webhook needs raw body parsing", ("stripe",)),
    ("Releases are cut on the first Monday", ("release-train",)),
)


@pytest.mark.parametrize("model_name", ["none", "minilm-l6"])
def test_a_question_for_nothing_but_a_tag_is_answered_by_what_has_it(
    open_here: Open, model_name: str
) -> None:
    store = open_here(EMBEDDING_MODEL=model_name).store()
    ids = [remember(store, Draft(title, f"{title}.", tags=tags)).memory.id for title, tags in BILLING]
    embed_pending(store)

    for question in ("how does billing work?", "billing", "What do we know about billing?"):
        assert {hit.id for hit in ask(store, question).hits} >= set(ids[:2]), question
    assert ids[3] in [hit.id for hit in ask(store, "how does the release train work?").hits]

    for question in ("how does shipping work?", "how does it work?", "how does billing handle cold weather?"):
        assert not ask(store, question).known, question
    assert "- [" not in inject(
        store.in_session("s1"), "how does billing work?"
    )  # a text; a title may be told


def test_an_empty_question_is_refused(store: Store) -> None:
    for question in ("", "  \n"):
        with pytest.raises(Rejected, match="No question"):
            ask(store, question)


@pytest.mark.feature("A-05")
def test_without_consent_the_passages_are_the_answer(store: Store) -> None:
    memory_id = remembered(store)

    answer = ask(store, "where are invoices kept?")

    assert (answer.words, [hit.id for hit in answer.hits]) == ("", [memory_id])
    assert "not allowed it" in answer.why


def test_when_the_service_fails_the_passages_are_the_answer(asking: Store, model: ScriptedModel) -> None:
    memory_id = remembered(asking)
    model.answers = [error(529)]

    answer = ask(asking, "where are invoices kept?")

    assert [hit.id for hit in answer.hits] == [memory_id]
    assert answer.why


@pytest.mark.parametrize("words", [47, 1984], ids=["whole", "cut where a long question is"])
def test_no_part_of_a_secret_in_the_question_is_sent(asking: Store, model: ScriptedModel, words: int) -> None:
    remembered(asking)
    key = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"

    ask(asking, f"{('are invoices kept in Postgres for the reports? ' * 50)[:words]} {key}")

    assert model.calls == 1
    assert key[:10] not in str(model.asked[0].body)


def test_the_same_question_may_be_asked_again_and_again(
    asking: Store, model: ScriptedModel, clock: Clock
) -> None:
    memory_id = remembered(asking)
    model.answers = [reply(f"In Postgres [{memory_id}].")]
    words = set()
    for _ in range(6):
        clock.pass_days(0.001)
        words.add(ask(asking, "where are invoices kept?").words)

    assert words == {f"In Postgres [{memory_id}]."}
