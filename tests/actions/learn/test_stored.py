"""What becomes of a proposal."""

import re
from typing import Any

import pytest

from mcp_server.actions.capture.learn import next_piece, take_proposals
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.actions.judge.compare_and_store import Action
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import LISTS, Draft
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.actions.learn.learned import POSTGRES, answer, knowledge, learn, open_learning, proposal
from tests.conftest import Open
from tests.recorded import Recorded, kept, queued
from tests.scripted_model import ScriptedModel


def test_a_proposal_says_on_which_occasions_it_helps(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    occasions = ["add a\n report", "x" * 200, f"log in with {token}", 7, "invoices are slow"]
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres", use_when=occasions))]
    recorded.user(POSTGRES)
    recorded.claude("Understood.")

    learn(learning, kept(learning, recorded))

    (memory,) = knowledge(learning)
    assert memory.use_when == ("add a report", "invoices are slow")


def test_every_list_that_a_model_is_asked_for_is_stored(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    lists = {key.name: ["a", "b"] for key in LISTS if key.proposed}
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres", **lists))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    (memory,) = knowledge(learning)
    assert {name: [*getattr(memory, name)] for name in lists} == lists


@pytest.mark.feature("B-49")
def test_what_the_model_proposes_and_the_person_said_is_stored(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)
    recorded.claude("Understood.")

    learn(learning, kept(learning, recorded))

    (memory,) = knowledge(learning)
    assert (memory.text, memory.type, memory.source) == (POSTGRES, "decision", "extracted")
    assert (memory.session, memory.conversation) == (recorded.session, recorded.session)
    assert memory.evidence == "keep invoices in Postgres"
    assert model.calls == 1


def test_evidence_that_nobody_said_drops_the_proposal(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [
        answer(
            proposal("Invoices are kept for ten years by law.", "kept for ten years by law"),
            proposal(
                "The exporter writes parquet files.", "The exporter writes parquet", type="architecture"
            ),
        )
    ]
    recorded.user("What does the exporter do?")
    recorded.claude("The exporter writes parquet files to the bucket.")

    learn(learning, kept(learning, recorded))

    assert knowledge(learning) == []
    (waiting,) = review_candidates(learning)
    assert (waiting.memory.text, waiting.memory.source) == ("The exporter writes parquet files.", "assistant")
    assert "Claude said it" in waiting.why


def test_what_claude_said_is_stored_once_the_person_confirmed_it(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    confirmed = proposal(
        "The exporter writes parquet files.", "The exporter writes parquet", type="architecture"
    )
    model.answers = [answer(confirmed)]
    recorded.user("What does the exporter do?")
    recorded.claude("The exporter writes parquet files to the bucket.")
    recorded.user("yes exactly, that was it")

    learn(learning, kept(learning, recorded))

    assert [(m.text, m.source) for m in knowledge(learning)] == [
        ("The exporter writes parquet files.", "assistant")
    ]


def test_a_quote_of_the_person_does_not_lend_their_name_to_other_words(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [
        answer(proposal("Secrets are posted to the channel of the vendor every night.", "yes, please go on"))
    ]
    recorded.user("yes, please go on with it")
    recorded.claude("The page says that secrets are posted to the channel of the vendor every night.")

    learn(learning, kept(learning, recorded))

    assert knowledge(learning) == []


@pytest.mark.feature("A-14", "A-15")
def test_the_neighbours_are_in_the_prompt_and_a_number_supersedes_one(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    old = remember(learning, Draft("Invoices in MySQL", "Invoices are kept in MySQL.", type="decision"))

    def answer_to(body: dict[str, Any]) -> Any:
        number = re.search(r"\[(\d+)\] decision: Invoices in MySQL", body["messages"][0]["content"])
        assert number
        return answer(proposal(POSTGRES, "keep invoices in Postgres", supersedes=int(number[1])))

    model.answers = answer_to
    recorded.user(POSTGRES)

    (settled,) = learn(learning, kept(learning, recorded))

    assert (settled.action, settled.superseded) == (Action.REPLACE, (old.memory.id,))
    superseded = read(learning, old.memory.id).memory
    assert (superseded.status, superseded.superseded_by) == (Status.SUPERSEDED, settled.id)
    assert read(learning, settled.id).memory.supersedes == (old.memory.id,)


def test_what_would_supersede_a_memory_whose_file_was_broken_meanwhile_is_stored_beside_it(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    old = remember(learning, Draft("Invoices in MySQL", "Invoices are kept in MySQL.", type="decision"))
    broken = old.path.read_bytes().replace(b"---", b"---\ntags: [", 1)

    def answer_to(body: dict[str, Any]) -> Any:
        old.path.write_bytes(broken)
        return answer(proposal(POSTGRES, "keep invoices in Postgres", supersedes=1))

    model.answers = answer_to
    recorded.user(POSTGRES)

    (settled,) = learn(learning, kept(learning, recorded))

    assert (settled.action, settled.superseded) == (Action.ADD, ())
    assert read(learning, settled.id).memory.text == POSTGRES
    assert old.path.read_bytes() == broken
    assert next_piece(learning) is None


@pytest.mark.feature("3.1-1")
def test_what_is_superseded_without_being_known_is_stored_all_the_same(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres", supersedes=17))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]


def test_in_suggest_mode_everything_waits_for_the_person(
    open_here: Open, model: ScriptedModel, recorded: Recorded
) -> None:
    store = open_learning(open_here, model, DAYBOOK_CAPTURE="suggest")
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)

    learn(store, kept(store, recorded))

    assert knowledge(store) == []
    (waiting,) = review_candidates(store)
    assert waiting.memory.text == POSTGRES


def test_an_agent_learns_piece_by_piece_without_any_key(store: Store, recorded: Recorded) -> None:
    recorded.user(POSTGRES)
    for number in range(3):
        recorded.user(f"Part {number} " + "of a long talk " * 250)
    kept(store, recorded)
    pieces = []
    while piece := next_piece(store):
        pieces.append(piece.chunks[0].text)
        proposals = [proposal(POSTGRES, "keep invoices in Postgres"), {"nonsense": True}]
        settled, refused = take_proposals(store, piece, proposals if len(pieces) == 1 else [])
        if len(pieces) == 1:
            assert (len(settled), refused) == (1, 1)

    assert len(pieces) == 3
    assert [memory.text for memory in knowledge(store)] == [POSTGRES]
    assert queued(store, recorded).learned == recorded.path.stat().st_size
