"""What Ollama, LiteLLM and other endpoints of this kind answer, and what goes out to them."""

import json
import threading
from typing import Any

import pytest

from mcp_server.adapters.claude_model import DEADLINE, PATIENCE_HERE, ClaudeModel
from mcp_server.core.addresses import is_loopback
from mcp_server.core.budget import CallOutcome, tokens_of
from tests.adapters.claude_model.call import KEY, PROMPT, SYSTEM, ask, failure
from tests.scripted_model import Answer, ScriptedModel, reply

ASKED = tokens_of(len(SYSTEM) + len(PROMPT))
TEXT = "x" * 100


def answer_with(**changed: Any) -> Answer:
    """Return a reply of TEXT with some of its keys *changed*; None takes one away."""
    fields = {**json.loads(reply(TEXT).body), **changed}
    return Answer(
        body=json.dumps({key: value for key, value in fields.items() if value is not None}).encode()
    )


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, (ASKED, 40)),
        ({}, (ASKED, 40)),
        ("many", (ASKED, 40)),
        ([1], (ASKED, 40)),
        ({"input_tokens": 7}, (7, 40)),
        ({"output_tokens": 9}, (ASKED, 9)),
        ({"input_tokens": 0, "output_tokens": 0}, (ASKED, 40)),
        ({"input_tokens": -5, "output_tokens": 1e40}, (ASKED, 40)),
        ({"input_tokens": True, "output_tokens": "9"}, (ASKED, 40)),
        ({"input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": None}, (7, 9)),
        ({"input_tokens": 10**8, "output_tokens": 9}, (ASKED, 9)),
    ],
)
def test_tokens_that_nobody_counted_are_taken_from_the_characters(
    usage: object, counted: tuple[int, int]
) -> None:
    with ScriptedModel([answer_with(usage=usage)]) as api:
        answer = ask(api.url)

    assert answer.text == TEXT
    assert (answer.input_tokens, answer.output_tokens) == counted


def test_what_a_model_thinks_aloud_is_no_part_of_its_reply() -> None:
    content = [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "[]"}]
    with ScriptedModel([answer_with(content=content, stop_reason=None)]) as api:
        answer = ask(api.url)

    assert (answer.text, answer.stop_reason) == ("[]", "")


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, b"404 page not found", CallOutcome.NO_MODEL),
        (404, b'{"error":"model \'x\' not found"}', CallOutcome.NO_MODEL),
        (400, b'{"detail":{"error":"Invalid model name passed in model=x"}}', CallOutcome.NO_MODEL),
        (
            400,
            b'{"error":{"message":{"error":"Invalid model name passed in model=x"},"code":"400"}}',
            CallOutcome.NO_MODEL,
        ),
        (
            401,
            b'{"error":{"message":"Authentication Error, No api key passed in.","code":"401"}}',
            CallOutcome.REFUSED_KEY,
        ),
        (500, b"Internal Server Error", CallOutcome.OVERLOADED),
        (500, b'{"error":"llama runner process has terminated"}', CallOutcome.OVERLOADED),
        (
            400,
            b'{"error":{"message":"ContextWindowExceededError: too long","type":null}}',
            CallOutcome.BAD_REQUEST,
        ),
        (429, b'{"error":{"message":"Budget has been exceeded! Max budget: 1.0"}}', CallOutcome.RATE_LIMITED),
        (503, b"\xff\xfe", CallOutcome.OVERLOADED),
    ],
)
def test_errors_are_told_apart_in_whichever_shape_they_come(
    status: int, body: bytes, expected: CallOutcome
) -> None:
    failed = failure(Answer(status, body))

    assert failed.outcome is expected
    assert not failed.charged
    assert f"(HTTP {status})" in str(failed)


def test_the_model_that_is_asked_is_the_one_that_was_named() -> None:
    with ScriptedModel() as api:
        ClaudeModel("k", api.url, "qwen3:4b", consent=True).ask(system="", prompt="p", most_tokens=5)

    assert api.asked[0].body["model"] == "qwen3:4b"


def test_a_gateway_gets_the_key_in_both_headers_and_without_a_key_in_none() -> None:
    with ScriptedModel() as api:
        ask(api.url)
        ask(api.url, key="")
        with_key, without = (request.headers for request in api.asked)

    assert with_key["x-api-key"] == KEY
    assert with_key["authorization"] == f"Bearer {KEY}"
    assert {"x-api-key", "authorization"}.isdisjoint(without)


def test_the_first_token_of_a_model_on_this_machine_may_be_slow() -> None:
    first_token = threading.Event()
    texts: list[str] = []
    with ScriptedModel([reply("late", after=first_token)]) as api:
        model = ClaudeModel("", api.url, "qwen3", consent=True)
        asker = threading.Thread(
            target=lambda: texts.append(model.ask(system="", prompt="p", most_tokens=5).text)
        )
        asker.start()
        assert api.wait_for_calls(1, 60)
        assert texts == []
        first_token.set()
        asker.join(60)

    assert texts == ["late"]
    assert PATIENCE_HERE == 10 * DEADLINE


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:4000/v1", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:11434", True),
        ("https://LOCALHOST/", True),
        ("http://0.0.0.0:4000", False),
        ("http://192.168.1.7:11434", False),
        ("http://localhost.example.com", False),
        ("http://localhost@example.com", False),
        ("http://[::1", False),
        ("localhost:11434", False),
        ("", False),
    ],
)
def test_only_an_address_of_this_machine_counts_as_one(url: str, is_here: bool) -> None:
    assert is_loopback(url) is is_here
