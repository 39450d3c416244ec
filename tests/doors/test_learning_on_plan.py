"""Learning on the person's own plan, as the module in the client asks for it: consent, pieces, replies."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.capture.learn_on_plan import NO, YES
from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.capture.pending_answers import Learned, LearnedPiece, spool
from mcp_server.actions.context.notice import KeyOffered, notice
from mcp_server.actions.status.status import status
from mcp_server.adapters.prompts import prompt
from mcp_server.bootstrap import Opened
from mcp_server.core.capture.extraction import Proposal
from mcp_server.doors.shown import learning as shown
from tests.actions.learn.learned import knowledge, proposal
from tests.actions.work.worked import LONG, worked
from tests.conftest import Clock, Open
from tests.doors.learning_asked import ask_server, ledger, module
from tests.durability.served import Served
from tests.recorded import Recorded, queued_at

DECIDED = "We decided to keep invoices in Postgres because the reports need window functions."
SAID = "Invoices are kept in Postgres because the reports need window functions."
REPLY = json.dumps([proposal(SAID, "keep invoices in Postgres")])
AGREED = {"DAYBOOK_PLAN_CALLS": "yes"}


@pytest.fixture
def open_kept(open_here: Open, tmp_path: Path, project: Path) -> Open:
    """Open the store in which a session was kept that nothing was learned from."""
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user(f"{DECIDED} {LONG}")
    recorded.claude("Noted.")
    opened = open_here()
    note_ended(opened.store().in_session(recorded.session), recorded.path, folder=str(project))
    worked(opened)

    def open_(**environment: str) -> Opened:
        return open_here(CLAUDE_CODE_ENTRYPOINT="cli", **environment)

    return open_


def calls_today(opened: Opened) -> int:
    return status(opened.store(), has_key=False).spending.plan_calls


def stored(opened: Opened) -> list[str]:
    return [memory.text for memory in knowledge(opened.store())]


def test_the_person_is_asked_once_and_a_yes_leads_to_a_piece(open_kept: Open) -> None:
    opened = open_kept()
    with module(opened) as tell:
        ask = tell("learn")["ask"]
        assert "at most 40 short calls a day" in ask["question"] and ask["question"].endswith("?")
        assert ask["options"] == [NO, YES]  # a stray Enter is no yes
        assert ledger(opened, "reserved") == []

        handed = tell("learn", answer=YES)

    assert handed["toast"] == shown.AGREED
    assert handed["request"]["model"] == "haiku"
    assert handed["request"]["system"] == prompt("extract")
    assert DECIDED in handed["request"]["prompt"]
    assert "plan_calls = true" in (opened.home / "config.toml").read_text()


@pytest.mark.parametrize(("answer", "config_text"), [(NO, "plan_calls = false\n"), ("", ""), ("later", "")])
def test_a_no_is_kept_and_a_cancel_changes_nothing_and_nobody_is_asked_again(
    open_kept: Open, answer: str, config_text: str
) -> None:
    opened = open_kept()
    with module(opened) as tell:
        assert "ask" in tell("learn")
        assert tell("learn", answer=answer) == {"toast": shown.NOT_AGREED}
        assert tell("learn") == {}
    with module(open_kept()) as tell:
        assert tell("learn") == {}

    config = opened.home / "config.toml"
    assert (config.read_text() if config.exists() else "") == config_text
    assert ledger(opened, "reserved") == []


def test_the_question_waits_for_a_session_in_which_the_use_of_a_key_is_not_offered(open_kept: Open) -> None:
    with module(opened := open_kept()) as tell:
        for session in ("another", "s1"):  # the second is the module's own
            (opened.home / "work" / "offered").unlink(missing_ok=True)
            assert isinstance(notice(opened.store().in_session(session), identity="a key"), KeyOffered)
            assert ("ask" in tell("learn")) == (session == "another")


@pytest.mark.usefixtures("open_kept")
def test_one_of_several_sessions_asks_until_it_ends(memory_dir: Path, project: Path) -> None:
    cli = {"CLAUDE_CODE_ENTRYPOINT": "cli"}
    with (
        Served(memory_dir, project, **cli) as first,
        Served(memory_dir, project, **cli) as other,
    ):
        assert "ask" in ask_server(first.greet(), "learn")
        assert ask_server(other.greet(), "learn") == {}
        assert "ask" in ask_server(first, "learn"), "its module was loaded anew"
        first.process.kill()
        first.process.wait()
        assert "ask" in ask_server(other, "learn")


@pytest.mark.parametrize(
    "environment",
    [
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"DAYBOOK_HOOKS": "off"},
        {"DAYBOOK_CAPTURE": "manual"},
        {"DAYBOOK_MODEL_CALLS": "yes"},
    ],
)
@pytest.mark.parametrize("agreed", [{}, AGREED])
def test_nothing_is_asked_where_nobody_reads_or_wants_it_or_a_key_pays(
    open_here: Open, open_kept: Open, environment: dict[str, str], agreed: dict[str, str]
) -> None:
    opened = open_here(**{"CLAUDE_CODE_ENTRYPOINT": "cli", **environment, **agreed})
    with module(opened) as tell:
        assert tell("learn") == {}
    assert ledger(opened, "reserved") == []


def test_nobody_is_asked_before_there_is_something_to_learn(
    open_here: Open, tmp_path: Path, project: Path
) -> None:
    opened = open_here(CLAUDE_CODE_ENTRYPOINT="cli")
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user(DECIDED)  # short, and the session goes on
    recorded.noise()
    opened.store().ledger.append(
        "transcript_seen", opened.clock(), path=str(recorded.path), session="s1",
        folder=str(project), end=recorded.path.stat().st_size,
    )  # fmt: skip
    worked(opened)

    with module(opened) as tell:
        assert tell("learn") == {}


def test_what_the_model_calls_itself_gets_nothing(open_kept: Open) -> None:
    with module(open_kept(**AGREED), {"claudecode/toolUseId": "toolu_7"}) as tell:
        assert tell("learn").keys() == {"text"}
        assert tell("learned", call="plan-1", text=REPLY).keys() == {"text"}


def test_a_reply_is_checked_and_stored_as_with_a_key(open_kept: Open) -> None:
    opened = open_kept(**AGREED)
    invented = proposal("The invoices are sent on the first Monday of a month.", "nobody ever said this")
    with module(opened) as tell:
        call = tell("learn")["call"]
        usage = {"input_tokens": 1200, "cache_read_input_tokens": 34, "output_tokens": 56}
        text = json.dumps([invented, *json.loads(REPLY)])
        (memory_id,) = tell("learned", call=call, isAnswered=True, text=text, usage=usage)["stored"]
        assert tell("learn") == {}

    (memory,) = knowledge(opened.store())
    assert (memory.id, memory.text, memory.source) == (memory_id, SAID, "extracted")
    (spent,) = ledger(opened, "spent")
    assert (spent["call"], spent["usd"], spent["input"], spent["output"]) == (call, 0.0, 1234, 56)
    spending = status(opened.store(), has_key=False).spending
    assert (spending.plan_calls, spending.today_calls, spending.today_usd) == (1, 0, 0.0)


def test_what_is_private_skipped_or_secret_is_in_no_piece(
    open_here: Open, tmp_path: Path, project: Path
) -> None:
    opened = open_here(CLAUDE_CODE_ENTRYPOINT="cli", **AGREED)
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user(f"{DECIDED} {LONG} <private>my salary is 7 crowns</private>")
    recorded.user("#skip the divorce papers are in the drawer")
    recorded.claude("In the drawer, understood.")
    recorded.user("The key is ghp_Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i, use it.")
    note_ended(opened.store().in_session(recorded.session), recorded.path, folder=str(project))
    worked(opened)

    with module(opened) as tell:
        prompt_sent = tell("learn")["request"]["prompt"]

    assert DECIDED in prompt_sent and "[secret removed" in prompt_sent
    assert not [word for word in ("crowns", "drawer", "ghp_") if word in prompt_sent]


def test_the_limit_of_a_day_holds_and_the_next_day_goes_on(open_kept: Open, clock: Clock) -> None:
    opened = open_kept(**AGREED, DAYBOOK_DAILY_PLAN_CALLS="2")
    with module(opened) as tell:
        for _ in range(2):
            tell("learned", call=tell("learn")["call"], reason="stopped")
        assert tell("learn") == {}
        assert calls_today(opened) == 2

        clock.pass_days(1)
        assert "request" in tell("learn")


def test_a_call_that_is_stopped_counts_and_its_piece_comes_again_however_often(open_kept: Open) -> None:
    opened = open_kept(**AGREED)
    with module(opened) as tell:
        pieces = []
        for _ in range(6):
            handed = tell("learn")
            pieces.append(handed["request"]["prompt"])
            assert tell("learned", call=handed["call"], isAnswered=False, reason="stopped") == {}
        assert len(set(pieces)) == 1
        assert tell("learned", call=tell("learn")["call"], text=REPLY)["stored"]

    assert calls_today(opened) == 7
    assert stored(opened) == [SAID]


@pytest.mark.parametrize(
    ("failure", "rest"),
    [
        ({"reason": "api-error", "status": 429, "error": "rate_limit"}, 3600),
        ({"reason": "api-error", "status": 401, "error": "authentication_failed"}, 3600),
        ({"reason": "refused"}, 3600),
        ({"reason": "api-error", "status": 529, "error": "overloaded"}, 45),
        ({"reason": "api-error", "status": None, "error": "unknown"}, 45),
        ({"reason": "aborted"}, 45),
    ],
)
def test_a_model_that_does_not_answer_is_left_alone_for_a_while(
    open_kept: Open, clock: Clock, failure: dict[str, Any], rest: int
) -> None:
    opened = open_kept(**AGREED)
    with module(opened) as tell:
        tell("learned", call=tell("learn")["call"], isAnswered=False, **failure)
        clock.pass_days((rest - 20) / 86400)
        assert tell("learn") == {}
        clock.pass_days(40 / 86400)
        assert "request" in tell("learn")


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ({"text": "I am sorry."}, 4),
        ({"isAnswered": False, "reason": "empty-reply"}, 4),
        ({"isAnswered": False, "reason": "api-error", "status": 400}, 1),
    ],
)
def test_a_piece_that_gets_no_usable_answer_is_given_up(
    open_kept: Open, reply: dict[str, Any], calls: int
) -> None:
    opened = open_kept(**AGREED)
    with module(opened) as tell:
        for _ in range(calls):
            assert not tell("learned", call=tell("learn")["call"], **reply).get("stored")
        assert tell("learn") == {}

    state = status(opened.store(), has_key=False)
    assert (state.spending.plan_calls, state.capture.unlearned, state.spending.given_up) == (calls, 0, 1)


def test_only_one_call_is_in_flight_and_a_reply_that_nobody_waits_for_is_left_alone(open_kept: Open) -> None:
    opened = open_kept(**AGREED)
    with module(opened) as tell, module(open_kept(**AGREED)) as other:
        first = tell("learn")
        assert other("learn") == {}
        second = tell("learn")  # the module was loaded anew
        assert second["request"] == first["request"] and second["call"] != first["call"]
        assert tell("learned", call=first["call"], text=REPLY) == {}
        assert stored(opened) == []
        assert tell("learned", call=second["call"], text=REPLY)["stored"]
        assert other("learn") == {}


def test_a_server_that_is_killed_loses_no_piece_and_each_call_counts_once(
    open_kept: Open, memory_dir: Path, project: Path
) -> None:
    opened = open_kept()

    usual = {**AGREED, "CLAUDE_CODE_ENTRYPOINT": "cli"}
    with Served(memory_dir, project, **usual) as server:
        first = ask_server(server.greet(), "learn")
        server.process.kill()
        server.process.wait()
    with Served(memory_dir, project, **usual) as server:
        second = ask_server(server.greet(), "learn")
        assert ask_server(server, "learned", call=second["call"], text=REPLY)["stored"]

    assert DECIDED in first["request"]["prompt"] and DECIDED in second["request"]["prompt"]
    assert [event["call"] for event in ledger(opened, "reserved")] == [first["call"], second["call"]]
    ends = {event["call"]: event["outcome"] for event in ledger(opened, "spent")}
    assert ends == {first["call"]: "stopped", second["call"]: "ok"}
    assert stored(opened) == [SAID]


def test_an_answer_that_waits_from_a_killed_process_is_stored_without_another_call(
    open_kept: Open, tmp_path: Path
) -> None:
    opened = open_kept(**AGREED)
    store = opened.store()
    (path,) = (tmp_path / "transcripts").glob("*.jsonl")
    transcript = queued_at(store, path)
    learned_proposal = Proposal("decision", "Invoices", SAID, (), "keep invoices in Postgres", "extracted")
    spool(
        store, transcript, LearnedPiece(transcript.learned, transcript.kept, (), (Learned(learned_proposal),))
    )

    with module(opened) as tell:
        assert tell("learn") == {}

    assert stored(opened) == [SAID]
    assert ledger(opened, "reserved") == []


def test_a_question_that_never_reached_the_person_is_asked_again(open_kept: Open) -> None:
    with module(open_kept()) as tell:
        assert "ask" in tell("learn")
        assert "ask" in tell("learn")
        assert tell("learn", answer="") == {"toast": shown.NOT_AGREED}
        assert tell("learn") == {}
