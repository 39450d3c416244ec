"""No kill and no second process spends more than the person allows, by the accounts of the other side."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from mcp_server.core.budget import MOST_TRIES
from tests.conftest import Run
from tests.scripted_model import ScriptedModel, moody

RUNS = int(os.environ.get("SPENDING_RUNS", "60"))  # 1000 by hand
CAP = 0.08  # USD a day, as programs/killed_callers.py has it


@pytest.mark.feature("A-50")
def test_no_kill_lets_a_day_cost_more_than_its_cap(run_program: Run, quick_folder: Path) -> None:
    with ScriptedModel(moody(20261120)) as api:
        report = run_program("killed_callers", quick_folder, api.url, RUNS, 20261120)
        assert report["kills"] >= RUNS
        assert report["ended"] == [], "a caller ended by itself"
        charged = api.charges(lambda request: request.prompt.split()[0])
        calls = Counter(request.prompt.split()[0] for request in api.asked)
        tries = Counter(request.prompt.split()[1] for request in api.asked)

    lines = [line for path in (quick_folder / "ledger").iterdir() for line in path.read_bytes().splitlines()]
    events = [json.loads(line) for line in lines]
    reserved = {event["call"]: event["usd"] for event in events if event["event"] == "reserved"}
    settled = {event["call"] for event in events if event["event"] == "spent"}
    print(
        f"{report['kills']} kills in {len(charged)} days, {sum(calls.values())} calls,"
        f" {len(reserved.keys() - settled)} cut short;"
        f" the dearest day cost ${max(charged.values()):.4f} of ${CAP}"
    )
    assert sum(calls.values()) > RUNS / 10, "too few calls for the test to tell anything"
    assert max(charged.values()) > CAP / 10, "no day cost enough for its cap to matter"
    assert reserved.keys() - settled, "no kill hit a call"
    assert max(charged.values()) <= CAP
    assert max(calls.values()) <= 60
    assert max(tries.values()) <= MOST_TRIES
    assert sum(calls.values()) <= len(reserved)
