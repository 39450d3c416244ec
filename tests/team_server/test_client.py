"""The client of a team's server: whatever the other side does, a call ends, and says in a sentence why."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from mcp_server.adapters.team_client import TeamClient, checked_url
from mcp_server.core.errors import DaybookError, Rejected, StorageUnavailable, TokenUnknown
from mcp_server.core.search.query import Query
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.wire import MOST_REQUEST
from tests.patience import PATIENCE
from tests.scripted_model import RESET, Answer, ScriptedModel
from tests.team_server.test_roles import memory

TOKEN = "the-token-of-anna"
QUESTION = Query("quagga")


def result(value: object, *, is_error: bool = False) -> Any:
    """Return what makes a server answer *value* to every call."""

    def answer(request: dict[str, Any]) -> Answer:
        tool_result = {"content": [], "structuredContent": value, "isError": is_error}
        return Answer(
            body=json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": tool_result}).encode()
        )

    return answer


FOUND = result({"results": [], "semantic": False})


def failure(answers: Any, **more: Any) -> DaybookError:
    """Return the error of a search of a server that gives *answers*."""
    with ScriptedModel(answers) as server, pytest.raises(DaybookError) as failed:
        TeamClient(server.url, TOKEN, **more).search(QUESTION)
    assert "quagga" not in str(failed.value)
    assert TOKEN not in f"{failed.value}{failed.value.hint}"
    return failed.value


def test_a_call_is_one_request_with_the_token() -> None:
    with ScriptedModel(FOUND) as server:
        TeamClient(f"{server.url}/mcp/", TOKEN).search(QUESTION)
    (request,) = server.asked
    assert request.path == "/mcp"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["mcp-name"] == "recall"
    assert request.body["params"]["arguments"]["text"] == "quagga"


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        (Answer(401), TokenUnknown, "does not know this token (HTTP 401)."),
        (Answer(413), Rejected, "does not take that much at once"),
        (Answer(429, headers={"retry-after": "7"}), StorageUnavailable, "was asked too often (HTTP 429)."),
        (Answer(302, headers={"location": "https://evil.example"}), StorageUnavailable, "does not follow"),
        (Answer(404), StorageUnavailable, "is not a Daybook team server (HTTP 404)."),
        (Answer(500, b"<html>quagga"), StorageUnavailable, "answered with HTTP 500."),
        (Answer(200, b"<html>quagga"), StorageUnavailable, "gave an answer that is none of a team's server."),
        (Answer(200, b"[" * 100_000), StorageUnavailable, "gave an answer that is none of a team's server."),
        (Answer(503, b"{"), StorageUnavailable, "answered with HTTP 503."),
        (
            Answer(503, b'{"kind": "StorageUnavailable", "sentence": "No database.", "hint": ""}'),
            StorageUnavailable,
            "says: No database.",
        ),
        (RESET, StorageUnavailable, "did not answer"),
    ],
)
def test_every_other_answer_is_told_in_a_sentence(
    answer: Answer, kind: type[DaybookError], sentence: str
) -> None:
    failed = failure([answer])
    assert type(failed) is kind
    assert sentence in str(failed)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"results": 5, "semantic": False},
        {"results": [{"stored": {}}], "semantic": True},
        {"semantic": True},
    ],
)
def test_an_answer_that_cannot_be_used_is_told(value: object) -> None:
    assert "gave an answer that cannot be used" in str(failure(result(value)))
    assert "gave an answer that cannot be used" in str(failure(result(value, is_error=True)))


def test_an_answer_to_another_question_is_none() -> None:
    other = Answer(body=json.dumps({"jsonrpc": "2.0", "id": 99, "result": {"isError": False}}).encode())
    assert "none of a team's server" in str(failure([other]))


def test_an_endless_answer_ends_at_the_deadline() -> None:
    drip = Answer(body=b"{" + b" " * 100, drip="body")
    assert "did not answer within 0.2 seconds." in str(failure([drip], deadline=0.2))


@pytest.mark.parametrize("loads", [True, False])
def test_what_only_a_newer_daybook_knows_of_a_memory_stays_when_it_is_changed(loads: bool) -> None:
    """Another process sends what waited for the server: it has not loaded what is replaced."""
    value = {**value_of(memory()), "moods": ["calm"]}
    with ScriptedModel(result({"memory": value, "digest": "d1", "author": "anna"})) as server:
        client = TeamClient(server.url, TOKEN)
        current = client.load(memory().id).memory if loads else memory()
        client.save(replace(current, text="Quaggas are striped."), replaces="d1")

    tools = [request.headers["mcp-name"] for request in server.asked]
    sent = server.asked[-1].body["params"]["arguments"]
    assert tools == ["read", "remember"]
    assert (sent["moods"], sent["text"], sent["replaces"]) == (["calm"], "Quaggas are striped.", "d1")


def test_a_history_without_an_end_is_refused() -> None:
    change = {"kind": "revised", "at": "2026-11-20T09:12:03Z", "author": "anna", "before": None}

    def goes_on(asked: dict[str, Any]) -> Answer:
        more = asked["params"]["arguments"]["skip"] < 40_000  # else this test would not end without the limit
        return result({"changes": [change] * 1000, "more": more})(asked)

    with ScriptedModel(goes_on) as server, pytest.raises(StorageUnavailable, match="changes of one memory"):
        TeamClient(server.url, TOKEN).history("quagga-xxxx")


def test_pages_that_do_not_go_on_are_refused() -> None:
    stored = {"memory": json.loads(json.dumps(_value())), "digest": "d"}
    same = result({"memories": [stored], "more": True})
    with ScriptedModel(same) as server, pytest.raises(StorageUnavailable, match="do not go on"):
        TeamClient(server.url, TOKEN).page()
    assert server.calls == 2


def _value() -> dict[str, str]:
    moment = "2026-11-20T09:12:03Z"
    return {"id": "webhook", "title": "W", "text": "T", "created": moment, "updated": moment}


def test_a_search_waits_as_long_as_it_may_and_the_next_is_refused_at_once() -> None:
    may_answer = threading.Event()
    with ScriptedModel([Answer(after=may_answer)]) as server:
        client = TeamClient(server.url, TOKEN)
        with pytest.raises(StorageUnavailable, match=r"did not answer within 0.05 seconds"):
            client.search(QUESTION, patience=0.05)
        assert server.wait_for_calls(1)
        with pytest.raises(StorageUnavailable, match="has not answered the last question yet"):
            client.search(QUESTION, patience=PATIENCE)
        may_answer.set()
    assert server.calls == 1


def test_a_server_that_failed_is_left_alone_by_searches_and_asked_by_what_is_deliberate() -> None:
    with ScriptedModel([Answer(500), Answer(500)]) as server:
        client = TeamClient(server.url, TOKEN)
        for _ in range(3):
            with pytest.raises(StorageUnavailable, match="HTTP 500"):
                client.search(QUESTION, patience=PATIENCE)
        assert server.calls == 1
        assert "HTTP 500" in client.problem
        with pytest.raises(StorageUnavailable):
            client.page()
        assert server.calls == 2
        server.answers = FOUND
        client.search(QUESTION)
        assert client.problem == ""
        client.search(QUESTION, patience=PATIENCE)
        assert server.calls == 4


def test_what_is_too_much_is_refused_before_it_is_sent() -> None:
    with ScriptedModel(FOUND) as server:
        whole = replace(memory(), notes=("a" * 1000,) * (MOST_REQUEST // 1000))
        with pytest.raises(Rejected, match="1,048,576 is the most"):
            TeamClient(server.url, TOKEN).save(whole)
    assert server.calls == 0


@pytest.mark.parametrize(
    "url",
    ["", "team", "ftp://team.example.org", "https://", "https://anna:pw@team.example.org", "https://[",
     "https://team.example.org/?token=a", "https://team.example.org:0x1", "http://team.example.org",
     "http://127.0.0.1.evil.example"],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(Rejected):
        TeamClient(url, TOKEN)


@pytest.mark.parametrize("token", ["", " ", "a b", "a\nb", "é", "a" * 201])
def test_a_token_that_cannot_be_one_is_refused(token: str) -> None:
    with pytest.raises(Rejected, match="not a team's token"):
        TeamClient("https://team.example.org", token)


def test_an_address_is_the_same_however_it_is_written() -> None:
    url = "https://team.example.org/quaggas"
    assert {checked_url(written) for written in (url, f"{url}/", f"{url}/mcp", f" {url}/mcp/ ")} == {url}
