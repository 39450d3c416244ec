"""An entry of a run, as the ledger keeps it."""

import json
from typing import Any

import pytest

from mcp_server.core.runs import Change, Reason, RunEntry, Why, entry_of

CHANGE = Change("shop/a", "f" * 16, {"place": "a.md"}, {"place": "archive/a.md"})
EMPTY = RunEntry("", Reason(""), ())


@pytest.mark.parametrize("why", Why)
def test_an_entry_comes_back_from_the_ledger(why: Why) -> None:
    reason = Reason(why, ("a", "b"), 14, "note", ("c",))
    line = json.dumps({"step": "ageing", "reason": reason.as_json(), "changes": [CHANGE.as_json()]})

    assert entry_of(json.loads(line)) == RunEntry("ageing", reason, (CHANGE,))


def test_a_reason_says_only_what_it_has() -> None:
    assert Reason(Why.DROPPED, ("a",)).as_json() == {"why": "dropped", "ids": ("a",)}


def test_the_sentence_of_an_earlier_version_stays_whole() -> None:
    assert entry_of({"reason": "merge 2: [a] + [b]"}).reason == Reason("merge 2: [a] + [b]")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"step": "", "reason": None, "changes": None},
        {"reason": {}, "changes": {"ref": "a"}},
        {
            "reason": {"why": "", "ids": 3, "number": "14", "replaced": "abc"},
            "changes": [1, None, {"ref": 1}],
        },
    ],
)
def test_odd_values_are_an_empty_entry(data: dict[str, Any]) -> None:
    assert entry_of(data) == EMPTY
