"""After a call that failed: who mends it, who waits, and what is given up."""

from datetime import timedelta

import pytest

from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.model.model_call import resume, spending
from mcp_server.bootstrap import Opened, model_identity
from mcp_server.core.budget import MOST_TRIES
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.store import Store
from tests.actions.model_call.asking import KEY, PROMPT, ask, refused
from tests.conftest import Clock, Open
from tests.scripted_model import RESET, Answer, ScriptedModel, error, reply


@pytest.mark.parametrize(
    "answer",
    [
        error(401),
        error(403),
        error(402),
        error(429, message="You have reached your spend limit"),
        error(400, message="Your credit balance is too low"),
    ],
    ids=["401", "403", "402", "429 spend limit", "400 credit"],
)
def test_what_the_person_must_mend_is_asked_once_until_the_settings_change(
    open_asking: Open, api: ScriptedModel, clock: Clock, answer: Answer
) -> None:
    api.answers = [answer, reply()]
    store = open_asking().store()
    refusal = refused(store, later=True, match="HTTP")
    assert "daybook setup" in refusal.hint
    clock.pass_days(100)
    for item in ("chunk-1", "chunk-2"):
        refused(open_asking().store(), item, later=True, match="until the settings change")
    assert api.calls == 1
    paused = spending(store)
    assert "HTTP" in paused.paused_reason
    assert paused.paused_until is None

    other = open_asking(ANTHROPIC_API_KEY="another-key").store()
    assert spending(other).paused_reason == ""
    ask(other)
    refused(store, "chunk-3", later=True, match="until the settings change")
    assert api.calls == 2


def test_a_spending_limit_ends_at_the_time_that_was_told(
    asking: Store, api: ScriptedModel, clock: Clock
) -> None:
    api.answers = [error(429, message="You reached your spend limit", retry_after="7200"), reply()]
    refused(asking, later=True, match="limit")
    clock.now += timedelta(seconds=7199)
    refused(asking, later=True, match="2026-11-20T11:12:03Z")
    clock.now += timedelta(seconds=1)
    ask(asking)
    assert api.calls == 2


def test_the_person_can_say_that_a_bill_is_paid(asking: Store, api: ScriptedModel) -> None:
    api.answers = [error(402), reply()]
    refused(asking, later=True, match="credit")
    refused(asking, later=True, match="paused until the settings change")

    resume(asking)
    ask(asking)
    assert spending(asking).paused_reason == ""


def problem(opened: Opened) -> str:
    """Return what the person is told when a session starts."""
    catch_up(opened.store())
    return sentence(notice(opened.store(), identity=model_identity(opened.environment)))


def test_a_person_whose_key_works_is_told_nothing_at_the_start(open_asking: Open, api: ScriptedModel) -> None:
    opened = open_asking()
    api.answers = [reply()]
    resume(opened.store())  # what 'daybook setup' does
    assert problem(opened) == ""

    ask(opened.store())

    assert problem(opened) == ""
    assert spending(opened.store()).paused_reason == ""


def test_a_refused_key_is_told_at_the_start_until_there_is_another_or_it_is_mended(
    open_asking: Open, api: ScriptedModel
) -> None:
    opened = open_asking()
    api.answers = [error(401), reply()]
    refused(opened.store(), later=True, match="HTTP")
    assert "refuses the key, the account or the model" in problem(opened)

    assert problem(open_asking(ANTHROPIC_API_KEY="sk-another")) == ""
    assert "refuses the key, the account or the model" in problem(opened)
    resume(opened.store())
    assert problem(opened) == ""


@pytest.mark.parametrize("status", [400, 413])
def test_what_cannot_be_taken_is_given_up_and_the_next_item_is_asked(
    asking: Store, api: ScriptedModel, status: int
) -> None:
    api.answers = [error(status), reply()]
    refused(asking, "bad", later=False, match=str(status))
    refused(asking, "bad", later=False, match="refused this text before")
    ask(asking, "good")
    assert api.calls == 2
    assert spending(asking).given_up == 1


def test_a_rate_limit_is_waited_out_by_everybody(asking: Store, api: ScriptedModel, clock: Clock) -> None:
    api.answers = [error(429, retry_after="300"), reply()]
    refused(asking, later=True, match="too often")
    now = spending(asking)
    assert now.paused_until is not None
    assert now.paused_until - clock.now >= timedelta(seconds=300)
    clock.now += timedelta(seconds=299)
    refused(asking, "chunk-2", later=True, match="paused until 2026-11-20T09:1")
    assert api.calls == 1

    clock.now = now.paused_until
    ask(asking, "chunk-2")
    assert api.calls == 2


def test_a_pause_of_a_clock_that_was_ahead_is_over_when_it_is_put_right(
    asking: Store, api: ScriptedModel, clock: Clock
) -> None:
    api.answers = [error(429), reply()]
    clock.pass_days(1000)
    refused(asking, later=True, match="too often")
    clock.pass_days(-1000)

    ask(asking, "chunk-2")

    assert spending(asking).paused_reason == ""


@pytest.mark.parametrize(
    "answer",
    [error(429), error(500), error(529), RESET, Answer(body=b"{"), Answer(body=b" " * 10 * 1024 * 1024)],
    ids=["429", "500", "529", "reset", "cut", "10 MB"],
)
def test_an_item_is_asked_four_times_in_its_life_with_longer_and_longer_pauses(
    open_asking: Open, api: ScriptedModel, clock: Clock, answer: Answer
) -> None:
    api.answers = [answer]
    pauses = []
    for number in range(1, MOST_TRIES + 1):
        store = open_asking().store()
        refused(store, later=number < MOST_TRIES, match=".")
        until = spending(store).paused_until
        assert until is not None
        pauses.append((until - clock.now).total_seconds())
        refused(store, "other", later=True, match="paused until")
        clock.now = until

    for pause, least in zip(pauses, (30, 120, 600, 600), strict=True):
        assert least <= pause <= least * 1.5 + 1
    refused(open_asking().store(), later=False, match="4 times")
    assert api.calls == MOST_TRIES
    assert spending(store).given_up == 1


@pytest.mark.parametrize("url", ["https://nowhere.invalid", "http://127.0.0.1:9", "tls"])
def test_what_never_left_the_machine_costs_nothing_but_a_try(
    open_asking: Open, api: ScriptedModel, url: str
) -> None:
    url = api.url.replace("http", "https") if url == "tls" else url
    store = open_asking(ANTHROPIC_BASE_URL=url).store()
    refused(store, later=True, match="could not be reached")

    assert spending(store).today_usd == 0
    assert spending(store).today_calls == 1
    assert spending(store).paused_until is not None
    assert api.calls == 0


def test_neither_the_key_nor_the_prompt_is_written_down(asking: Store, api: ScriptedModel) -> None:
    api.answers = [error(401, message=f"invalid {KEY}: {PROMPT}")]
    refused(asking, later=True, match="refused the key")
    asking.database.close()

    bytes_written = b"".join(path.read_bytes() for path in asking.home.rglob("*") if path.is_file())
    assert b"paused" in bytes_written
    assert KEY.encode() not in bytes_written
    assert PROMPT.encode() not in bytes_written
