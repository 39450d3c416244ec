"""6.9: whatever comes on stdin, the server lives, writes nothing but JSON, and answers the next ping."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.durability.served import HELLO, Served
from tests.patience import PATIENCE

GENERATED = 500


def call(tool: object, arguments: object, **more: object) -> dict[str, Any]:
    """Return a request that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params, **more}


def request(method: object, **more: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, **more}


def cancel(number: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%b","arguments":{%b}}}'
CASES: dict[str, object] = {
    # Not what a line is
    "garbage": b"garbage",
    "empty line": b"",
    "blanks": b"   \t ",
    "truncated": b'{"jsonrpc": "2.0", "id": 1, "method": "pi',
    "two objects on a line": b'{"jsonrpc":"2.0","id":1,"method":"ping"}' * 2,
    "invalid UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}',
    "invalid UTF-8 in an argument": CALL % (b"recall", b'"query": "\xc3("'),
    "only a NUL": b"\0",
    "a NUL inside": b'{"jsonrpc": "2.0",\0 "id": 1, "method": "ping"}',
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "UTF-16": '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    "CRLF": b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r',
    "a bare CR": b'\r{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "a megabyte of nothing": b"x" * (1 << 20),
    "a megabyte of blanks": b" " * (1 << 20),
    "a megabyte of brackets": b"[" * (1 << 20),
    "nested objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "HTTP": b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    # Not what a message is
    "null": b"null",
    "a number": b"42",
    "a text": b'"ping"',
    "an empty list": [],
    "a batch": [request("ping"), request("tools/list")],
    "an empty object": {},
    "NaN": b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    "infinity": b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}',
    "another version": request("ping", jsonrpc="1.0"),
    "no version": {"id": 1, "method": "ping"},
    "no method": {"jsonrpc": "2.0", "id": 1},
    "a method that is a number": request(42),
    "a method that is a list": request(["ping"]),
    "a method that is nothing": request(None),
    "an unknown method": request("frobnicate"),
    "a method of a megabyte": request("m" * (1 << 20)),
    "id null": request("ping", id=None),
    "id a float": request("ping", id=1.5),
    "id huge": request("ping", id=10**400),
    "id an object": request("ping", id={"a": 1}),
    "id of half a character": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "a response to nothing": {"jsonrpc": "2.0", "id": 99, "result": {}},
    "an error to nothing": {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}},
    "an unknown notification": {"jsonrpc": "2.0", "method": "notifications/frobnicated"},
    "cancelling what is unknown": cancel(4242),
    "cancelling wrongly": cancel([]),
    "greeting twice": request("initialize", params=HELLO),
    "greeting wrongly": request("initialize", params={"protocolVersion": 7}),
    "params a list": request("tools/call", params=["recall"]),
    "params a text": request("tools/call", params="recall"),
    "no params": request("tools/call"),
    # Not what a tool takes
    "an unknown tool": call("frobnicate", {}),
    "a tool that is a number": call(42, {}),
    "a tool that is nothing": call(None, {}),
    "a tool of a private name": call("__class__", {}),
    "arguments nothing": call("recall", None),
    "arguments a list": call("recall", ["webhook"]),
    "arguments a text": call("recall", "webhook"),
    "no argument": call("recall", {}),
    "an unknown argument": call("recall", {"query": "x", "frobnicate": True}),
    "a query that is a number": call("recall", {"query": 42}),
    "a query that is a list": call("recall", {"query": ["a", {"b": None}]}),
    "a query that is nothing": call("recall", {"query": None}),
    "a query of half a character": CALL % (b"recall", b'"query": "a \\ud800", "tags": ["\\udfff"]'),
    "a query with NULs": call("recall", {"query": "a\0b\0"}),
    "a query of a megabyte": call("recall", {"query": "webhook " * 131_072}),
    "a query of search syntax": call("recall", {"query": 'NEAR( AND OR NOT * ^ col:x "unbalanced'}),
    "a limit that is a word": call("recall", {"query": "x", "limit": "many"}),
    "a negative limit": call("recall", {"query": "x", "limit": -1}),
    "a huge limit": call("recall", {"query": "x", "limit": 10**30}),
    "a huge offset": call("list_memories", {"offset": 10**30}),
    "an unknown mode": call("recall", {"query": "x", "mode": "telepathic"}),
    "an unknown level": call("remember", {"title": "a", "content": "b", "level": "galaxy"}),
    "a date that is none": call("recall", {"query": "x", "since": "yesterday-ish"}),
    "ten megabytes of content": call("remember", {"title": "big", "content": "x" * (10 << 20)}),
    "ten megabytes of title": call("remember", {"title": "x" * (10 << 20), "content": "small"}),
    "content of half a character": CALL % (b"remember", b'"title": "a \\ud800", "content": "b \\udc00"'),
    "ten thousand tags": call("remember", {"title": "a", "content": "b", "tags": ["t"] * 10_000}),
    "an id out of the store": call("read_memory", {"id": "../../../etc/passwd"}),
    "an id of half a character": CALL % (b"forget", b'"id": "\\ud800"'),
    "messages that are none": call("save_conversation", {"title": "t", "messages": [1, None, {"role": []}]}),
    "a deep argument": call("save_session", {"title": "t", "context": "c", "variables": {"a": [[[[[]]]]]}}),
    "a hook of nothing": call("hook", {"event": None}),
    "a hook of another kind": call("hook", {"event": "Frobnicate", "session_id": "s", "prompt": "p"}),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("fuzzed")
    (place / "shop").mkdir()
    with Served(place / "memory", place / "shop", HOME=str(place)) as served:
        served.greet()
        yield served


def lives(server: Served) -> None:
    assert server.ask("ping")["result"] == {}
    assert server.noise == []
    assert server.process.poll() is None


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 65


@pytest.mark.parametrize("case", CASES)
def test_the_server_lives_and_answers_after(server: Served, case: str) -> None:
    server.send(CASES[case])

    lives(server)


def is_a_request(message: object) -> bool:
    """Tell whether *said* asks for an answer, in whatever form."""
    return isinstance(message, dict) and message.get("id") == 7


@pytest.mark.parametrize("case", [name for name, message in CASES.items() if is_a_request(message)])
def test_a_request_is_answered_once_and_in_words(server: Served, case: str) -> None:
    message = CASES[case]
    assert isinstance(message, dict)
    server.send({**message, "id": case})
    server.send({"jsonrpc": "2.0", "id": f"after {case}", "method": "ping"})

    answers: dict[object, list[dict[str, Any]]] = {}
    end = time.monotonic() + PATIENCE
    while case not in answers or f"after {case}" not in answers:
        answer = server.next_line(end)
        assert answer, f"no answer to {case}"
        answers.setdefault(answer.get("id"), []).append(answer)

    (answer,) = answers[case]
    assert ("result" in answer) != ("error" in answer)
    assert "Traceback" not in json.dumps(answer)


@pytest.mark.parametrize("half", [r"\ud83d", r"\uDE00", r"\\\ud83d", r"\ud83d\ud83d\ude00"])
def test_a_request_with_half_a_character_is_answered(server: Served, half: str) -> None:
    server.send(CALL.replace(b'"id":1', b'"id":"half"') % (b"recall", f'"query": "herons {half}"'.encode()))

    answer = server.next_line(time.monotonic() + PATIENCE)

    assert answer
    assert (answer["id"], answer["result"].get("isError", False)) == ("half", False)


def test_five_hundred_generated_lines_do_not_harm_it(server: Served) -> None:
    rng = random.Random(20261120)
    seeds = [
        message if isinstance(message, bytes) else json.dumps(message).encode() for message in CASES.values()
    ]
    seeds = [seed for seed in seeds if len(seed) < 4096]
    for number in range(GENERATED):
        line = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(line) + 1)
            match rng.randrange(4):
                case 0:
                    line[at : at + 1] = rng.randbytes(rng.randrange(1, 4))
                case 1:
                    del line[at : at + rng.randrange(1, 20)]
                case 2:
                    line[at:at] = line[: rng.randrange(40)]
                case _:
                    line[at:at] = rng.choice((b"{", b"}", b"[", b'"', b"\\u0000", b"null", b"1e9", b"\0"))
        server.send(bytes(line).replace(b"\n", b" "))
        if number % 10 == 9:
            lives(server)
    lives(server)


def test_what_was_said_before_the_greeting_does_not_prevent_it(tmp_path: Path) -> None:
    with Served(tmp_path / "memory", tmp_path) as server:
        server.send(call("recall", {"query": "x"}))
        server.send(request("tools/list"))
        server.send(b"garbage")
        server.greet()

        assert "remembered" in server.call("remember", title="a", content="b")
        assert server.noise == []
