"""Every answer that the other side can give, from a real server on loopback, one call each."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mcp_server.adapters.claude_model import MOST_BYTES, ClaudeModel
from mcp_server.core.budget import MODEL, CallFailed, Outcome, Reply
from tests.live import ROOT
from tests.scripted_model import RESET, Answer, ScriptedModel, error, reply

KEY = "sk-ant-a-very-private-key"
SYSTEM = "system-words-that-stay-private"
PROMPT = "prompt-words-that-stay-private"

GOOD = reply("fine")


def ask(url: str, *, deadline: float = 10, key: str = KEY, own_network: bool = True) -> Reply:
    model = ClaudeModel(key, url, consent=True, own_network=own_network, deadline=deadline)
    return model.ask(system=SYSTEM, prompt=PROMPT, most_tokens=500)


def failure(answer: Answer, *, deadline: float = 10) -> CallFailed:
    """Return how one call ended that was answered with *answer*; in one call that gave nothing away."""
    with ScriptedModel([answer]) as api:
        with pytest.raises(CallFailed) as caught:
            ask(api.url, deadline=deadline)
        assert api.calls == 1
    assert_private(caught.value)
    return caught.value


def assert_private(failed: CallFailed) -> None:
    told = repr(failed) + str(failed) + repr(failed.__cause__) + repr(vars(failed))
    assert not any(private in told for private in (KEY, SYSTEM, PROMPT, "very-private"))


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
        (asked,) = api.asked

    assert asked.path == "/v1/messages"
    assert asked.body["model"] == MODEL
    assert asked.body["max_tokens"] == 500
    assert asked.body["system"] == SYSTEM
    assert asked.prompt == PROMPT
    assert KEY in asked.headers.get("authorization", "") + asked.headers.get("x-api-key", "")


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
        GOOD.body.replace(b'"usage"', b'"uses"'),
        GOOD.body.replace(b"1000", b"-1000"),
        GOOD.body.replace(b"1000", b"1e400"),
        GOOD.body.replace(b"1000", b"true"),
        GOOD.body.replace(b'"content"', b'"contents"'),
        GOOD.body + b" " * 10 * 1024 * 1024,
    ],
)
def test_an_answer_that_is_no_reply_is_paid_for_and_of_no_use(body: bytes) -> None:
    failed = failure(Answer(body=body))

    assert failed.outcome is Outcome.UNUSABLE
    assert failed.charged


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, Outcome.BAD_REQUEST),
        (401, Outcome.REFUSED_KEY),
        (402, Outcome.NO_CREDIT),
        (403, Outcome.REFUSED_KEY),
        (404, Outcome.REFUSED_KEY),
        (413, Outcome.BAD_REQUEST),
        (429, Outcome.RATE_LIMITED),
        (500, Outcome.OVERLOADED),
        (503, Outcome.OVERLOADED),
        (529, Outcome.OVERLOADED),
    ],
)
def test_an_error_is_told_by_its_kind_after_one_call(status: int, expected: Outcome) -> None:
    failed = failure(error(status, message=f"You sent: {SYSTEM} {PROMPT} with {KEY}"))

    assert failed.outcome is expected
    assert str(status) in str(failed)
    assert failed.retry_after is None
    assert not failed.charged


def test_a_spending_limit_is_no_rate_limit() -> None:
    assert failure(error(429, message="You reached your spend limit")).outcome is Outcome.NO_CREDIT
    assert failure(error(400, message="Your credit balance is too low")).outcome is Outcome.NO_CREDIT


@pytest.mark.parametrize(
    ("said", "expected"), [("7", 7), ("0.5", 0.5), ("soon", None), ("-5", None), ("nan", None), ("", None)]
)
def test_the_time_to_wait_is_as_told(said: str, expected: float | None) -> None:
    assert failure(error(429, retry_after=said)).retry_after == expected


def test_the_time_to_wait_may_be_told_as_a_date() -> None:
    then = datetime.now(UTC) + timedelta(hours=1)

    assert failure(error(429, retry_after=format_datetime(then))).retry_after == pytest.approx(3600, abs=10)


def test_a_redirect_is_not_followed() -> None:
    with ScriptedModel() as elsewhere:
        failed = failure(Answer(307, headers={"location": elsewhere.url + "/v1/messages"}))
        assert elsewhere.calls == 0
    assert failed.outcome is Outcome.UNUSABLE


def test_an_error_of_10_megabytes_is_not_read_to_its_end() -> None:
    assert failure(Answer(500, b"x" * 5 * MOST_BYTES)).outcome is Outcome.OVERLOADED


# Nobody there


def test_a_connection_that_breaks_off_may_have_cost_something() -> None:
    failed = failure(RESET)

    assert failed.outcome is Outcome.UNREACHABLE
    assert failed.charged


def unreachable(url: str) -> None:
    with pytest.raises(CallFailed) as caught:
        ask(url)
    assert caught.value.outcome is Outcome.UNREACHABLE
    assert not caught.value.charged, "nothing was sent"
    assert_private(caught.value)


def test_a_name_that_does_not_exist_costs_nothing() -> None:
    unreachable("https://nowhere.invalid")


def test_a_server_that_does_not_speak_tls_is_sent_nothing() -> None:
    with ScriptedModel() as api:
        unreachable(api.url.replace("http:", "https:"))
        assert api.calls == 0


def test_a_port_where_nobody_listens_costs_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        unreachable(f"http://127.0.0.1:{free.getsockname()[1]}")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "no address", "http://[", "http://a" + "\u0301" * 90])
def test_an_address_that_is_none_costs_nothing(url: str) -> None:
    unreachable(url)


@pytest.mark.parametrize(
    "slow",
    [
        Answer(drip="head"),
        Answer(drip="body", body=GOOD.body),
        Answer(after=threading.Event()),
    ],
    ids=["head", "body", "silence"],
)
def test_a_byte_at_a_time_does_not_outlast_the_deadline(slow: Answer) -> None:
    began = time.monotonic()
    threads = set(threading.enumerate())
    failed = failure(slow, deadline=0.6)

    assert failed.outcome is Outcome.UNREACHABLE
    assert failed.charged
    assert time.monotonic() - began < 5
    assert not [one for one in threading.enumerate() if one.name == "call-model" and one not in threads]


def test_a_server_that_takes_the_connection_and_is_silent_through_tls_does_not_outlast_the_deadline() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        with pytest.raises(CallFailed) as caught:
            ask(f"https://127.0.0.1:{silent.getsockname()[1]}", deadline=0.6)
    assert time.monotonic() - began < 5
    assert not caught.value.charged


# What goes out, and what does not


def test_half_a_character_is_refused_before_anything_is_sent() -> None:
    with ScriptedModel() as api:
        model = ClaudeModel(KEY, api.url, consent=True)
        with pytest.raises(CallFailed) as caught:
            model.ask(system="", prompt="\ud800", most_tokens=1)
        assert api.calls == 0
    assert caught.value.outcome is Outcome.BAD_REQUEST


def test_without_consent_there_is_no_model() -> None:
    with ScriptedModel() as api:
        with pytest.raises(PermissionError):
            ClaudeModel(KEY, api.url, consent=False)
        assert api.calls == 0


def test_proxies_of_the_environment_are_used_only_when_they_are_the_persons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedModel() as api, ScriptedModel() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        ask(api.url, own_network=False)
        assert (api.calls, proxy.calls) == (1, 0)
        ask(api.url)
        assert (api.calls, proxy.calls) == (1, 1)


@pytest.mark.parametrize(
    "variable",
    [
        {"ANTHROPIC_AUTH_TOKEN": "another-token"},
        {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
        {"ANTHROPIC_CUSTOM_HEADERS": "authorization: Bearer another-token\nx-api-key: another-token"},
    ],
)
def test_the_library_takes_no_key_and_no_endpoint_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    with ScriptedModel() as api:
        ask(api.url)
        (asked,) = api.asked

    assert "another-token" not in str(asked.headers)
    assert KEY in str(asked.headers)


def test_the_identity_changes_with_key_and_endpoint_and_tells_neither() -> None:
    made = [
        ClaudeModel(key, url, consent=True).identity for key in (KEY, "b") for url in ("http://x", "http://y")
    ]

    assert len(set(made)) == 4
    assert "private" not in "".join(made)


def test_the_library_at_its_most_talkative_writes_nothing_down() -> None:
    program = (
        "import sys, logging; logging.basicConfig(level=0)\n"
        "from mcp_server.adapters.claude_model import ClaudeModel\n"
        f"model = ClaudeModel({KEY!r}, sys.argv[1], consent=True)\n"
        f"model.ask(system={SYSTEM!r}, prompt={PROMPT!r}, most_tokens=5)\n"
    )
    with ScriptedModel() as api:
        done = subprocess.run(
            [sys.executable, "-c", program, api.url],
            env={**os.environ, "ANTHROPIC_LOG": "debug", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, api.calls) == (0, 1), done.stderr
    assert "private" not in done.stderr + done.stdout


def test_two_threads_may_ask_at_once() -> None:
    both = threading.Event()
    answers: Callable[[dict[str, object]], Answer] = lambda _: reply("x", after=both)  # noqa: E731
    with ScriptedModel(answers) as api:
        model = ClaudeModel(KEY, api.url, consent=True)
        said: list[Reply] = []
        threads = [
            threading.Thread(target=lambda: said.append(model.ask(system="", prompt="p", most_tokens=9)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        assert api.wait_for_calls(2)
        both.set()
        for thread in threads:
            thread.join(10)
    assert [one.text for one in said] == ["x", "x"]
