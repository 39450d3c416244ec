"""A secret that lies where a text is cut: its end, or its beginning, looks like nothing by itself."""

import random

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.model.choose_embedder import choose
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.ledger import Ledger
from mcp_server.bootstrap import Opened
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.choose_embedder.chosen import Chosen
from tests.conftest import Open
from tests.core.made_secrets import ALNUM, any_of, private_key
from tests.embedding_endpoint import embeds, setting, texts
from tests.memories import stored
from tests.scripted_model import ScriptedModel

SOURCE = random.Random(20261126)
KEY = "\n".join(private_key("RSA PRIVATE" + " KEY")(SOURCE).split("\n")[1:-1] * 4)  # too long for a passage
BEGIN, END = (f"-----{edge} RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END"))
TOKEN = any_of(ALNUM, 36, "gh", "p_")(SOURCE)


@pytest.fixture
def with_key(opened: Opened) -> Store:
    """A store in which a person's own file holds a private key between its words."""
    store = opened.store()
    path = store.home / "knowledge" / "deploying.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Deploying\n\nThe key of the quagga host:\n\n{BEGIN}\n{KEY}\n{END}\n\nRotate it.\n")
    sync(store)
    return store


def test_no_line_of_a_private_key_is_shown_by_a_search(with_key: Store) -> None:
    lines = KEY.split("\n")

    answers = [recall(with_key, Query(words)) for words in ("quagga", "rotate", lines[9])]

    assert [hit.id for hit in answers[0].hits] == ["deploying"]
    assert not [line for line in lines for answer in answers if line in str(answer)]


def test_no_line_of_a_private_key_is_sent_to_an_endpoint(with_key: Store, open_here: Open) -> None:
    with ScriptedModel(embeds()) as server:
        chosen = Chosen(open_here)
        choose(chosen.store, setting(server), load=chosen.opened.load_embedder)
        embed_pending(chosen.store)

        sent = "\n".join(texts(server))

    assert "quagga" in sent
    assert not [line for line in KEY.split("\n") if line in sent]


@pytest.mark.parametrize("before", [176, 180, 190])
def test_the_beginning_of_a_token_is_not_kept_with_a_question(store: Store, before: int) -> None:
    stored(store, "The quagga opens at noon.")

    recall(store, Query(f"{'quagga ' * (before // 7):<{before}}{TOKEN}"), given_to="s")

    kept = "".join(path.read_text() for path in Ledger(store.home / "ledger").paths())
    assert "quagga quagga" in kept and TOKEN[:8] not in kept
