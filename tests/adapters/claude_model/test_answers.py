"""Every answer that the other side can give, one call each."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mcp_server.adapters.claude_model import MOST_BYTES
from mcp_server.core.budget import CallOutcome, Reply
from mcp_server.core.settings import MODEL
from tests.adapters.claude_model.call import GOOD, KEY, PROMPT, SYSTEM, ask, failure
from tests.scripted_model import Answer, ScriptedModel, error, reply

# Replies


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("[]", "end_turn"),
        ("Here is what I found:\n```json\n[]\n```", "end_turn"),
        ('[{"title": "cut', "max_tokens"),
        ('[{"title": "cut', "end_turn"),
        ('{"another": "schema"}', "end_turn"),
        ("", "end_turn"),
        ("", "refusal"),
    ],
)
def test_whatever_the_model_says_is_a_reply_with_its_cost(text: str, stop: str) -> None:
    with ScriptedModel([reply(text, tokens=(1234, 56), stop_reason=stop)]) as api:
        assert ask(api.url) == Reply(text, 1234, 56, stop)
        assert api.calls == 1


def test_what_is_asked_is_asked_of_the_model_we_know_the_price_of() -> None:
    with ScriptedModel() as api:
        ask(api.url + "/")
        (request,) = api.asked

    assert request.path == "/v1/messages"
    assert request.body["model"] == MODEL
    assert request.body["max_tokens"] == 500
    assert request.body["system"] == SYSTEM
    assert request.prompt == PROMPT
    assert KEY in request.headers.get("authorization", "") + request.headers.get("x-api-key", "")


def test_tokens_that_went_through_a_cache_are_counted() -> None:
    body = reply("x", tokens=(1, 2)).body.replace(
        b'"input_tokens": 1', b'"cache_read_input_tokens": 7, "input_tokens": 1'
    )
    with ScriptedModel([Answer(body=body)]) as api:
        assert ask(api.url).input_tokens == 8


# Answers that are no reply


@pytest.mark.parametrize(
    "body",
    [
        b"",
        GOOD.body[:-9],
        b"<html>Sign in to the hotel's network</html>",
        b"[]",
        b"null",
        b'{"a":' * 50_000,
        b"\xff\xfe",
        GOOD.body.replace(b'"content"', b'"contents"'),
        GOOD.body + b" " * 10 * 1024 * 1024,
    ],
)
def test_an_answer_that_is_no_reply_is_paid_for_and_of_no_use(body: bytes) -> None:
    failed = failure(Answer(body=body))

    assert failed.outcome is CallOutcome.UNUSABLE
    assert failed.charged


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, CallOutcome.BAD_REQUEST),
        (401, CallOutcome.REFUSED_KEY),
        (402, CallOutcome.NO_CREDIT),
        (403, CallOutcome.REFUSED_KEY),
        (404, CallOutcome.NO_MODEL),
        (413, CallOutcome.BAD_REQUEST),
        (429, CallOutcome.RATE_LIMITED),
        (500, CallOutcome.OVERLOADED),
        (503, CallOutcome.OVERLOADED),
        (529, CallOutcome.OVERLOADED),
    ],
)
def test_an_error_is_told_by_its_kind_after_one_call(status: int, expected: CallOutcome) -> None:
    failed = failure(error(status, message=f"You sent: {SYSTEM} {PROMPT} with {KEY}"))

    assert failed.outcome is expected
    assert str(status) in str(failed)
    assert failed.retry_after is None
    assert not failed.charged


def test_a_spending_limit_is_no_rate_limit() -> None:
    assert failure(error(429, message="You reached your spend limit")).outcome is CallOutcome.NO_CREDIT
    assert failure(error(400, message="Your credit balance is too low")).outcome is CallOutcome.NO_CREDIT


@pytest.mark.parametrize(
    ("header", "expected"), [("7", 7), ("0.5", 0.5), ("soon", None), ("-5", None), ("nan", None), ("", None)]
)
def test_the_time_to_wait_is_as_told(header: str, expected: float | None) -> None:
    assert failure(error(429, retry_after=header)).retry_after == expected


def test_the_time_to_wait_may_be_told_as_a_date() -> None:
    then = datetime.now(UTC) + timedelta(hours=1)

    assert failure(error(429, retry_after=format_datetime(then))).retry_after == pytest.approx(3600, abs=10)


def test_a_redirect_is_not_followed() -> None:
    with ScriptedModel() as elsewhere:
        failed = failure(Answer(307, headers={"location": elsewhere.url + "/v1/messages"}))
        assert elsewhere.calls == 0
    assert failed.outcome is CallOutcome.UNUSABLE


def test_an_error_of_10_megabytes_is_not_read_to_its_end() -> None:
    assert failure(Answer(500, b"x" * 5 * MOST_BYTES)).outcome is CallOutcome.OVERLOADED
