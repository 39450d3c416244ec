"""What of a transcript is sent to a model, and when."""

import json
import os

import pytest

from mcp_server.actions.capture.note import note_seen
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.draft_outcome import Action
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep.work import note_quiet
from mcp_server.adapters import transcript_file
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.learn.learned import KEY
from tests.actions.work.worked import DECIDED, LONG, ended, sent_text, worked
from tests.conftest import Clock, Open
from tests.recorded import Recorded, queued
from tests.scripted_model import Answer, ScriptedModel, agreed, reply


def test_what_was_said_before_the_person_agreed_is_not_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    before = open_here()
    recorded.user(f"The first half was private talk. {LONG}")
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    agent.claude(f"An agent heard some of the private talk. {LONG}")
    for number in range(8):
        recorded.user(f"More private talk, part {number}. {LONG}")
    note_seen(
        before.store().in_session(recorded.session), recorded.path, transcript_file.size(recorded.path),
        folder=str(recorded.cwd), ended=False,
    )  # fmt: skip

    after = open_here(**agreed(model))
    recorded.user(f"The second half is about invoices. {LONG}")
    ended(after.store(), recorded)
    worked(after)

    assert "second half" in sent_text(model)
    assert "private talk" not in sent_text(model)
    assert "private talk" in read(after.store(), recorded.session).memory.text


def test_what_an_agent_said_is_sent_when_its_session_ends(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    recorded.user("Look for the cache, please.")
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    agent.claude("The cache of rates is in rates.py.")
    size = transcript_file.size(recorded.path)
    note_seen(
        opened.store().in_session(recorded.session),
        recorded.path,
        size,
        folder=str(recorded.cwd),
        ended=False,
    )
    worked(opened)
    assert "cache of rates" not in sent_text(model)

    ended(opened.store(), recorded)
    worked(opened)

    assert "cache of rates" in sent_text(model)


def test_what_was_kept_long_before_the_person_agreed_is_not_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    for number in range(20):
        recorded.user(f"Private talk, part {number}. {LONG}")
    ended(open_here().store(), recorded)
    worked(open_here())

    recorded.user(f"The second half is about invoices. {LONG}")
    opened = open_here(**agreed(model))
    ended(opened.store(), recorded)
    worked(opened)

    assert "second half" in sent_text(model)
    assert "Private talk" not in sent_text(model).partition("<transcript>")[2]


def test_what_is_only_taken_in_to_be_found_again_is_never_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    for number in range(20):
        recorded.user(f"An old talk, part {number}. {LONG}")
    opened = open_here(**agreed(model))
    size = transcript_file.size(recorded.path)
    note_seen(
        opened.store().in_session(recorded.session), recorded.path, size, folder=str(recorded.cwd),
        ended=True, backfill=True,
    )  # fmt: skip

    assert worked(opened).kept == 20
    assert worked(opened).kept == 0

    assert model.calls == 0


def test_with_the_budget_used_up_everything_is_kept_and_the_next_day_goes_on(
    open_here: Open, recorded: Recorded, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model, DAYBOOK_DAILY_CALLS="1"))
    for number in range(12):
        recorded.user(f"Part {number}: {LONG}")
    ended(opened.store(), recorded)

    report = worked(opened)

    size = transcript_file.size(recorded.path)
    assert model.calls == 1
    assert report.waits.startswith("Today's calls of the model (1)")
    assert (queued(opened.store(), recorded).kept, report.kept) == (size, 12)
    assert 0 < queued(opened.store(), recorded).learned < size
    for _ in range(5):
        clock.pass_days(1)
        worked(opened)
    assert queued(opened.store(), recorded).learned == size
    assert model.calls == len({request.prompt for request in model.asked}) > 1


def test_what_was_stored_before_the_budget_ended_is_told(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    proposed = {"type": "decision", "title": "Invoices", "content": DECIDED[:80], "tags": []}
    model.answers = [reply(json.dumps([{**proposed, "evidence": "keep invoices in Postgres"}]))]
    opened = open_here(**agreed(model, DAYBOOK_DAILY_CALLS="1"))
    for number in range(12):
        recorded.user(f"{DECIDED} Part {number}.")
    ended(opened.store(), recorded)

    report = worked(opened)

    assert [outcome.action for outcome in report.outcomes] == [Action.ADD]
    assert report.waits


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ('capture = "manual"', "capture is 'manual'"),
        ("model_calls = false", "you have not allowed it"),
        ("daily_calls = 2", "Today's calls of the model (2) are used up"),
    ],
)
def test_what_the_person_switches_off_while_a_worker_learns_is_off_at_once(
    open_here: Open, store: Store, recorded: Recorded, model: ScriptedModel, changed: str, why: str
) -> None:
    config = store.home / "config.toml"
    config.write_text(f'model_calls = true\napi_key = "{KEY}"\napi_base_url = "{model.url}"\n', "utf-8")

    def answer(_: object) -> Answer:
        if len(model.asked) == 1:
            kept_lines = [line for line in config.read_text("utf-8").splitlines() if "calls" not in line]
            calls = [] if "model_calls" in changed else ["model_calls = true"]
            config.write_text("\n".join([*kept_lines, *calls, changed]), "utf-8")
        return reply()

    model.answers = answer
    opened = open_here()
    for number in range(20):
        recorded.user(f"Part {number}: {LONG}")
    ended(opened.store(), recorded)

    report = worked(opened)

    assert model.calls == 2
    assert why in report.waits


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"DAYBOOK_DAILY_CALLS": "1"}, "today's calls are used up. 'daybook setup --daily-calls NUMBER'"),
        ({"DAYBOOK_DAILY_USD": "0.01"}, "today's budget is used up. 'daybook setup --daily-usd AMOUNT'"),
        ({"DAYBOOK_DAILY_USD": "0.001"}, "one call may cost more than a whole day may. 'daybook setup"),
        ({"DAYBOOK_DAILY_USD": "0"}, "one call may cost more than a whole day may. 'daybook setup"),
    ],
)
def test_the_person_is_told_which_limit_learning_waits_for(
    open_here: Open, recorded: Recorded, model: ScriptedModel, limits: dict[str, str], sentence: str
) -> None:
    opened = open_here(**agreed(model, **limits))
    for number in range(12):
        recorded.user(f"Part {number}: {LONG}")
    ended(opened.store(), recorded)

    worked(opened)

    (need,) = needs_of(status(opened.store(), has_key=True))
    assert sentence in need


def test_what_is_new_in_a_transcript_written_anew_is_learned(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    for number in range(10):
        recorded.user(f"Turn {number} of them. {LONG}")
    ended(opened.store(), recorded)
    worked(opened)
    calls = model.calls

    last = recorded.path.read_text(encoding="utf-8").splitlines(keepends=True)[-1]
    recorded.path.write_text(last, encoding="utf-8")
    recorded.user(DECIDED)
    ended(opened.store(), recorded)
    worked(opened)

    (again,) = model.asked[calls:]
    assert DECIDED[:60] in again.prompt
    assert "Turn 9 of them" not in again.prompt.partition("<transcript>")[2]


def test_an_answer_that_waits_is_taken_though_the_transcript_went_on(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    fields = {
        "type": "decision",
        "title": "Invoices",
        "content": DECIDED[:82],
        "tags": [],
        "supersedes": None,
    }
    model.answers = [reply(json.dumps([{**fields, "evidence": "keep invoices in Postgres"}])), reply()]
    recorded.user(DECIDED)
    ended(opened.store(), recorded)
    in_the_way = opened.store().vaults[-1].root / "knowledge"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("no folder", encoding="utf-8")
    assert str(recorded.path) in worked(opened).failed
    in_the_way.unlink()

    recorded.user("And a little more of it.")
    ended(opened.store(), recorded)
    worked(opened)

    assert sent_text(model).count(DECIDED[:60]) == 1
    (hit,) = recall(opened.store(), Query("invoices Postgres", filter=Filter(kinds=(Kind.KNOWLEDGE,)))).hits
    assert hit.text == DECIDED[:82]
    assert list((opened.home / "work").glob("*.json")) == []


def test_a_short_session_that_was_killed_is_learned_in_the_end(
    open_here: Open, recorded: Recorded, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model))
    recorded.user("We decided to keep invoices in Postgres.")
    store = opened.store()
    note_seen(
        store.in_session(recorded.session), recorded.path, transcript_file.size(recorded.path),
        folder=str(recorded.cwd), ended=False,
    )  # fmt: skip
    worked(opened)
    assert model.asked == []  # a rest so short waits for more, or for the session's end
    for silent in (60, 3600):  # the person has lunch
        os.utime(recorded.path, (store.now() - silent, store.now() - silent))
        assert not note_quiet(store)
    os.utime(recorded.path, (store.now() - 25_000, store.now() - 25_000))

    assert note_quiet(store)
    worked(opened)

    assert "invoices in Postgres" in sent_text(model)
    assert not note_quiet(store)


def test_status_says_that_the_days_money_stops_learning(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model, DAYBOOK_DAILY_CALLS="0"))
    recorded.user(DECIDED)
    ended(opened.store(), recorded)
    worked(opened)

    (need,) = needs_of(status(opened.store(), has_key=True))

    assert need.startswith("Learning waits until midnight UTC for 1 session: ")
    assert "'daybook setup --daily-calls NUMBER'" in need
