"""A model behind an endpoint: switching there and back, and what becomes of a search while it is away."""

import threading

import pytest

from mcp_server.actions.context.inject import decide
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.choose_embedder import choose, list_models, progress
from mcp_server.actions.model.embed import embed_pending, pending
from mcp_server.actions.recall import evidence
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.checks import CheckedPart, OpenedModel
from mcp_server.actions.status.doctor import doctor
from mcp_server.actions.status.status import status
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Mode, Query
from mcp_server.store import Store
from tests.actions.choose_embedder.chosen import MEMORIES, TITLES, Chosen, stored_models
from tests.embedding_endpoint import NAME, embeds, setting, texts
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.scripted_model import Answer, ScriptedModel


def use(chosen: Chosen, named: str, key: str | None = None) -> Store:
    choose(chosen.store, named, load=chosen.opened.load_embedder, key=key)
    return chosen.store


def config(chosen: Chosen) -> str:
    return (chosen.opened.home / "config.toml").read_text(encoding="utf-8")


def test_memories_are_embedded_there_and_back(filled: Chosen) -> None:
    old = filled.store.settings.embedding_model
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        assert config(filled) == f'embedding_model = "{setting(server)}#8"\n'
        assert embed_pending(store) == MEMORIES
        answer = recall(store, Query(TITLES[0], mode=Mode.SEMANTIC, limit=1))
        assert stored_models(store) == {NAME}

        calls = server.calls
        store = use(filled, old)
        assert embed_pending(store) == MEMORIES
        assert recall(store, Query(TITLES[0], mode=Mode.SEMANTIC)).semantic
        assert server.calls == calls

    assert [hit.title for hit in answer.hits] == [TITLES[0]]
    assert answer.hits[0].parts.cosine == pytest.approx(1.0, abs=0.3)
    assert stored_models(store) == {"old"}


def test_what_is_listed_and_told_names_the_endpoint(filled: Chosen) -> None:
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        named = f"{setting(server)}#8"

        assert progress(store).chosen == named
        assert [model.name for model in list_models(store) if model.chosen] == [named]
        assert status(store, has_key=False).stats.model == named
        checks = {check.part: check for check in doctor(store, plugin=ROOT)}
        assert checks[CheckedPart.EMBEDDING_MODEL].well
        seen = checks[CheckedPart.EMBEDDING_MODEL].seen
        assert isinstance(seen, OpenedModel) and seen.sends_to == named
    checks = {check.part: check for check in doctor(filled.another_process(), plugin=ROOT)}
    assert not checks[CheckedPart.EMBEDDING_MODEL].well
    assert "could not be reached" in str(checks[CheckedPart.EMBEDDING_MODEL].seen)
    assert checks[CheckedPart.ROUND_TRIP].well


def test_an_endpoint_that_does_not_answer_is_not_chosen(filled: Chosen) -> None:
    before = config(filled)
    with ScriptedModel([Answer(404)]) as server, pytest.raises(EmbedderUnavailable, match="lacks the model"):
        use(filled, setting(server))

    assert config(filled) == before


def test_while_the_endpoint_is_away_words_answer_and_afterwards_it_goes_on(filled: Chosen) -> None:
    def serving(body: dict[str, object]) -> Answer:
        return embeds()(body) if reachable.is_set() else Answer(404)

    reachable = threading.Event()
    reachable.set()
    with ScriptedModel(serving) as server:
        store = use(filled, setting(server))
        assert embed_pending(store, most=16) == 16
        reachable.clear()

        answer = recall(store, Query(TITLES[-1], limit=1))
        assert [hit.title for hit in answer.hits] == [TITLES[-1]]
        assert not answer.semantic
        assert "lacks the model" in store.meaning.problem
        assert embed_pending(store) == 0
        assert pending(store) == MEMORIES - 16

        reachable.set()
        store = filled.another_process()
        assert embed_pending(store) == MEMORIES - 16
        assert recall(store, Query(TITLES[-1], mode=Mode.SEMANTIC)).semantic
        assert store.meaning.problem == ""


def test_by_meaning_alone_words_answer_while_the_endpoint_is_away(filled: Chosen) -> None:
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        embed_pending(store)

    answer = recall(store, Query(TITLES[0], mode=Mode.SEMANTIC, limit=1))

    assert not answer.semantic
    assert [hit.title for hit in answer.hits] == [TITLES[0]]


def test_a_prompt_does_not_wait_for_a_slow_endpoint(filled: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    # The server answers only when the prompt was answered: waiting for it would never end.
    monkeypatch.setattr(evidence, "PATIENCE", PATIENCE)
    released = threading.Event()
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        embed_pending(store)
        server.answers = lambda body: Answer(body=embeds()(body).body, after=released)

        decided = decide(store.in_session("s"), f"What is known of {TITLES[0]}? Tell me of {TITLES[1]}.")

        assert not decided.semantic
        assert "within 0.3 seconds" in store.meaning.problem
        released.set()


def test_a_prompt_of_several_sentences_is_one_request(filled: Chosen) -> None:
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        embed_pending(store)
        before = server.calls
        decided = decide(store.in_session("s"), f"Look at {TITLES[0]} now. Then tell me of {TITLES[1]}.")

        assert decided.semantic
        assert server.calls == before + 1
        assert len(server.asked[-1].body["input"]) == 3


@pytest.mark.parametrize(
    "prompt",
    [
        "Repair the quagga door. The plan is confidential stuff. Then look at zebra number 1. #skip",
        "Repair the quagga door. <private>The plan is confidential. Nobody knows it.</private> Then go home.",
        "Repair the quagga door. The confidential key is AKIAQ3EGRXP6DNQTEZXV. Then look at zebra number 1.",
    ],
)
def test_what_is_private_or_secret_in_a_question_is_not_sent(filled: Chosen, prompt: str) -> None:
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        embed_pending(store)
        before = server.calls

        assert not decide(store.in_session("s"), prompt).semantic
        assert not recall(store, Query(prompt)).semantic
        assert server.calls == before
        assert recall(store, Query("Repair the quagga door")).semantic
        assert not [text for text in texts(server) if "confidential" in text]


def test_secrets_in_memories_are_masked_before_they_are_sent(chosen: Chosen) -> None:
    with ScriptedModel(embeds()) as server:
        store = use(chosen, setting(server))
        draft = Draft("Key", "The key of the old bucket is AKIAQ3EGRXP6DNQTEZXV.")
        remember(store, draft, keep_secrets=True)
        embed_pending(store)

        sent_text = " ".join(texts(server))
        assert "old bucket" in sent_text
        assert "AKIAQ3EGRXP6DNQTEZXV" not in sent_text


def test_what_the_person_no_longer_chooses_is_sent_nothing_more(filled: Chosen) -> None:
    old = filled.store.settings.embedding_model
    with ScriptedModel(embeds()) as server:
        store = use(filled, setting(server))
        before = server.calls

        count = embed_pending(store, progress=lambda _: use(filled, old) and None)

        assert count == 16
        assert server.calls == before + 1


def test_a_model_that_changed_is_refused_until_it_is_chosen_again(filled: Chosen) -> None:
    with ScriptedModel(embeds(8)) as server:
        store = use(filled, setting(server))
        embed_pending(store)
        other_store = filled.another_process()
        server.answers = embeds(12)
        assert not recall(other_store, Query(TITLES[0])).semantic
        assert "12 numbers instead of 8" in other_store.meaning.problem

        store = use(filled, setting(server))
        assert embed_pending(store) == MEMORIES
        assert recall(other_store, Query(TITLES[0])).semantic  # without a new start
        assert other_store.meaning.problem == ""


def test_a_key_goes_only_to_the_address_that_it_was_given_for(chosen: Chosen) -> None:
    with ScriptedModel(embeds()) as first, ScriptedModel(embeds()) as second:
        use(chosen, setting(first), key="the-first")
        use(chosen, setting(first, "another"))
        assert 'embedding_api_key = "the-first"' in config(chosen)
        use(chosen, setting(second))

        assert 'embedding_api_key = ""' in config(chosen)
        recall(chosen.store, Query("quagga"))
    assert "the-first" not in str([request.headers for request in second.asked[1:]])
