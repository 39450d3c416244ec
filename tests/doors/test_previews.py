"""A preview of tidying spends nothing, and says what it would cost to ask the model."""

import re
from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.model_call import spending
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from tests.actions.tidy.knowledge import FIVE, plan_of
from tests.conftest import Clock, Open
from tests.doors.called import connected
from tests.doors.shell import Run, output_of
from tests.scripted_model import ScriptedModel


@pytest.fixture
def five(open_here: Open, clock: Clock) -> Open:
    """Five decisions, old enough to be merged, where the model may be called."""

    def opened(api: ScriptedModel, **more: str) -> Opened:
        opened = open_here(
            DAYBOOK_MODEL_CALLS="true", ANTHROPIC_API_KEY="sk-test", ANTHROPIC_BASE_URL=api.url, **more
        )
        for text in FIVE:
            remember(opened.store(), Draft(text, text, type="decision", source="extracted"))
        clock.pass_days(2)
        return opened

    return opened


def test_the_tool_shows_the_plan_without_a_call_and_with_one_when_asked(
    five: Open,
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4, 5])]) as api:
        opened = five(api)

        with connected(opened) as call:
            answer = call("consolidate")
        assert re.search(r"The model was not asked: 1 call, at most \$0\.\d{4}", answer)
        assert (api.calls, spending(opened.store()).today_usd) == (0, 0.0)

        with connected(opened) as call:
            answer = call("consolidate", with_model=True)
        assert "The model was asked for this plan: 1 call, $0.0" in answer
        assert api.calls == 1


def test_the_command_shows_the_plan_without_a_call_and_with_one_when_asked(
    run: Run, memory_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge = memory_dir / "knowledge"
    knowledge.mkdir(parents=True)
    for number, text in enumerate(FIVE):
        header = f"---\ntype: decision\ncreated: 2025-01-0{number + 1}\n---\n"
        (knowledge / f"m{number}.md").write_text(f"{header}{text}\n", encoding="utf-8")
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4, 5])]) as api:
        monkeypatch.setenv("DAYBOOK_MODEL_CALLS", "true")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)

        output = output_of(run("tidy", "--dry-run"))
        assert api.calls == 0
        price = re.search(r"The model was not asked: 1 call, at most \$(0\.\d{4}), with --with-model", output)
        assert price

        output = output_of(run("tidy", "--dry-run", "--with-model"))
        assert api.calls == 1
        cost = re.search(r"asked for this plan: 1 call, \$(0\.\d{4})\.", output)
        assert cost and 0 < float(cost[1]) <= float(price[1])
        assert run("tidy", "--with-model").returncode != 0
