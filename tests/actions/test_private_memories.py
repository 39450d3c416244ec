"""What the person marked as private in a memory leaves the machine with no call that Daybook makes."""

import pytest

from mcp_server.actions.capture.occasions import ask as ask_for_occasions
from mcp_server.actions.model.choose_embedder import choose
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall.ask import ask
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.search.query import Mode, Query
from mcp_server.store import Store
from tests.actions.learn.learned import learn, open_learning
from tests.conftest import Clock, Open
from tests.embedding_endpoint import embeds, setting, texts
from tests.memories import decided
from tests.recorded import Recorded, kept
from tests.scripted_model import ScriptedModel

CODE = "mango pickle seven"
LONG = "\n\n".join(f"Paragraph {number} of the invoices. {'And so on. ' * 30}" for number in range(4))


@pytest.fixture
def learning(open_here: Open, model: ScriptedModel, clock: Clock) -> Store:
    """A store whose person agreed to calls, with memories of last week that have a private part."""
    store = open_learning(open_here, model)
    kept_in = f"Invoices are kept in Postgres. <private>{CODE}</private> For the reports."
    decided(store, kept_in, title="Invoices")
    long = f"Invoices are long.\n\n<private>\n\n{LONG}\n\n{CODE}\n\n</private>"
    decided(store, long, title="Long invoices", source="assistant")
    decided(store, f"<private>{CODE} and invoices</private>", title=f"<private>{CODE} invoices</private>")
    for number in range(6):
        rule = f"Invoice rule {number} is settled. <private>{CODE}</private>"
        decided(store, rule, title=f"Rule {number}")
        decided(store, rule, title=f"Claude's rule {number}", source="assistant")
    clock.pass_days(3)
    return store


def sent(model: ScriptedModel) -> str:
    assert model.calls
    return "\n".join(f"{request.body}" for request in model.asked)


def test_it_is_not_sent_with_a_piece_of_a_session(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    recorded.user("We decided that invoices are kept in Postgres for the reports, with mango and pickle.")

    learn(learning, kept(learning, recorded))

    assert "Invoices are kept in Postgres." in sent(model)
    assert CODE not in sent(model)


def test_it_is_not_sent_with_a_question(learning: Store, model: ScriptedModel) -> None:
    ask(learning, "where are invoices kept, and which mango? <private>pickle seven, I think</private>")

    assert "For the reports." in sent(model)
    assert "pickle" not in sent(model).replace("For the reports.", "")


def test_a_question_that_is_all_private_is_not_asked(learning: Store, model: ScriptedModel) -> None:
    answer = ask(learning, "<private>where are invoices kept?</private>")

    assert model.calls == 0
    assert "is private: no model is asked" in answer.why
    assert answer.hits


def test_no_model_is_asked_when_it_helps_and_what_may_become_of_it(
    learning: Store, model: ScriptedModel
) -> None:
    ask_for_occasions(learning)
    assert model.calls == 0

    tidy(learning)
    assert model.calls == 0


def test_it_is_not_sent_to_an_endpoint_that_embeds(open_here: Open, learning: Store) -> None:
    opened = open_here(EMBEDDING_MODEL="")
    decided(learning, "Deploys go through Fly.")
    with ScriptedModel(embeds()) as server:
        choose(opened.store(), setting(server), load=opened.load_embedder)
        store = opened.store()
        embed_pending(store)
        found = recall(store, Query("invoices kept in Postgres", limit=1))
        by_meaning = recall(store, Query("deploys Fly", mode=Mode.SEMANTIC))

        assert "Deploys go through Fly." in texts(server)
        assert not any("mango" in text or "Paragraph" in text for text in texts(server))
    assert pending(store) == 0
    assert "Invoices are kept" in found.hits[0].text
    assert by_meaning.hits[0].title == "Deploys go through Fly."
