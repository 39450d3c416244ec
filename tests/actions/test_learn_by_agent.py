"""Learning by an agent of the session: when it is offered, and when Claude is asked to start it."""

from pathlib import Path

import pytest

from mcp_server.actions.capture.learn_by_agent import PIECES, offer_is_due, request_is_due
from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.context.notice import KeyOffered, next_notice, notice
from tests.actions.work.worked import worked
from tests.conftest import Clock, Open
from tests.hook_process import run_hook
from tests.recorded import Recorded

AGREED = {"DAYBOOK_PLAN_CALLS": "yes"}
NOW = "session-2"


@pytest.fixture
def open_kept(open_here: Open, tmp_path: Path, project: Path) -> Open:
    """Open the store in which a session was kept that nothing was learned from."""
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user("We decided to keep invoices in Postgres because the reports need window functions.")
    recorded.claude("Noted.")
    opened = open_here()
    note_ended(opened.store().in_session(recorded.session), recorded.path, folder=str(project))
    worked(opened)
    return open_here


def test_it_is_offered_once_to_whoever_did_not_decide(open_kept: Open) -> None:
    store = open_kept().store()

    assert not request_is_due(store.in_session(NOW))
    assert offer_is_due(store.in_session(NOW))
    assert not offer_is_due(store.in_session(NOW))


def test_a_session_with_the_offer_to_use_a_key_has_no_other(open_kept: Open) -> None:
    store = open_kept().store()

    assert isinstance(notice(store.in_session("first"), identity="a key"), KeyOffered)
    assert not offer_is_due(store.in_session("first"))
    assert offer_is_due(store.in_session("second"))


def test_the_offer_to_use_a_key_waits_for_a_session_without_another(open_kept: Open) -> None:
    store = open_kept().store()

    assert offer_is_due(store.in_session("first"))
    assert not isinstance(next_notice(store.in_session("first"), identity="a key"), KeyOffered)
    assert isinstance(next_notice(store.in_session("second"), identity="a key"), KeyOffered)


@pytest.mark.parametrize("decided", [AGREED, {"DAYBOOK_PLAN_CALLS": "no"}, {"DAYBOOK_MODEL_CALLS": "yes"}])
def test_it_is_not_offered_to_whoever_decided(open_kept: Open, decided: dict[str, str]) -> None:
    assert not offer_is_due((open_kept(**decided).store()).in_session(NOW))


def test_nothing_is_said_where_nothing_waits_or_may_be_kept(
    open_here: Open, open_kept: Open, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    manual = open_kept(DAYBOOK_CAPTURE="manual").store()

    assert not offer_is_due(manual.in_session(NOW))
    assert not request_is_due(manual.in_session(NOW))
    agreed = open_here(folder=elsewhere, **AGREED).store()
    assert not offer_is_due((open_here(folder=elsewhere).store()).in_session(NOW))
    assert not any(request_is_due(agreed.in_session(NOW)) for _ in range(3))


def test_after_a_yes_claude_is_asked_with_a_sessions_second_prompt_as_long_as_the_days_calls_last(
    open_kept: Open, clock: Clock
) -> None:
    store = open_kept(DAYBOOK_DAILY_PLAN_CALLS=str(2 * PIECES + 1), **AGREED).store()

    asked = [[request_is_due(store.in_session(session)) for _ in range(3)] for session in (NOW, "s-3", "s-4")]
    clock.pass_days(1)

    assert asked == [[False, True, False], [False, True, False], [False, False, False]]
    assert not request_is_due(store.in_session("s-4"))
    assert request_is_due(store.in_session("s-4"))


def test_what_is_asked_needs_a_session_that_can_be_told_apart(open_kept: Open) -> None:
    store = open_kept(**AGREED).store()
    assert not any(request_is_due(store) for _ in range(3))


@pytest.mark.usefixtures("open_kept")
def test_a_hook_that_works_for_the_module_leaves_learning_to_it(memory_dir: Path, project: Path) -> None:
    event_json = {"session_id": NOW, "prompt": "good morning"}
    without_key = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_ENTRYPOINT": "cli"}

    for module, answer in (("marked", b""), ("", b"setup --plan")):
        environment = without_key | {"DAYBOOK_MODULE": module}
        process = run_hook(memory_dir, "UserPromptSubmit", event_json, folder=project, **environment)
        assert answer in process.stdout and bool(answer) is bool(process.stdout)
