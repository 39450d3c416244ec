"""Nobody there, or too slow; and what goes out, and what does not."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from mcp_server.adapters.claude_model import ClaudeModel
from mcp_server.core.budget import CallFailed, CallOutcome, Reply
from tests.adapters.claude_model.call import GOOD, KEY, PROMPT, SYSTEM, ask, assert_private, failure
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.scripted_model import RESET, Answer, ScriptedModel, reply

# Nobody there


def test_a_connection_that_breaks_off_may_have_cost_something() -> None:
    failed = failure(RESET)

    assert failed.outcome is CallOutcome.UNREACHABLE
    assert failed.charged


def unreachable(url: str) -> None:
    with pytest.raises(CallFailed) as caught:
        ask(url)
    assert caught.value.outcome is CallOutcome.UNREACHABLE
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
    threads = set(threading.enumerate())
    failed = failure(slow, deadline=0.6)

    assert failed.outcome is CallOutcome.UNREACHABLE
    assert failed.charged
    assert not [
        thread for thread in threading.enumerate() if thread.name == "call-model" and thread not in threads
    ]


def test_a_server_that_takes_the_connection_and_is_silent_through_tls_does_not_outlast_the_deadline() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(CallFailed) as caught:
            ask(f"https://127.0.0.1:{silent.getsockname()[1]}", deadline=0.6)
    assert not caught.value.charged


# What goes out, and what does not


def test_half_a_character_is_refused_before_anything_is_sent() -> None:
    with ScriptedModel() as api:
        model = ClaudeModel(KEY, api.url, consent=True)
        with pytest.raises(CallFailed) as caught:
            model.ask(system="", prompt="\ud800", most_tokens=1)
        assert api.calls == 0
    assert caught.value.outcome is CallOutcome.BAD_REQUEST


def test_without_consent_there_is_no_model() -> None:
    with ScriptedModel() as api:
        with pytest.raises(PermissionError):
            ClaudeModel(KEY, api.url, consent=False)
        assert api.calls == 0


def test_proxies_of_the_environment_are_used_only_when_they_are_the_persons_and_not_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = "http://models.invalid"
    with ScriptedModel() as api, ScriptedModel() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(CallFailed):
            ask(elsewhere, own_network=False)
        ask(api.url)
        assert (api.calls, proxy.calls) == (1, 0)
        ask(elsewhere)
        assert (api.calls, proxy.calls) == (1, 1)
        assert proxy.asked[0].path == f"{elsewhere}/v1/messages"


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
        (request,) = api.asked

    assert "another-token" not in str(request.headers)
    assert KEY in str(request.headers)


def test_the_identity_changes_with_key_and_endpoint_and_tells_neither() -> None:
    identities = [
        ClaudeModel(key, url, consent=True).identity for key in (KEY, "b") for url in ("http://x", "http://y")
    ]

    assert len(set(identities)) == 4
    assert "private" not in "".join(identities)


def test_the_library_at_its_most_talkative_writes_nothing_down() -> None:
    program = (
        "import sys, logging; logging.basicConfig(level=0)\n"
        "from mcp_server.adapters.claude_model import ClaudeModel\n"
        f"model = ClaudeModel({KEY!r}, sys.argv[1], consent=True)\n"
        f"model.ask(system={SYSTEM!r}, prompt={PROMPT!r}, most_tokens=5)\n"
    )
    with ScriptedModel() as api:
        process = subprocess.run(
            [sys.executable, "-c", program, api.url],
            env={**os.environ, "ANTHROPIC_LOG": "debug", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert (process.returncode, api.calls) == (0, 1), process.stderr
    assert "private" not in process.stderr + process.stdout


def test_two_threads_may_ask_at_once() -> None:
    may_answer = threading.Event()
    answers: Callable[[dict[str, object]], Answer] = lambda _: reply("x", after=may_answer)  # noqa: E731
    with ScriptedModel(answers) as api:
        model = ClaudeModel(KEY, api.url, consent=True)
        replies: list[Reply] = []
        threads = [
            threading.Thread(target=lambda: replies.append(model.ask(system="", prompt="p", most_tokens=9)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        assert api.wait_for_calls(2)
        may_answer.set()
        for thread in threads:
            thread.join()
    assert [answer.text for answer in replies] == ["x", "x"]
