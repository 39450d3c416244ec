"""What the model answers, when it does not answer as it was asked to."""

import json
from typing import Any

import pytest

from mcp_server.actions.capture.pending_answers import sweep_answers
from mcp_server.actions.files.read import read
from mcp_server.actions.model.model_call import spending
from mcp_server.adapters import files
from mcp_server.core.errors import ModelUnavailable
from mcp_server.core.memory_parts import Kind
from mcp_server.store import Store
from tests.actions.learn.learned import POSTGRES, answer, knowledge, learn, proposal
from tests.conftest import Clock
from tests.recorded import Recorded, kept, queued
from tests.scripted_model import ScriptedModel, error, reply


@pytest.mark.parametrize(
    "text",
    [
        "Here you are:\n```json\n%s\n```\nThat is all.",
        "%s",
        "[[1]] %s",
    ],
)
def test_an_array_is_found_in_prose(
    learning: Store, model: ScriptedModel, recorded: Recorded, text: str
) -> None:
    proposals = json.dumps([proposal(POSTGRES, "keep invoices in Postgres")])
    model.answers = [reply(text.replace("%s", proposals))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert len(knowledge(learning)) == 1


def test_of_an_answer_that_was_cut_off_the_whole_objects_count(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    proposals = json.dumps(
        [proposal(POSTGRES, "keep invoices in Postgres"), proposal("x" * 40, "keep invoices")]
    )
    model.answers = [reply(proposals[:-30], stop_reason="max_tokens")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "rumour"},
        {"content": "short"},
        {"content": "y" * 501},
        {"content": 7},
        {"evidence": None},
        {"content": "I'm sorry, but I cannot help with storing that."},
        {"content": '{"type": "decision", "content": "keep invoices"}'},
    ],
)
def test_what_has_the_wrong_shape_is_dropped(
    learning: Store, model: ScriptedModel, recorded: Recorded, fields: dict[str, Any]
) -> None:
    model.answers = [answer({**proposal(POSTGRES, "keep invoices in Postgres"), **fields})]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert knowledge(learning) == []
    assert queued(learning, recorded).learned == recorded.path.stat().st_size


def test_no_array_at_all_is_asked_for_four_times_and_then_given_up(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [reply("I would rather write a poem about invoices.")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))
    learn(learning, queued(learning, recorded))

    assert model.calls == 4
    assert queued(learning, recorded).learned == recorded.path.stat().st_size
    assert spending(learning).given_up == 1


def test_an_answer_that_was_cut_within_its_first_object_is_asked_for_again_only_after_a_pause(
    learning: Store, model: ScriptedModel, recorded: Recorded, clock: Clock
) -> None:
    proposals = json.dumps([proposal(POSTGRES, "keep invoices in Postgres")])
    cut = reply(proposals[:-30], stop_reason="max_tokens")
    model.answers = [cut, cut, reply(proposals)]
    recorded.user(POSTGRES)
    kept(learning, recorded)

    for calls in (1, 2):
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="was cut"):
                learn(learning, queued(learning, recorded))
        assert model.calls == calls
        until = spending(learning).paused_until
        assert until is not None
        clock.now = until
    learn(learning, queued(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]
    assert spending(learning).given_up == 0


BROKEN = '{"type": "decision", "content": "He said "no" to it.", "tags": []}'


@pytest.mark.parametrize(
    "text",
    [
        '{"memories": [%s]}',
        "%s",
        "[%s, {}]".replace("{}", BROKEN),
        "[{}, %s]".replace("{}", BROKEN),
    ],
)
def test_what_can_be_read_of_an_answer_of_another_shape_counts(
    learning: Store, model: ScriptedModel, recorded: Recorded, text: str
) -> None:
    written = json.dumps(proposal(POSTGRES, "keep invoices in Postgres"))
    on_two_lines = written.replace("because ", "because\n")
    model.answers = [reply(text.replace("%s", on_two_lines))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]


def test_an_object_that_cannot_be_read_is_no_answer_though_its_tags_are_an_empty_list(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [reply(f"[{BROKEN}]"), answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert (model.calls, len(knowledge(learning))) == (2, 1)


@pytest.mark.parametrize("text", ["[]", "Nothing here: [ ]", "```json\n[\n]\n```", '{"memories": []}'])
def test_an_empty_list_is_an_answer(
    learning: Store, model: ScriptedModel, recorded: Recorded, text: str
) -> None:
    model.answers = [reply(text)]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert (model.calls, knowledge(learning)) == (1, [])


def test_a_piece_that_is_answered_at_last_is_not_given_up(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [*3 * [reply("I would rather write a poem.")], reply("[]")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert (model.calls, spending(learning).given_up) == (4, 0)


def test_a_refusal_is_taken_for_an_answer(learning: Store, model: ScriptedModel, recorded: Recorded) -> None:
    model.answers = [reply("", stop_reason="refusal")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert (model.calls, spending(learning).given_up) == (1, 0)
    assert knowledge(learning) == []


@pytest.mark.feature("3.1-6")
def test_a_service_that_is_down_leaves_everything_pending(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [error(529), answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)
    pending = kept(learning, recorded)

    with pytest.raises(ModelUnavailable):
        learn(learning, pending)

    assert queued(learning, recorded).learned == 0
    assert read(learning, recorded.session).memory.kind is Kind.CONVERSATION


def test_an_answer_that_was_paid_for_is_not_asked_for_again(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)
    pending = kept(learning, recorded)
    in_the_way = learning.vaults[-1].root / "knowledge"
    in_the_way.rmdir()
    in_the_way.write_text("not a folder", encoding="utf-8")
    with pytest.raises(OSError, match="directory"):
        learn(learning, pending)
    in_the_way.unlink()
    spool = learning.home / "work"
    assert len(list(spool.glob("*.json"))) == 1

    learn(learning, queued(learning, recorded))

    assert model.calls == 1
    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]
    assert list(spool.glob("*.json")) == []


def test_an_answer_whose_piece_is_learned_does_not_lie_about(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)
    transcript = kept(learning, recorded)
    spool = learning.home / "work" / f"learn-{files.digest(transcript.path.encode())}.json"
    files.write_new(spool, b"what a killed process left")

    sweep_answers(learning)
    assert spool.exists()

    learn(learning, transcript)
    files.write_new(spool, b"the same, killed a moment later")
    sweep_answers(learning)
    assert not spool.exists()
