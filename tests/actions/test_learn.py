"""From kept transcripts to memories, with a scripted model on loopback."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.candidate import review_candidates
from mcp_server.actions.capture import keep
from mcp_server.actions.forget import forget
from mcp_server.actions.learn import learn, next_piece, sweep_answers, take_proposals
from mcp_server.actions.list import list_memories
from mcp_server.actions.note import note_seen
from mcp_server.actions.read import read
from mcp_server.actions.remember import remember
from mcp_server.actions.sync import catch_up, rebuild
from mcp_server.adapters import files
from mcp_server.adapters.index import transcripts
from mcp_server.adapters.index.transcripts import Transcript
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import ModelUnavailable
from mcp_server.core.memory import Draft, Kind, Memory, Status
from mcp_server.core.query import Filter
from mcp_server.core.verdict import Action
from mcp_server.store import Store
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel, error, reply

KEY = "sk-test-0000"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


@pytest.fixture
def learning(open_here: Callable[..., Opened], model: ScriptedModel) -> Store:
    """A store whose person agreed to model calls."""
    return open_learning(open_here, model)


def open_learning(open_here: Callable[..., Opened], model: ScriptedModel, **more: str) -> Store:
    return open_here(
        DAYBOOK_MODEL_CALLS="true", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=model.url, **more
    ).store()


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    return Recorded(tmp_path / "transcripts", cwd=project)


def queued(store: Store, recorded: Recorded) -> Transcript:
    catch_up(store)
    with store.database.read() as db:
        found = transcripts.known(db, str(recorded.path))
    assert found
    return found


def kept(store: Store, recorded: Recorded, *, ended: bool = True) -> Transcript:
    size = recorded.path.stat().st_size
    note_seen(store, recorded.path, size, session=recorded.session, folder=str(recorded.cwd), ended=ended)
    keep(store, queued(store, recorded))
    return queued(store, recorded)


def knowledge(store: Store, *statuses: Status) -> list[Memory]:
    filter = Filter(kinds=(Kind.KNOWLEDGE,), statuses=statuses or (Status.ACTIVE,))
    return [read(store, row.id).memory for row in list_memories(store, filter).rows]


def proposal(content: str, evidence: str, **more: Any) -> dict[str, Any]:
    said = {"type": "decision", "title": content[:60], "content": content, "tags": ["billing"]}
    return {**said, "supersedes": None, "evidence": evidence, **more}


def answer(*said: dict[str, Any]) -> Any:
    return reply(json.dumps(list(said)))


POSTGRES = "We decided to keep invoices in Postgres because the reports need window functions."


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

    assert [memory.source for memory in knowledge(learning)] == ["assistant"]


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
    said = json.dumps([proposal(POSTGRES, "keep invoices in Postgres")])
    model.answers = [reply(text.replace("%s", said))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert len(knowledge(learning)) == 1


def test_of_an_answer_that_was_cut_off_the_whole_objects_count(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    said = json.dumps([proposal(POSTGRES, "keep invoices in Postgres"), proposal("x" * 40, "keep invoices")])
    model.answers = [reply(said[:-30], stop_reason="max_tokens")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]


@pytest.mark.parametrize(
    "said",
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
    learning: Store, model: ScriptedModel, recorded: Recorded, said: dict[str, Any]
) -> None:
    model.answers = [answer({**proposal(POSTGRES, "keep invoices in Postgres"), **said})]
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


def test_a_refusal_is_taken_for_an_answer(learning: Store, model: ScriptedModel, recorded: Recorded) -> None:
    model.answers = [reply("", stop_reason="refusal")]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert model.calls == 1
    assert knowledge(learning) == []


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


def test_the_neighbours_are_in_the_prompt_and_a_number_supersedes_one(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    old = remember(learning, Draft("Invoices in MySQL", "Invoices are kept in MySQL.", type="decision"))

    def told(body: dict[str, Any]) -> Any:
        number = re.search(r"\[(\d+)\] decision: Invoices in MySQL", body["messages"][0]["content"])
        assert number
        return answer(proposal(POSTGRES, "keep invoices in Postgres", supersedes=int(number[1])))

    model.answers = told
    recorded.user(POSTGRES)

    (settled,) = learn(learning, kept(learning, recorded))

    assert (settled.action, settled.neighbour) == (Action.REPLACE, old.memory.id)
    superseded = read(learning, old.memory.id).memory
    assert (superseded.status, superseded.superseded_by) == (Status.SUPERSEDED, settled.id)
    assert read(learning, settled.id).memory.supersedes == (old.memory.id,)


def test_what_is_superseded_without_being_known_is_stored_all_the_same(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres", supersedes=17))]
    recorded.user(POSTGRES)

    learn(learning, kept(learning, recorded))

    assert [memory.text for memory in knowledge(learning)] == [POSTGRES]


def test_nothing_secret_or_private_is_sent(learning: Store, model: ScriptedModel, recorded: Recorded) -> None:
    key = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"
    recorded.user(
        f"Deploy with {key} <private>the salary list is in vault 7</private> and decide on Postgres"
    )
    recorded.call(
        "Bash", command=f"curl -H 'Authorization: Bearer {key}' https://example.org", result="SECRET OUTPUT"
    )

    learn(learning, kept(learning, recorded))

    sent = json.dumps([asked.body for asked in model.asked])
    assert "Deploy with" in sent
    for absent in (key, "salary list", "SECRET OUTPUT"):
        assert absent not in sent


def test_a_short_rest_waits_until_the_session_ends(
    learning: Store, model: ScriptedModel, recorded: Recorded
) -> None:
    recorded.user("A short remark on invoices")
    learn(learning, kept(learning, recorded, ended=False))
    assert model.calls == 0

    learn(learning, kept(learning, recorded, ended=True))
    assert model.calls == 1


def test_in_suggest_mode_everything_waits_for_the_person(
    open_here: Callable[..., Opened], model: ScriptedModel, recorded: Recorded
) -> None:
    store = open_learning(open_here, model, DAYBOOK_CAPTURE="suggest")
    model.answers = [answer(proposal(POSTGRES, "keep invoices in Postgres"))]
    recorded.user(POSTGRES)

    learn(store, kept(store, recorded))

    assert knowledge(store) == []
    (waiting,) = review_candidates(store)
    assert waiting.memory.text == POSTGRES


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


def test_an_agent_learns_piece_by_piece_without_any_key(store: Store, recorded: Recorded) -> None:
    recorded.user(POSTGRES)
    for number in range(3):
        recorded.user(f"Part {number} " + "of a long talk " * 250)
    kept(store, recorded)
    pieces = []
    while piece := next_piece(store):
        pieces.append(piece.chunk.text)
        said = [proposal(POSTGRES, "keep invoices in Postgres"), {"nonsense": True}]
        settled, refused = take_proposals(store, piece, said if len(pieces) == 1 else [])
        if len(pieces) == 1:
            assert (len(settled), refused) == (1, 1)

    assert len(pieces) == 3
    assert [memory.text for memory in knowledge(store)] == [POSTGRES]
    assert queued(store, recorded).learned == recorded.path.stat().st_size


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
