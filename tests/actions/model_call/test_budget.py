"""What a call may cost is known before it is made, and one is made at a time."""

import threading
from datetime import UTC, datetime

import pytest

from mcp_server.actions.model.model_call import LOCK_NAME, Spending, call_model, spending
from mcp_server.adapters import files
from mcp_server.core.budget import MOST_TRIES, Reply, cost, reserve
from mcp_server.core.settings import DEFAULTS
from mcp_server.store import Store
from tests.actions.model_call.asking import PROMPT, ask, events, refused
from tests.conftest import Clock, Open
from tests.patience import PATIENCE
from tests.scripted_model import RESET, Answer, ScriptedModel, reply

# A call and its cost


def test_a_call_is_reserved_before_and_settled_after(asking: Store, api: ScriptedModel) -> None:
    assert ask(asking) == Reply("[]", 1000, 200, "end_turn")

    reserved, settled = events(asking, "reserved", "spent")
    assert reserved["item"] == "chunk-1"
    assert reserved["usd"] == reserve(asking.settings, len("Extract." + PROMPT), 500)
    assert settled["call"] == reserved["call"]
    assert settled["usd"] == api.asked[0].usd == cost(asking.settings, 1000, 200)
    assert (settled["input"], settled["output"], settled["outcome"]) == (1000, 200, "ok")
    assert spending(asking) == Spending(cost(asking.settings, 1000, 200), 1, "", None, 0)


def test_while_a_call_is_under_way_all_that_it_may_cost_counts(open_asking: Open, api: ScriptedModel) -> None:
    may_answer = threading.Event()
    api.answers = [reply(after=may_answer)]
    asker = threading.Thread(target=lambda: ask(open_asking().store()))
    asker.start()
    assert api.wait_for_calls(1)

    now = spending(open_asking().store())
    may_answer.set()
    asker.join()

    assert now == Spending(reserve(DEFAULTS, len("Extract." + PROMPT), 500), 1, "", None, 0)


def test_text_in_scripts_of_many_bytes_is_reserved_for_its_bytes(asking: Store) -> None:
    call_model(asking, item="1", system="", prompt="記憶" * 100, most_tokens=10)

    assert events(asking, "reserved")[0]["usd"] == reserve(DEFAULTS, 600, 10)


def test_no_call_is_made_that_could_go_over_the_days_cap(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking(DAYBOOK_DAILY_USD="0.005").store()
    ask(store, "1")
    ask(store, "2")

    refusal = refused(store, "3", later=True, match=r"\$0\.0040 of today's \$0\.01")
    assert "daily_usd" in refusal.hint
    assert api.calls == 2


def test_no_more_calls_are_made_than_the_day_allows_and_the_next_day_begins_anew(
    open_asking: Open, api: ScriptedModel, clock: Clock
) -> None:
    store = open_asking(DAYBOOK_DAILY_CALLS="2").store()
    ask(store, "1")
    ask(store, "2")
    refused(store, "3", later=True, match=r"calls of the model \(2\)")
    clock.now = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    refused(store, "3", later=True, match=r"calls of the model \(2\)")

    clock.now = datetime(2026, 11, 21, 0, 0, 0, tzinfo=UTC)
    ask(store, "3")
    assert api.calls == 3
    assert spending(store).today_calls == 1


def test_a_caps_end_outlives_the_index(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking(DAYBOOK_DAILY_CALLS="1").store()
    ask(store, "1")
    for path in store.home.glob("memory.db*"):
        path.unlink()

    refused(open_asking(DAYBOOK_DAILY_CALLS="1").store(), "2", later=True, match=r"calls of the model \(1\)")
    assert api.calls == 1


def test_a_full_disk_stops_the_call(asking: Store, api: ScriptedModel) -> None:
    ask(asking, "1")
    for path in asking.ledger.paths():
        path.unlink()
        path.symlink_to("/dev/full")

    refused(asking, "2", later=True, match="cannot be recorded")
    assert api.calls == 1


def test_a_store_that_cannot_be_locked_stops_the_call(asking: Store, api: ScriptedModel) -> None:
    (asking.home / LOCK_NAME).mkdir(parents=True)

    refused(asking, later=True, match="cannot be recorded")
    assert api.calls == 0


@pytest.mark.parametrize("answer", [RESET, Answer(body=b"{")], ids=["reset", "cut"])
def test_what_may_have_cost_something_counts_in_full(
    asking: Store, api: ScriptedModel, answer: Answer
) -> None:
    api.answers = [answer]
    refused(asking, later=True, match=".")

    assert spending(asking).today_usd == reserve(asking.settings, len("Extract." + PROMPT), 500)


def test_a_reply_that_is_asked_for_again_and_again_is_bounded_too(asking: Store, api: ScriptedModel) -> None:
    for _ in range(MOST_TRIES):
        ask(asking)
    refused(asking, later=False, match="4 times")
    assert api.calls == MOST_TRIES
    assert spending(asking).given_up == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"at":"2026-11-20T09:00:00Z","event":"spent","call":"x","usd":-100}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","call":"x","item":"i","usd":-100}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":NaN}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":' + "9" * 400 + "}",
        '{"at":"2026-11-20T09:00:00Z","event":"paused","until":"99999-01-01","settings":7}',
        '{"at":"2026-11-20T09:00:00Z","event":"reserved","usd":true,"item":[1]}',
    ],
)
def test_an_odd_line_in_the_ledger_gives_no_credit_and_stops_nothing(
    asking: Store, api: ScriptedModel, line: str
) -> None:
    asking.ledger.folder.mkdir(parents=True)
    (asking.ledger.folder / "a-2026-11.jsonl").write_text(line + "\n", encoding="utf-8")
    ask(asking)

    assert spending(asking).today_usd == cost(asking.settings, 1000, 200)


# One at a time


def test_one_call_is_in_flight_and_the_others_are_told_at_once(open_asking: Open, api: ScriptedModel) -> None:
    store = open_asking().store()
    with files.lock(store.home / LOCK_NAME):
        refused(store, later=True, match="Another session")
    assert api.calls == 0


def test_who_has_patience_waits_for_the_other_call(open_asking: Open, api: ScriptedModel) -> None:
    may_answer = threading.Event()
    api.answers = [reply("first", after=may_answer), reply("second")]
    texts: list[str] = []
    threads = [
        threading.Thread(
            target=lambda item=item: texts.append(ask(open_asking().store(), item, patience=PATIENCE).text)
        )
        for item in ("1", "2", "3")
    ]
    for thread in threads:
        thread.start()
    assert api.wait_for_calls(1)
    may_answer.set()
    for thread in threads:
        thread.join()

    assert sorted(texts) == ["first", "second", "second"]
    assert api.most_in_flight == 1
