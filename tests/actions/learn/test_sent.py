"""What is sent to the model, and what never is."""

import json
from pathlib import Path

import pytest

from mcp_server.actions.capture.pieces import AT_ONCE
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.ask import ask
from mcp_server.actions.status.stats import capture_of
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store
from tests.actions.learn.learned import POSTGRES, answer, knowledge, learn, proposal
from tests.conftest import Clock
from tests.recorded import Recorded, kept, queued
from tests.scripted_model import ScriptedModel


def test_learning_again_asks_nothing_and_adds_nothing(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)
    learn(learning, kept(learning, recorded))

    learn(learning, kept(learning, recorded))
    rebuild(learning)
    learn(learning, kept(learning, recorded))

    assert model.calls == 1
    assert len(knowledge(learning)) == 1


def test_the_copy_of_a_turn_in_a_fork_is_not_sent_again(
    learning: Store, model: ScriptedModel, recorded: Recorded, tmp_path: Path
) -> None:
    recorded.user(POSTGRES)
    learn(learning, kept(learning, recorded))
    fork = Recorded(tmp_path / "transcripts", cwd=recorded.cwd)
    fork.write(recorded.path.read_text(encoding="utf-8"))
    fork.minute = 5
    fork.user("The fork goes another way: exports are written as parquet files.")

    learn(learning, kept(learning, fork))

    assert model.calls == 2
    transcript = model.asked[1].prompt.partition("<transcript>")[2]
    assert "parquet" in transcript
    assert "Postgres" not in transcript


def test_nothing_secret_or_private_is_sent(learning: Store, model: ScriptedModel, recorded: Recorded) -> None:
    key = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"
    recorded.user(
        f"Deploy with {key} <private>the salary list is in vault 7</private> and decide on Postgres"
    )
    recorded.call(
        "Bash", command=f"curl -H 'Authorization: Bearer {key}' https://example.org", result="SECRET OUTPUT"
    )

    learn(learning, kept(learning, recorded))

    sent_text = json.dumps([request.body for request in model.asked])
    assert "Deploy with" in sent_text
    for absent in (key, "salary list", "SECRET OUTPUT"):
        assert absent not in sent_text


@pytest.mark.feature("3.1-2")
def test_a_short_rest_waits_until_the_session_ends(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    recorded.user("A short remark on invoices")
    learn(learning, kept(learning, recorded, ended=False))
    assert model.calls == 0

    learn(learning, kept(learning, recorded, ended=True))
    assert model.calls == 1


def test_questions_of_the_persons_use_up_none_of_the_days_rests(
    learning: Store, model: ScriptedModel, recorded: Recorded, clock: Clock
) -> None:
    remember(learning, Draft("Invoices in Postgres", "Invoices are kept in Postgres for the reports."))
    for _ in range(AT_ONCE):
        clock.pass_days(1 / DAY)
        ask(learning, "where are invoices kept?")
    assert model.calls == AT_ONCE

    recorded.user("A short remark on invoices")
    learn(learning, kept(learning, recorded))
    assert model.calls == AT_ONCE + 1
    assert not capture_of(learning).shorts_wait

    for number in range(AT_ONCE):
        recorded.user(f"Another short remark on invoices, number {number}")
        learn(learning, kept(learning, recorded))
    assert model.calls == 2 * AT_ONCE
    assert capture_of(learning).shorts_wait


def test_what_the_person_forgot_is_not_sent(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    recorded.user(POSTGRES)
    pending = kept(learning, recorded)
    forget(learning, recorded.session, forever=True)
    learn(learning, pending)
    assert model.calls == 0

    recorded.user("The session goes on with something about parquet exports. " + "More of it. " * 60)
    learn(learning, kept(learning, recorded))

    assert model.calls == 1
    assert "Postgres" not in model.asked[0].prompt
    assert queued(learning, recorded).learned == recorded.path.stat().st_size
