"""What learning from each session cost is known, and told wherever sessions are."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.sessions.session_history import costs, list_sessions
from mcp_server.bootstrap import Opened
from mcp_server.core.budget import Cost
from tests.actions.work.worked import ended, worked
from tests.conftest import Open
from tests.doors.called import Caller
from tests.doors.learning_asked import module
from tests.doors.shell import Run, output_of
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel, agreed, reply

PLAN = {"CLAUDE_CODE_ENTRYPOINT": "cli", "DAYBOOK_PLAN_CALLS": "yes"}
USD = 0.002  # of 1,000 tokens in and 200 out, by the price of the default model


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reply("[]", tokens=(1000, 200))]) as server:
        yield server


def record(tmp_path: Path, project: Path, name: str, *lengths: int) -> Recorded:
    """Record a session with a turn of each of *lengths*."""
    recorded = Recorded(tmp_path / "transcripts", cwd=project, session=f"{name}-1111-2222-3333-444455556666")
    for length in lengths:
        recorded.user(f"In {name}: ".ljust(length - len("USER (2026-11-20 09:01): "), "x"))
    return recorded


def cost_by_session(opened: Opened) -> dict[str, Cost]:
    store = opened.store()
    return {session[:8]: cost for session, cost in costs(store, list_sessions(store)).items()}


@pytest.fixture
def learned(open_here: Open, model: ScriptedModel, tmp_path: Path, project: Path) -> Opened:
    """Three sessions: one of a piece and a rest of 600 characters, two of rests of 600 and 1,200."""
    opened = open_here(**agreed(model))
    for name, lengths in (("aaaaaaaa", (3999, 1999, 600)), ("bbbbbbbb", (600,)), ("cccccccc", (1200,))):
        ended(opened.store(), record(tmp_path, project, name, *lengths))
    worked(opened)
    return opened


def test_a_call_about_several_sessions_is_parted_by_what_each_has_of_it(
    learned: Opened, model: ScriptedModel
) -> None:
    assert model.calls == 2
    first, second, third = (cost_by_session(learned)[name] for name in ("aaaaaaaa", "bbbbbbbb", "cccccccc"))
    assert [cost.calls for cost in (first, second, third)] == [2, 1, 1]
    assert [cost.tokens for cost in (first, second, third)] == [1500, 300, 600]
    assert first.usd == pytest.approx(1.25 * USD)
    assert (second.usd, third.usd) == (pytest.approx(USD / 4), pytest.approx(USD / 2))
    assert not any(cost.plan_calls for cost in (first, second, third))
    before = cost_by_session(learned)
    rebuild(learned.store())
    assert cost_by_session(learned) == before


def test_the_terminal_tells_what_each_session_cost(learned: Opened, run: Run) -> None:
    listed = output_of(run("sessions"))
    assert "2 calls, 1,500 tokens, $0.0025" in listed and "1 call, 300 tokens, $0.0005" in listed
    cost_of = {
        session["id"][:8]: session["cost"] for session in json.loads(output_of(run("sessions", "--json")))
    }
    assert cost_of["cccccccc"] == {"calls": 1, "plan_calls": 0, "tokens": 600, "usd": pytest.approx(0.001)}
    assert "learning from it  2 calls, 1,500 tokens, $0.0025" in output_of(run("sessions", "aaaaaaaa"))
    status = output_of(run("status"))
    assert "learning from session aaaaaaaa  2 calls, 1,500 tokens, $0.0025" in status
    assert "nothing spent" not in status
    assert len(json.loads(output_of(run("status", "--json")))["spending"]["sessions"]) == 3


def test_claude_is_told_what_each_session_cost(learned: Opened, call: Caller) -> None:
    assert " · learning from it 1 call, 600 tokens, $0.0010" in call("get_sessions")
    assert "learning from it: 2 calls, 1,500 tokens, $0.0025" in call("get_session", id="aaaaaaaa")
    assert "learning from session bbbbbbbb · 1 call, 300 tokens, $0.0005" in call("metrics_status")


def test_what_went_to_the_plan_counts_as_calls_and_costs_nothing(
    open_here: Open, tmp_path: Path, project: Path, run: Run
) -> None:
    opened = open_here(**PLAN)
    ended(opened.store(), record(tmp_path, project, "dddddddd", 600))
    worked(opened)
    with module(opened) as tell:
        usage = {"input_tokens": 1200, "cache_read_input_tokens": 34, "output_tokens": 56}
        assert tell("learned", call=tell("learn")["call"], text="[]", usage=usage) == {"stored": []}

    assert cost_by_session(opened) == {"dddddddd": Cost(plan_calls=1, tokens=1290)}
    assert "1 call on your plan, 1,290 tokens" in output_of(run("sessions"))


def test_a_session_that_no_model_read_cost_nothing(
    opened: Opened, tmp_path: Path, project: Path, run: Run
) -> None:
    ended(opened.store(), record(tmp_path, project, "eeeeeeee", 600))
    worked(opened)

    assert cost_by_session(opened) == {}
    assert "learning from it  no call of a model" in output_of(run("sessions", "eeeeeeee"))
    assert "nothing spent" in output_of(run("status"))
